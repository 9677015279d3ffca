// cost.ts - strings of the room Cost.
import { percent } from './frame';

export const cost = {
    title: 'What attention costs',
    intro: 'Every token looks at every token. Twice the text is four times the pairs: move n and see what grows with it, and what does not.',
    n: 'Tokens n',
    d: 'Head size d',
    heads: 'Heads',
    causal: 'Causal mask',
    d_k: 'Head size d_k',
    seed: 'Seed',
    readout: (n: string, pairs: string, bytes: string, share: string) =>
        `${n} tokens make ${pairs} pairs; their weights would take ${bytes}, ${share} % of the memory of attention.`,
    growth: {
        title: 'What grows, what does not',
        at: (n: number, d: number, heads: number, causal: boolean) =>
            `n = ${n.toLocaleString('en')}, d = ${d}, ${heads} ${heads > 1 ? 'heads' : 'head'}${causal ? ', causal' : ''}, f32`,
        now: 'now',
        twice: 'at twice n',
        stays: 'stays',
        what: {
            pairs: 'pairs of query and key',
            visiblePairs: 'pairs that are not masked',
            flops: 'operations, forward',
            backwardFlops: 'operations, backward',
            denseBytes: 'matrix of the weights, if kept',
            bytes: 'Q, K, V and output',
            projections: 'operations of the projections',
            scratchBytes: 'scratch of this engine, a thread',
        },
        story: 'The pairs, and the work on them, grow with the square. What goes in and comes out grows with n. The engine takes the matrix tile by tile and never keeps it, so its scratch stays. The learned weights do not depend on n at all.',
        n: 'n (log); dotted without a name: as set',
        words: {
            columns: ['words', 'pairs', 'matrix, if kept', 'forward'],
            power: (x: number) => {
                const power = Math.round(Math.log10(x));
                return 10 ** power === x ? `1e${power}` : x.toExponential(2).replace('e+', 'e');
            },
            about: 'Ten times the words, a hundred times the pairs: of one head without a mask, a word counted as one token.',
        },
        memory: {
            title: 'Memory against n',
            dense: 'matrix kept: grows with n²',
            tiled: 'tile by tile: grows with n',
            inputs: 'Q, K, V and output alone',
            equal: (n: number) => `matrix = the rest at n = ${n}`,
            laptop: '16 GiB',
            about: 'Tiled, nearly nothing is added to what must be there anyway: the two lower lines coincide for long texts. The result is exact, not an approximation.',
        },
        share: {
            title: 'Share of the matrix in that memory',
            name: 'matrix of Q, K, V, output and matrix',
            reached: (percent: number, n: number) => `${percent} %: n = ${n}`,
            about: 'n / (n + 4 d). At n = 4096 and d = 64 it is 94.1 %, not the “more than 98 %” of document 000; that needs n > 12544.',
        },
        work: {
            title: 'Operations against n',
            total: 'both',
            attention: 'attention: grows with n²',
            projections: 'projections: grow with n',
            equal: (n: number) => `equal at n = ${n.toFixed(2)}`,
            about: (d_model: number) =>
                `Projections to Q, K, V and back from a width of ${d_model}; softmax counts 5 operations for a pair. For short texts the projections are the cost. Heads change both alike.`,
        },
    },
    sharpness: {
        title: 'Why scores are divided by √d_k',
        about: (n: number, trials: number) =>
            `Random queries and keys, ${n} tokens, mean of ${trials} draws. Low entropy, or a largest weight near 1: softmax has picked one key, and learning gets little signal.`,
        busy: 'Drawing …',
        scaling: 'scores',
        scales: { sqrt: 'divided by √d_k', none: 'not scaled', dk: 'divided by d_k' },
        entropy: 'Entropy of a row',
        largest: 'Largest weight of a row',
        axis: { entropy: 'nats', largest: 'weight' },
        uniform: { entropy: 'uniform: ln 16', largest: 'uniform: 1/16' },
        here: (d_k: number) => `At d_k = ${d_k}`,
        nats: (x: number) => `${x.toFixed(3)} nats`,
        command: (seed: number) => `attn report --only F4${seed === 42 ? '' : ` --seed ${seed}`}`,
        lesson: 'The product of two random vectors grows with √d_k. Divided by that, sharpness does not depend on the head size; divided by d_k, rows become uniform. Scaling keeps the start of training alike at any size; a trained model can be as sharp as it likes.',
    },
    maps: {
        title: 'The same queries and keys, scaled three ways',
        about: 'Row: who looks; column: at whom. One draw of 8 tokens; one scale of colours in all maps:',
        label: (scale: string, d_k: number) => `Weights, scores ${scale}, d_k = ${d_k}`,
        cell: (scale: string, d_k: number, row: string, column: string, weight: number) =>
            `Scores ${scale}, d_k = ${d_k}: ${row} looks ${percent(weight)} at ${column}.`,
        note: (entropy: number, largest: number) => `entropy ${entropy.toFixed(2)}, max ${largest.toFixed(2)}`,
        command: (seed: number) => `attn report --only F3${seed === 42 ? '' : ` --seed ${seed}`}`,
        lesson: 'Entropy in nats and largest weight are means over the rows; uniform is ln 8 = 2.08. One draw scatters; the curves above are the mean of many.',
    },
};
