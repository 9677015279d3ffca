// explore.ts - strings of the room Explore.
import { percent } from './frame';

export const explore = {
    sentence: 'Sentence',
    second: 'Sentence B',
    compare: '+ compare',
    compareEnd: 'End comparison',
    example: 'Examples',
    noExample: 'my own',
    examples: {
        tired: 'Who is “it”? The cat was tired',
        pair: 'Tired against dirty: “it” changes',
        river: '“bank”: water against loan',
        apple: '“apple”: tree against stock',
        induction: 'Induction: a row that repeats',
        own: 'Any words, random weights',
    },
    model: 'Model',
    models: {
        whois: 'whois: who is “it”?',
        sense: 'sense: what does a word mean?',
        induction: 'induction: what comes next?',
        trained: 'trained here',
        file: 'from a file',
        random: 'random weights, any words',
    } as Record<string, string>,
    /** Of a row; 0 is exactly 0. */
    share: (x: number) => (x > 0 && x < 0.0005 ? '<0.1 %' : percent(x)),
    seed: 'Seed',
    tokens: 'Tokens: choose one to pin it',
    tokensOf: (side: string) => `Tokens of sentence ${side}: choose one to pin it`,
    unknown: 'not a word of this model',
    more: (n: number) => `and ${n.toLocaleString('en')} more`,
    empty: 'The sentence is empty: type some words.',
    unknownWords: (words: string[], n: number) =>
        `${words.map((word) => `“${word}”`).join(', ')}${n > words.length ? ` and ${n - words.length} more` : ''}: not known to this model.`,
    tooLong: (n: number, most: number, isRandom: boolean) =>
        `${n.toLocaleString('en')} words; ${isRandom ? 'this page shows' : 'this model reads'} at most ${most}.`,
    lastStays: 'The picture is still that of the last sentence that could be read.',
    knows: (n: number) => `The ${n} words it knows`,
    useRandom: 'Use random weights, which take any words',
    startAgain: 'Back to the first example',
    notHere: {
        train: 'Nothing has been trained on this page since it was loaded.',
        models: 'No file has been opened since this page was loaded.',
    },
    goTo: (room: string) => `Go to ${room}`,
    loading: 'Starting the engine …',
    layer: 'Layer',
    head: 'Head',
    aggregate: 'Show',
    aggregates: {
        head: 'one head',
        mean: 'mean of the heads',
        max: 'largest of the heads',
        rollout: 'rollout over all layers',
        gradient: 'weighted by gradient',
    },
    view: 'View',
    views: { heatmap: 'Heatmap', arcs: 'Arcs', heads: 'All heads', shift: 'Meaning shift', gradient: 'Gradient' },
    mask: 'Mask',
    masks: { none: 'none', causal: 'causal', window: 'window', padding: 'padding' },
    window: 'Tokens on each side',
    padding: 'Padding at the end',
    scale: 'Scaling',
    scales: { sqrt: '1/√d_k', none: 'off', dk: '1/d_k' },
    temperature: 'Temperature',
    causalItself: 'This model is causal by itself: no word sees a later one.',
    asTrained: 'As trained',
    range: 'Colours span',
    ranges: { absolute: 'absolute 0 to 1', row: 'per row', log: 'logarithmic' },
    colors: 'Palette',
    palettes: { cividis: 'cividis', viridis: 'viridis', ink: 'ink' },
    legend: {
        absolute: 'absolute',
        row: 'per row: 1 is the largest of its row',
        log: 'logarithmic; less is shown as 0.0001',
        signed: 'A − B: blue where A looks more, orange where B does',
        masked: 'masked, exactly 0',
    },
    sight: (c: { layer: number; head: number; aggregate: string }) => {
        const layer = `layer ${c.layer + 1}`;
        if (c.aggregate === 'head') return `${layer}, head ${c.head + 1}`;
        if (c.aggregate === 'mean') return `${layer}, mean of its heads`;
        if (c.aggregate === 'max') return `${layer}, largest of its heads`;
        return c.aggregate === 'rollout' ? 'rollout over all layers' : `${layer}, weights times gradient`;
    },
    mapTitle: (name: string) => `Where each word looks: ${name}`,
    mapLabel: (name: string) => `Attention in percent, ${name}; rows look at columns`,
    mapLabelB: 'Attention of sentence B in percent; rows look at columns',
    difference: 'A − B',
    differenceLabel: 'A minus B in percent; rows look at columns',
    pointAt: 'Rows look at columns; numbers are percent. Point at a cell, or click a row to pin it.',
    cell: (query: string, key: string, weight: number, score: number | undefined) =>
        `“${query}” → “${key}”: ${score === undefined ? '' : `score ${score.toFixed(3)}, `}weight ${weight.toPrecision(4)}`,
    cellMasked: (query: string, key: string) => `“${query}” → “${key}”: masked, weight exactly 0`,
    arcsAbout: 'Left looks at right; the thicker the link, the larger the weight.',
    arcsTooLong: (most: number) => `Arcs are drawn for at most ${most} tokens. The heatmap shows them all.`,
    headsTitle: 'Every head of every layer',
    headsAbout: 'Choose a head to look at it.',
    headName: (layer: number, head: number) => `layer ${layer + 1}, head ${head + 1}`,
    headShort: (layer: number, head: number) => `L${layer + 1} H${head + 1}`,
    headOnly: (head: number) => `head ${head + 1}`,
    layerName: (layer: number) => `Layer ${layer + 1}`,
    shiftTitle: 'How the layers move each word',
    shiftAbout: 'Circle: the word before the first layer. Tip: after the last. On the two axes along which these vectors differ most.',
    shiftAxes: 'Each sentence has axes of its own.',
    before: (word: string) => `${word}, before`,
    gradientAbout: (word: string, isRandom: boolean) =>
        isRandom
            ? `Size of the gradient of the length of the vector at “${word}”: random weights give no answer.`
            : `Size of the gradient of the loss of the answer at “${word}”.`,
    bothMasks: ['no mask', 'causal mask; each to its own largest'],
    byPosition: '|dL/dx| by position',
    byParameter: '|dL/dw| by parameter',
    causalNote: (word: string) => `With the causal mask, words after “${word}” cannot matter: exactly 0.`,
    keyBias: '0 but for rounding',
    keyBiasWhy:
        'The bias of the keys, b_k, adds the same number to every score of a row, and softmax does not change by that: its gradient is 0, but for rounding.',
    rowTitle: (word: string) => `“${word}” looks at`,
    unpin: 'Unpin',
    others: (n: number) => `and ${n} more`,
    entropyOf: (bits: number, most: number) => `Entropy ${bits.toFixed(1)} of ${most.toFixed(1)} bits`,
    entropy: 'Entropy: how widely each word looks',
    entropyLabel: 'Entropy in bits of each row in each head',
    entropyAbout: (most: number) => `0 bits: one word gets all; ${most.toFixed(1)} bits: every word the same. Choose a cell to see that row.`,
    readout: (word: string, seen: (readonly [string, string])[], entropy: { bits: number; most: number } | undefined) =>
        `“${word}” looks ${seen.map(([key, share]) => `${share} at “${key}”`).join(', ')}` +
        `${entropy ? `; entropy ${entropy.bits.toFixed(1)} of ${entropy.most.toFixed(1)} bits` : ''}.`,
    seesNothing: (word: string) => `“${word}” sees no token: every weight of its row is 0.`,
    answers: (word: string) => `The model’s answer at “${word}”: `,
    notAsked: '(it was not taught to answer here)',
    noAnswer: 'Random weights: the arithmetic is real, the pattern means nothing, and there is no answer.',
    switches: 'Switch heads off',
    switchesAbout: 'A head that is off adds nothing to what its layer says.',
    effect: (word: string, before: string, same: string, now: string) =>
        `“${word}” with all heads: ${before}. Without: ${same}. The answer now: ${now}.`,
    caution: {
        title: 'Attention is not explanation',
        text: 'A weight says how much of a word is mixed in, not that it decided the answer: other paths carry information too. To learn what matters, follow the weights through all layers, weight them by the gradient of the answer, or switch a head off and see what changes.',
        switch: 'switch a head off',
    },
};
