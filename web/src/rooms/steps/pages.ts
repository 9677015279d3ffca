// pages.ts - the steps in their order, the matrices of each, and how a matrix of one head is displayed:
// names of its rows and columns, its cells, which of them are masked.
import type { Part, Step } from '../../engine/types';
import * as t from '../../text/en';
import type { Given } from './edits';
import type { Work } from './work';

export type PageName = keyof typeof t.pages;

export interface Page {
    name: PageName;
    operands: Part[];
    results: Part[];
    sign: '×' | '→'; // between the operands, or before the result
}

/** The matrices whose cells belong to one query and one key. */
export const SCORE_LIKE: readonly Part[] = ['scores', 'scaled', 'masked', 'weights'];

const page = (name: PageName, operands: Part[], results: Part[], sign: Page['sign'] = '×'): Page => ({ name, operands, results, sign });

export function pagesOf({ steps }: Work): Page[] {
    const { step, heads } = steps;
    const projections = step.w_q
        ? [page('queries', ['x', 'w_q'], ['q']), page('keys', ['x', 'w_k'], ['k']), page('values', ['x', 'w_v'], ['v'])]
        : [page('given', [], ['q', 'k', 'v'])];
    return [
        ...(step.x ? [page('tokens', [], ['x'])] : []),
        ...projections,
        page('scores', ['q', 'k'], ['scores']),
        page('scaled', ['scores'], ['scaled'], '→'),
        page('masked', ['scaled'], ['masked'], '→'),
        page('weights', ['masked'], ['weights'], '→'),
        page('output', ['weights', 'v'], ['output']),
        ...(heads > 1 ? [page('concat', ['output'], ['concat'], '→')] : []),
        ...(step.y ? [page('result', ['concat', 'w_o'], ['y'])] : []),
    ];
}

export interface View {
    part: Part;
    head: number; // 0 where all heads share it
    title: string; // "Kᵀ, head 1"
    ofHead: string; // ", head 1"; '' where there is one, or all share it
    rows: string[];
    columns: string[];
    cell: ArrayLike<number>; // (rows, columns), as displayed
    kind: 'weights' | 'signed';
    visible: Uint8Array | undefined; // 0: masked
    transposed: boolean;
    given: Given | undefined; // it can be changed under this name
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => String(i + 1));

/** "1.2": dimension 2 of head 1, where the columns of all heads stand side by side. */
const byHead = (n: number, heads: number) =>
    heads === 1 ? numbered(n) : Array.from({ length: n }, (_, i) => `${Math.floor((i * heads) / n) + 1}.${(i % (n / heads)) + 1}`);

function rowNames(work: Work, part: Part, n: number): string[] {
    if (part === 'w_o') return byHead(n, work.steps.heads);
    if (part === 'w_q' || part === 'w_k' || part === 'w_v') return numbered(n);
    return part === 'k' || part === 'v' ? work.keys : work.queries;
}

function columnNames(work: Work, part: Part, n: number): string[] {
    if (SCORE_LIKE.includes(part)) return work.keys;
    return ['w_q', 'w_k', 'w_v', 'concat'].includes(part) ? byHead(n, work.steps.heads) : numbered(n);
}

function transpose(cell: ArrayLike<number>, rows: number, columns: number): Float64Array {
    return Float64Array.from({ length: rows * columns }, (_, i) => cell[(i % rows) * columns + Math.floor(i / rows)]!);
}

/** One head of a step, as it lies in memory. */
export function cellsOf(step: Step, head: number): ArrayLike<number> {
    const [heads = 1, rows = 0, columns = 0] = step.value.shape;
    const size = rows * columns;
    const at = Math.min(head, heads - 1) * size;
    return step.value.data.subarray(at, at + size);
}

function visibleOf(work: Work, part: Part, head: number): Uint8Array | undefined {
    if (!work.problem.causal || (part !== 'masked' && part !== 'weights')) return undefined;
    return Uint8Array.from(cellsOf(work.steps.step.masked!, head), (x) => Number(x !== -Infinity));
}

export function viewOf(work: Work, part: Part, head: number, transposed = false): View {
    const step = work.steps.step[part]!;
    const [, rows = 0, columns = 0] = step.value.shape;
    const cell = cellsOf(step, head);
    const names = { rows: rowNames(work, part, rows), columns: columnNames(work, part, columns) };
    const ofHead = step.perHead && work.steps.heads > 1 ? t.steps.ofHead(head + 1) : '';
    return {
        part,
        head: step.perHead ? head : 0,
        title: t.steps.part[part] + (transposed ? 'ᵀ' : '') + ofHead,
        ofHead,
        rows: transposed ? names.columns : names.rows,
        columns: transposed ? names.rows : names.columns,
        cell: transposed ? transpose(cell, rows, columns) : cell,
        kind: part === 'weights' ? 'weights' : 'signed',
        visible: visibleOf(work, part, head),
        transposed,
        given: part in work.problem.given ? (part as Given) : undefined,
    };
}

export interface Cell {
    row: number;
    column: number;
}

/** "S[apple, phones], head 1" */
export function nameOf({ part, transposed, ofHead, rows, columns }: View, { row, column }: Cell): string {
    return `${t.steps.part[part]}${transposed ? 'ᵀ' : ''}[${rows[row]}, ${columns[column]}]${ofHead}`;
}

/** Where a displayed cell lies in the matrix that was given, all heads side by side. */
export function givenCell(view: View, at: Cell): Cell {
    const { row, column } = view.transposed ? { row: at.column, column: at.row } : at;
    const width = view.transposed ? view.rows.length : view.columns.length;
    return { row, column: column + view.head * width };
}

/** The picked cell of the present result. With none picked, one that no causal mask hides. */
export function pickedCell(view: View, row: number, column: number): Cell {
    const isInside = row >= 0 && column >= 0 && row < view.rows.length && column < view.columns.length;
    return isInside ? { row, column } : { row: view.rows.length - 1, column: Math.max(view.columns.length - 2, 0) };
}
