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
    steps: {
        example: 'Example',
        mine: 'a sentence of my own',
        sentence: 'Sentence',
        heads: 'Heads',
        width: 'Width d_model',
        seed: 'Seed',
        random: 'Random numbers',
        randomHint: 'New random numbers for these words, from the next seed',
        reset: 'Reset',
        resetHint: 'Take back every number changed by hand',
        causal: 'Causal mask',
        causalHere: 'Causal mask (part of this example)',
        scale: 'Divide by √d_k',
        temperature: 'Temperature',
        head: 'Head',
        list: 'Steps of attention',
        back: '‹ Back',
        next: 'Next ›',
        play: '▶ Play',
        pause: '❚❚ Pause',
        speed: 'Speed',
        where: (k: number, n: number) => `step ${k} of ${n}`,
        loading: 'Starting the engine …',
        page: {
            tokens: 'Tokens as numbers',
            queries: 'Queries',
            keys: 'Keys',
            values: 'Values',
            given: 'Queries, keys, values',
            scores: 'Scores',
            scaled: 'Scale',
            masked: 'Mask',
            weights: 'Softmax',
            output: 'Weighted values',
            concat: 'Heads side by side',
            result: 'Output projection',
        },
        short: {
            tokens: 'X',
            queries: 'Q',
            keys: 'K',
            values: 'V',
            given: 'Q, K, V',
            scores: 'Q Kᵀ',
            scaled: 'scale',
            masked: 'mask',
            weights: 'softmax',
            output: '× V',
            concat: 'concat',
            result: 'W_O',
        },
        part: {
            x: 'X',
            w_q: 'W_Q',
            w_k: 'W_K',
            w_v: 'W_V',
            q: 'Q',
            k: 'K',
            v: 'V',
            scores: 'S',
            scaled: 'S scaled',
            masked: 'S masked',
            weights: 'A',
            output: 'O',
            concat: 'concat',
            w_o: 'W_O',
            y: 'Y',
        },
        ofHead: (head: number) => `, head ${head}`,
        givenSentence: 'What each query looks for, each key offers and each value hands over.',
        byDk: (d_k: number) => `Divided by d_k = ${d_k}: more than the square root, so the softmax is flatter.`,
        shape: (heads: number, rows: number, columns: number) => (heads > 1 ? `${heads} heads of ${rows} × ${columns}` : `${rows} × ${columns}`),
        flops: (n: number) => (n === 0 ? 'no arithmetic' : `${n.toLocaleString('en')} FLOPs`),
        sum: 'sum',
        masked: 'masked',
        editHint: 'Click or press Enter to change a number',
        refused: (text: string, name: string, value: number) => `“${text}” is not a number that can be used; ${name} stays ${value}.`,
        edited: (name: string, value: number) => `${name} is now ${value}; everything after it was computed again.`,
        legend: {
            signed: 'below 0 orange, above 0 blue; each matrix to its largest size',
            weights: '0 to 1; hatched: masked',
            edited: 'dot in the corner: changed by hand',
        },
        detail: (of: string, sum: string) => `${of} = ${sum}`,
        pick: 'Point at a cell, or click it, to see where its number comes from.',
        sumOf: 'sum of the products',
        score: 'score',
        weight: 'share',
        shares: (query: string) => `Its share of the row of “${query}”`,
        chain: {
            score: (x: string) => `score ${x}: the sum`,
            scaled: (x: string, by: string, isPlain: boolean) => (isPlain ? `not scaled: ${x}` : `scaled ${x}: times ${by}`),
            masked: (isMasked: boolean) => (isMasked ? 'masked: the key comes after the query' : 'not masked: the query sees this key'),
            weight: (x: string, percent: string) => `weight ${x}: ${percent} of the row, by softmax`,
        },
        looks: (query: string, key: string, percent: string) => `“${query}” looks ${percent} at “${key}”.`,
        isRight: (name: string, part: string) => `Document ${name} is right about ${part}.`,
        saysOf: (name: string, part: string) => `What document ${name} says of ${part}, where it errs, and what it is`,
        says: 'says',
        itIs: 'it is',
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
