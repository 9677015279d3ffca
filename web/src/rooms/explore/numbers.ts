// numbers.ts - the current matrix: a head, or an aggregate of several from the engine. This file only
// selects and arranges them.
import type { Tensor } from '../../engine/types';
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

/** The largest number, 0 of none. */
export function largest(values: ArrayLike<number>): number {
    let most = 0;
    for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!;
    return most;
}

/** One matrix of several. */
function part({ data }: Tensor, n: number, at: number): ArrayLike<number> {
    return data.subarray(at * n * n, (at + 1) * n * n);
}

export function matrixOf({ look }: Side, c: Choice): Matrix {
    const { n } = look;
    const share = { visible: look.visible, isShare: true, max: undefined };
    switch (c.aggregate) {
        case 'head':
            return { ...share, cell: part(look.weights, n, c.layer * look.weights.shape[1]! + c.head) };
        case 'mean':
            return { ...share, cell: part(look.mean, n, c.layer) };
        case 'max':
            return { ...share, cell: part(look.largest, n, c.layer), isShare: false };
        case 'rollout': // reaches beyond a window from layer to layer
            return { ...share, cell: look.rollout.data, visible: undefined };
        case 'gradient': {
            const cell = part(look.gradient!.weightedMean, n, c.layer);
            return { ...share, cell, isShare: false, max: largest(cell) || 1 };
        }
    }
}

export function rowOf(cell: ArrayLike<number>, n: number, row: number): number[] {
    return Array.from({ length: n }, (_, j) => cell[row * n + j]!);
}

export interface Entropy {
    nats: number;
    most: number; // if all visible tokens had the same share
}

/** The engine's for a head; of a mixture of heads that is a share again, from the row in sight. */
export function entropyOf({ look }: Side, c: Choice, matrix: Matrix, row: number): Entropy | undefined {
    if (!matrix.isShare) return undefined;
    const seen = matrix.visible ? rowOf(matrix.visible, look.n, row).filter(Boolean).length : look.n;
    const most = Math.log(Math.max(seen, 1));
    if (c.aggregate === 'head') {
        const nats = look.entropy.data[(c.layer * look.weights.shape[1]! + c.head) * look.n + row]!;
        return { nats: Math.max(0, nats), most };
    }
    const nats = rowOf(matrix.cell, look.n, row).reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
    return { nats: Math.max(0, nats), most };
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
