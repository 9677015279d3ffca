// en.ts - every string of the page, in one table, so that it can be translated. Rooms keep theirs
// beside each other here, by room.
import type { Provenance } from '../ui/badge';

const percent = (x: number) => `${(100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0)} %`;

export const en = {
    title: 'Attention Lab',
    rooms: 'Rooms',
    skip: 'Skip to the room',
    percent,
    room: {
        steps: { name: 'Steps' },
        explore: { name: 'Explore' },
        train: { name: 'Train' },
        models: { name: 'Models' },
        cost: { name: 'Cost' },
    },
    toolbar: {
        undo: 'Undo',
        redo: 'Redo',
        theme: 'Theme',
        themes: { auto: 'as the system', light: 'light', dark: 'dark' },
        share: 'Share',
        shared: 'Link copied',
        present: 'Present',
        keys: 'Keys',
    },
    export: { title: 'Export', picture: 'Picture', command: 'Copy as command', copied: 'Copied' },
    provenance(from: Provenance): string {
        switch (from.kind) {
            case 'document':
                return `document ${from.name}`;
            case 'hand':
                return 'set by hand';
            case 'random':
                return `random, seed ${from.seed}: arithmetic, not meaning`;
            case 'trained':
                return `trained here: ${from.task}, step ${from.step}, seed ${from.seed}`;
            case 'bundled':
                return `trained by: ${from.command}`;
            case 'file':
                return `file ${from.name} (${from.hash})`;
            case 'formula':
                return 'computed from the formula';
        }
    },
};
