// moves.ts - the states that "Try this", wrong answers of the quiz, the tour and the slides lead to. A move
// starts from plain settings, so that it shows what its text says.
import { DEFAULTS, type State } from '../state/state';
import { store } from '../state/store';

type Plain = string | number | boolean;
export type Move = { [name in keyof State]?: State[name] extends Plain ? State[name] : Partial<State[name]> };

const PLAIN: Move = {
    mask: 'none',
    temperature: 1,
    scale: 'sqrt',
    head: 0,
    compare: '',
    steps: { row: -1, column: -1, edits: '' },
    explore: { aggregate: 'mean', range: 'absolute', off: '', view: 'heatmap' },
};

function apply(state: State, move: Move): void {
    for (const [name, value] of Object.entries(move)) {
        const target = state as unknown as Record<string, unknown>;
        if (typeof value === 'object') Object.assign(target[name] as object, value);
        else target[name] = value;
    }
}

export function go(move: Move): void {
    store.set((state) => {
        apply(state, PLAIN);
        apply(state, move);
    });
}

export const TIRED = DEFAULTS.sentence;
export const DIRTY = TIRED.replace('tired', 'dirty');
const IT = 7; // the place of "it" in both

const explore = (move: Move): Move => ({ room: 'explore', model: 'whois', sentence: TIRED, layer: 1, token: IT, ...move });
const steps = (example: string, step: number, more: Partial<State['steps']> = {}): Move => ({ room: 'steps', steps: { example, step, ...more } });
const cost = (n: number): Move => ({ room: 'cost', cost: { n, d: 64, heads: 1, causal: false } });
const train = (more: Partial<State['train']>): Move => ({
    room: 'train',
    train: { task: 'whois', layers: 0, heads: 0, d: 0, d_k: 0, batch: 0, rate: 0, steps: 0, causal: false, scale: 'sqrt', temperature: 1, ...more },
});

// The steps of 004 and of a sentence of one's own: tokens 0, Q 1, K 2, V 3, scores 4, scale 5, mask 6, softmax
// 7, times V 8. 002-plain: tokens, given, scores 2. Others: given 0, scores 1, scale 2, mask 3, softmax 4.
export const MOVES = {
    tired: explore({}),
    dirty: explore({ sentence: DIRTY }),
    bothSentences: explore({ compare: DIRTY }),
    sharp: explore({ temperature: 0.2 }),
    causal: explore({ mask: 'causal' }),
    oneSeen: explore({ mask: 'padding', padding: 10 }),
    allHeads: explore({ explore: { view: 'heads' } }),
    bank: explore({ model: 'sense', sentence: 'the bank near the water and the door .', token: 1 }),
    tokens: steps('004', 0),
    queries: steps('004', 1),
    dot: steps('004', 4, { row: 2, column: 3 }),
    softmax: steps('004', 7),
    output: steps('004', 8),
    angles: steps('001', 1, { row: 0, column: 0, edits: 'q:0,0=1;q:0,1=0;k:0,0=1;k:0,1=0;k:1,0=0;k:1,1=1;k:2,0=-1;k:2,1=0' }),
    symmetric: steps('002-plain', 2),
    unscaled: { ...steps('002-scaling', 4), scale: 'none' },
    scaled: steps('002-scaling', 4),
    ones: steps('002-scaling', 0),
    mask: steps('003', 3),
    masked: steps('003', 4),
    hot: { ...steps('004', 7), temperature: 100 },
    ties: { ...steps('001', 4), temperature: 0.001 },
    biasOfKeys: steps('001', 4, { edits: 'k:0,0=2;k:0,1=1;k:1,0=2;k:1,1=2;k:2,0=1;k:2,1=2' }),
    noOrder: { ...steps('mine', 8, { heads: 1, width: 4 }), sentence: 'man bites dog' },
    learn: train({}),
    oneLayer: train({ layers: 1 }),
    causalTraining: train({ causal: true }),
    models: { room: 'models' },
    twice: cost(512),
    square: cost(4096),
    even: cost(256),
    tiles: cost(16384),
} satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;

/** The states of the slides, in the order of their texts. */
export const DECK: MoveName[] = ['tired', 'queries', 'dot', 'unscaled', 'mask', 'softmax', 'allHeads', 'learn', 'square', 'noOrder'];

export function turnTo(slide: number): void {
    const to = Math.min(Math.max(slide, 0), DECK.length - 1);
    go({ ...MOVES[DECK[to]!], present: true, slide: to });
}

export function setPresent(on: boolean): void {
    if (on) turnTo(0);
    else store.set((s) => void (s.present = false));
}
