// guide.ts - what the page does not begin with, as one file that comes when it is idle or wanted.
export { Help } from './help';
export { Slides } from './slides';
export { Tour } from './tour';
