// counts.ts - what the engine counts for the settings of the room, and what follows: shares, and the
// lengths at which one quantity overtakes another. As figures F5 and F6 of `attn report`.
import { engine } from '../../engine/client';
import { type Answer, useAnswer } from '../../engine/answer';
import type { Cost } from '../../engine/types';
import type { State } from '../../state/state';

export type Settings = State['cost'];

export const D_MODEL = 512; // width of what is projected, as in figure F6
const SOFTMAX_OPS = 5; // for each pair, as in figure F6
const LENGTHS = Array.from({ length: 16 }, (_, i) => 32 * 2 ** i);
const WORDS = [1000, 10000, 100000];

export interface Count extends Cost {
    n: number;
    attention: number; // operations with softmax
    projections: number; // operations of Q, K, V, O
    share: number; // of the matrix among Q, K, V, O and itself
}

export interface Counts {
    now: Count;
    twice: Count; // at 2 n
    curve: Count[];
    words: Count[]; // of one head that sees all
}

async function count(n: number, { d, heads, causal }: Settings): Promise<Count> {
    const cost = await engine.cost(n, d, heads, causal);
    return {
        ...cost,
        n,
        attention: cost.flops + SOFTMAX_OPS * cost.visiblePairs,
        projections: 8 * n * D_MODEL * d * heads, // four, two operations for each multiply-add
        share: cost.denseBytes / (cost.denseBytes + cost.bytes),
    };
}

export function useCounts(set: Settings): Answer<Counts> {
    return useAnswer(JSON.stringify(set), async () => {
        const of = (lengths: number[], how = set) => Promise.all(lengths.map((n) => count(n, how)));
        const oneHead = { ...set, heads: 1, causal: false };
        const [[now, twice], curve, words] = await Promise.all([of([set.n, 2 * set.n]), of(LENGTHS), of(WORDS, oneHead)]);
        return { now: now!, twice: twice!, curve, words };
    });
}

/** The length at which the matrix is this share of the memory: share = n / (n + 4 d). */
export function lengthOfShare(share: number, { d }: Settings): number {
    return (4 * d * share) / (1 - share);
}

/** The length from which attention takes more operations than its projections. A causal query sees half
 *  of the keys, and itself. */
export function lengthOfEqualWork({ d, causal }: Settings): number {
    const keys = (8 * D_MODEL * d) / (4 * d + SOFTMAX_OPS);
    return causal ? 2 * keys - 1 : keys;
}

/** "attn cost --n 4096 --d 64" */
export function costCommand({ n, d, heads, causal }: Settings): string {
    return `attn cost --n ${n} --d ${d}` + (heads > 1 ? ` --heads ${heads}` : '') + (causal ? ' --causal' : '');
}

/** The figure of the report where it has these settings, else the count at this length. */
export function figureCommand(id: 'F5' | 'F6', set: Settings): string {
    return set.d === 64 && set.heads === 1 && !set.causal ? `attn report --only ${id}` : costCommand(set);
}
