// picture.ts - parts of a look: rows of weights, and sums of them for display.
import type { Look, TaskExample } from '../../engine/types';

export type Question = TaskExample['questions'][number];

/** The (n, n) weights of one head. */
export function headOf(look: Look, layer: number, head: number): ArrayLike<number> {
    const { n } = look;
    const from = (layer * look.weights.shape[1]! + head) * n * n;
    return look.weights.data.subarray(from, from + n * n);
}

/** One row of it. */
export function rowOf(look: Look, layer: number, head: number, at: number): number[] {
    const cells = headOf(look, layer, head);
    return Array.from({ length: look.n }, (_, j) => cells[at * look.n + j]!);
}

/** The mean of that row over the heads of the layer. */
export function meanRow(look: Look, layer: number, at: number): number[] {
    const heads = look.weights.shape[1]!;
    const sum = new Array<number>(look.n).fill(0);
    for (let h = 0; h < heads; h++) rowOf(look, layer, h, at).forEach((w, j) => (sum[j]! += w / heads));
    return sum;
}

/** How much of a row lies on these tokens. */
export function share(row: number[], tokens: number[]): number {
    return tokens.reduce((sum, j) => sum + row[j]!, 0);
}
