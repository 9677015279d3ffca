// cost.ts - strings of the room Cost.
import { percent } from './frame';

export const cost = {
    title: 'What attention costs',
    intro: 'Every token looks at every token, so twice the text means four times the pairs. Move n and see what grows with it and what does not.',
    n: 'Tokens n',
    d: 'Head size d',
    heads: 'Heads',
    causal: 'Causal mask',
    d_k: 'Head size d_k',
    seed: 'Seed',
    readout: (n: string, pairs: string, bytes: string, share: string) =>
        `${n} tokens make ${pairs} pairs; their weights would take ${bytes}, ${share} % of the memory of attention.`,
    growth: {
        title: 'What grows and what does not',
        at: (n: number, d: number, heads: number, causal: boolean) =>
            `n = ${n.toLocaleString('en')}, d = ${d}, ${heads} ${heads > 1 ? 'heads' : 'head'}${causal ? ', causal' : ''}, f32`,
        now: 'now',
        twice: 'at twice n',
        stays: 'unchanged',
        what: {
            pairs: 'query-key pairs',
            visiblePairs: 'pairs not masked',
            flops: 'operations, forward',
            backwardFlops: 'operations, backward',
            denseBytes: 'weight matrix, if stored',
            bytes: 'Q, K, V and output',
            projections: 'operations of the projections',
            scratchBytes: 'scratch memory per thread',
        },
        story: 'The number of pairs, and the work on them, grows with n². Inputs and outputs grow with n. The engine computes the matrix tile by tile and never stores it, so its scratch memory stays the same. The learned parameters do not depend on n at all.',
        n: 'n (log); dotted line without a label: current n',
        words: {
            columns: ['words', 'pairs', 'matrix, if stored', 'forward'],
            power: (x: number) => {
                const power = Math.round(Math.log10(x));
                return 10 ** power === x ? `1e${power}` : x.toExponential(2).replace('e+', 'e');
            },
            about: 'Ten times the words make a hundred times the pairs. One head without a mask; each word counts as one token.',
        },
        memory: {
            title: 'Memory against n',
            dense: 'matrix stored: grows with n²',
            tiled: 'tile by tile: grows with n',
            inputs: 'Q, K, V and output alone',
            equal: (n: number) => `matrix = the rest at n = ${n}`,
            laptop: '16 GiB',
            about: 'Computed tile by tile, attention needs almost no memory beyond its inputs and output: the two lower lines coincide for long texts. The result is exact, not an approximation.',
        },
        share: {
            title: 'The matrix as a share of that memory',
            name: 'matrix / (Q, K, V, output and matrix)',
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
                `Projections to Q, K and V and back, for a width of ${d_model}; softmax counts as 5 operations per pair. For short texts the projections dominate the cost. The number of heads scales both alike.`,
        },
    },
    sharpness: {
        title: 'Why scores are divided by √d_k',
        about: (n: number, trials: number) =>
            `Random queries and keys, ${n} tokens, mean of ${trials} samples. Low entropy, or a largest weight near 1, means that softmax has picked one key and little gradient is left to learn from.`,
        busy: 'Sampling …',
        scaling: 'scores',
        scales: { sqrt: 'divided by √d_k', none: 'not scaled', dk: 'divided by d_k' },
        entropy: 'Entropy of a row',
        largest: 'Largest weight of a row',
        axis: { entropy: 'nats', largest: 'weight' },
        uniform: { entropy: 'uniform: ln 16', largest: 'uniform: 1/16' },
        here: (d_k: number) => `At d_k = ${d_k}`,
        nats: (x: number) => `${x.toFixed(3)} nats`,
        command: (seed: number) => `attn report --only F4${seed === 42 ? '' : ` --seed ${seed}`}`,
        lesson: 'The dot product of two random vectors grows with √d_k. When scores are divided by √d_k, sharpness does not depend on the head size; when they are divided by d_k, rows become uniform. Scaling makes training start alike at any size; a trained model can be as sharp as it needs to be.',
    },
    maps: {
        title: 'The same queries and keys, scaled three ways',
        about: 'Rows are queries, columns are keys. One random sample of 8 tokens; all maps share one colour scale:',
        label: (scale: string, d_k: number) => `Weights, scores ${scale}, d_k = ${d_k}`,
        cell: (scale: string, d_k: number, row: string, column: string, weight: number) =>
            `Scores ${scale}, d_k = ${d_k}: ${row} looks ${percent(weight)} at ${column}.`,
        note: (entropy: number, largest: number) => `entropy ${entropy.toFixed(2)}, max ${largest.toFixed(2)}`,
        command: (seed: number) => `attn report --only F3${seed === 42 ? '' : ` --seed ${seed}`}`,
        lesson: 'Entropy (in nats) and largest weight are means over the rows; uniform weights have entropy ln 8 = 2.08. A single sample varies; the curves above are means of many.',
    },
};
