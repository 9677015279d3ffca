// en.ts - every string of the page, in one table, so that it can be translated: `import * as t`. Each room
// has a file of its own, which arrives with the room.
export * from './en/cost';
export * from './en/explore';
export * from './en/frame';
export * from './en/guide';
export * from './en/models';
export * from './en/steps';
export * from './en/teach';
export * from './en/train';
