// edits.ts - manual edits of numbers, as compact text in the state: "w_q:0,1=0.5;x:2,0=-1". Edits that do
// not fit the problem (an old link, another sentence) are ignored. Tests: web/tests/steps.browser.mjs
import type { Problem, Tensor } from '../../engine/types';

export type Given = keyof Problem['given'];
const PATTERN = /^(x|w_q|w_k|w_v|w_o|q|k|v):(\d+),(\d+)=(.+)$/;

export interface Edit {
    part: Given;
    row: number;
    column: number;
    value: number;
}

export function readEdits(text: string): Edit[] {
    return text.split(';').flatMap((one) => {
        const [, part, row, column, number] = PATTERN.exec(one) ?? [];
        const value = Number(number);
        return part && Number.isFinite(value) ? [{ part: part as Given, row: Number(row), column: Number(column), value }] : [];
    });
}

const isSame = (a: Edit, b: Edit) => a.part === b.part && a.row === b.row && a.column === b.column;

/** The text with one more change; a change back to the number that was given leaves no trace. */
export function withEdit(text: string, edit: Edit, given: Tensor): string {
    const before = given.data[edit.row * given.shape[1]! + edit.column];
    const others = readEdits(text).filter((e) => !isSame(e, edit));
    const all = edit.value === before ? others : [...others, edit];
    return all.map((e) => `${e.part}:${e.row},${e.column}=${e.value}`).join(';');
}

/** The problem with the changes, and those that fit it. */
export function applyEdits(problem: Problem, text: string): { problem: Problem; edits: Edit[] } {
    const given: Problem['given'] = { ...problem.given };
    const edits = readEdits(text).filter(({ part, row, column, value }) => {
        const tensor = given[part];
        if (!tensor || row >= tensor.shape[0]! || column >= tensor.shape[1]!) return false;
        const data = Float64Array.from(tensor.data);
        data[row * tensor.shape[1]! + column] = value;
        given[part] = { shape: tensor.shape, data };
        return true;
    });
    return { problem: { ...problem, given }, edits };
}
