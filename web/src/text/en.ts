// en.ts - every string of the page, in one place so that they can be translated: `import * as t`. Each room
// has its own file, which is loaded with the room.
export * from './en/cost';
export * from './en/documents';
export * from './en/explore';
export * from './en/frame';
export * from './en/guide';
export * from './en/models';
export * from './en/steps';
export * from './en/teach';
export * from './en/train';
