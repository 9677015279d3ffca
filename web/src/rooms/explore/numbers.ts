// numbers.ts - the matrix in sight: a head, or what is made of several. All of it from the engine's
// weights; here they are only picked, averaged over heads and put beside each other.
import type { Range, State } from '../../state/state';
import { answerAt, type Found, headsOff, type Side } from './look';
import type { Pair } from './words';

/** What of a look is shown; places that the model does not have are moved to those it has. */
export interface Choice {
    layer: number;
    head: number;
    aggregate: State['explore']['aggregate'];
}

export function choiceOf(state: State, found: Found): Choice {
    const { layers, heads } = found.reader;
    // the state may ask for gradients that this answer does not have yet
    const aggregate = state.explore.aggregate === 'gradient' && !found.a.look.gradient ? 'head' : state.explore.aggregate;
    return { layer: Math.min(state.layer, layers - 1), head: Math.min(state.head, heads - 1), aggregate };
}

export interface Matrix {
    cell: ArrayLike<number>; // (n, n)
    visible: Uint8Array | undefined;
    isShare: boolean; // rows sum to 1
    max: number | undefined; // of the scale, if not 1
}

const heads = (data: ArrayLike<number>, n: number, count: number, layer: number): ArrayLike<number>[] =>
    Array.from({ length: count }, (_, h) => (data as Float32Array).subarray((layer * count + h) * n * n, (layer * count + h + 1) * n * n));

/** Cell by cell over the heads. */
function combine(parts: ArrayLike<number>[], join: (a: number, b: number) => number, divisor = 1): Float32Array {
    const out = Float32Array.from(parts[0]!);
    for (const part of parts.slice(1)) for (let i = 0; i < out.length; i++) out[i] = join(out[i]!, part[i]!);
    if (divisor !== 1) for (let i = 0; i < out.length; i++) out[i] = out[i]! / divisor;
    return out;
}

const mean = (parts: ArrayLike<number>[]) => combine(parts, (a, b) => a + b, parts.length);

/** The largest number, 0 of none. */
export function largest(values: ArrayLike<number>): number {
    let most = 0;
    for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!;
    return most;
}

export function matrixOf({ look }: Side, c: Choice): Matrix {
    const count = look.weights.shape[1]!;
    const all = heads(look.weights.data, look.n, count, c.layer);
    const share = { visible: look.visible, isShare: true, max: undefined };
    switch (c.aggregate) {
        case 'head':
            return { ...share, cell: all[c.head]! };
        case 'mean':
            return { ...share, cell: mean(all) };
        case 'max':
            return { ...share, cell: combine(all, Math.max), isShare: false };
        case 'rollout': // reaches beyond a window from layer to layer
            return { ...share, cell: look.rollout.data, visible: undefined };
        case 'gradient': {
            const cell = mean(heads(look.gradient!.weighted.data, look.n, count, c.layer));
            return { ...share, cell, isShare: false, max: largest(cell) || 1 };
        }
    }
}

export function rowOf(cell: ArrayLike<number>, n: number, row: number): number[] {
    return Array.from({ length: n }, (_, j) => cell[row * n + j]!);
}

export interface Entropy {
    bits: number;
    most: number; // if all visible tokens had the same share
}

/** The engine's for a head; of a mixture of heads that is a share again, from the row in sight. */
export function entropyOf({ look }: Side, c: Choice, matrix: Matrix, row: number): Entropy | undefined {
    if (!matrix.isShare) return undefined;
    const seen = matrix.visible ? rowOf(matrix.visible, look.n, row).filter(Boolean).length : look.n;
    const most = Math.log2(Math.max(seen, 1));
    if (c.aggregate === 'head') {
        const nats = look.entropy.data[(c.layer * look.weights.shape[1]! + c.head) * look.n + row]!;
        return { bits: Math.max(0, nats / Math.LN2), most };
    }
    const bits = rowOf(matrix.cell, look.n, row).reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0);
    return { bits: Math.max(0, bits), most };
}

/** The tokens that get most, first the largest. */
export function ranked(row: number[]): number[] {
    return row.map((_, j) => j).sort((i, j) => row[j]! - row[i]! || i - j);
}

/** A - B over the pairs; 0 in visible where one of them has nothing to compare. */
export function differenceOf(pairs: Pair[], a: Matrix, b: Matrix, nA: number, nB: number): { cell: Float32Array; visible: Uint8Array } {
    const m = pairs.length;
    const cell = new Float32Array(m * m);
    const visible = new Uint8Array(m * m);
    const sees = (x: Matrix, at: number) => !x.visible || x.visible[at] !== 0;
    pairs.forEach(([iA, iB], r) =>
        pairs.forEach(([jA, jB], c) => {
            if (iA < 0 || iB < 0 || jA < 0 || jB < 0) return;
            const atA = iA * nA + jA;
            const atB = iB * nB + jB;
            if (!sees(a, atA) && !sees(b, atB)) return;
            visible[r * m + c] = 1;
            cell[r * m + c] = a.cell[atA]! - b.cell[atB]!;
        }),
    );
    return { cell, visible };
}

/** The row that is looked at: under the pointer, pinned, or the one the model is asked about. */
export function focusOf(state: State, found: Found, hovered: number): number {
    const n = found.a.look.n;
    return hovered >= 0 && hovered < n ? hovered : answerAt(state.token, found.a.asked, n);
}

/** Where the colour scale ends, as the legend says it. */
export function endsOf(range: Range, max: number | undefined): [string, string] {
    if (range === 'log') return ['0.0001', '1'];
    return ['0', range === 'row' || max === undefined ? '1' : max.toPrecision(2)];
}

/** Turns one head on or off in the text of the state. */
export function toggleHead(off: string, layer: number, head: number, reader: { layers: number; heads: number }): string {
    const now = new Set(headsOff(off, reader));
    const place = layer * reader.heads + head;
    if (!now.delete(place)) now.add(place);
    return [...now].sort((a, b) => a - b).map((p) => `${Math.floor(p / reader.heads)}.${p % reader.heads}`).join(',');
}
