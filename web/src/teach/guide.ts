// guide.ts - the parts that the page does not start with, in one file that is loaded when the page is idle or when needed.
export { Help } from './help';
export { Slides } from './slides';
export { Tour } from './tour';
