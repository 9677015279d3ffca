// frame.ts - strings of the frame around the rooms, and those that several rooms share.
import type { Provenance } from '../../ui/badge';

export const percent = (x: number) => `${(100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0)} %`;

export const title = 'Attention Lab';
export const rooms = 'Rooms';
export const skip = 'Skip to the room';

export const room = {
    steps: { name: 'Steps' },
    explore: { name: 'Explore' },
    train: { name: 'Train' },
    models: { name: 'Models' },
    cost: { name: 'Cost' },
};

export const toolbar = {
    undo: 'Undo',
    redo: 'Redo',
    theme: 'Theme',
    themes: { auto: 'system', light: 'light', dark: 'dark' },
    share: 'Share',
    shared: 'Link copied',
    present: 'Present',
};

/** Shown in place of a part of the page that has not loaded yet. */
export const later = { coming: 'Loading …', here: '', lost: 'This part of the page could not be loaded. Reload the page to try again.' };

export const saving = { title: 'Export', command: 'Copy as command', copied: 'Copied', noCommand: 'no command supports these settings' };

export function provenance(from: Provenance): string {
    switch (from.kind) {
        case 'document':
            return `document ${from.name}`;
        case 'hand':
            return 'set by hand';
        case 'random':
            return `random numbers, seed ${from.seed}: real arithmetic, no meaning`;
        case 'trained':
            return `trained here: ${from.task}, step ${from.step}, seed ${from.seed}`;
        case 'bundled':
            return `trained with: ${from.command}`;
        case 'file':
            return `file ${from.name} (${from.hash})`;
        case 'formula':
            return 'computed from the formula';
    }
}
