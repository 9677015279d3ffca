// stage.tsx - the current step: its name, formula, shape, cost and description; its matrices as an
// equation; one cell explained; what the document states.
import { useEffect, useState } from 'preact/hooks';
import type { Part } from '../../engine/types';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import { Formula } from '../../teach/math';
import * as t from '../../text/en';
import type { Provenance } from '../../ui/badge';
import { ColorBar } from '../../ui/color-bar';
import type { Drawing } from '../../ui/drawing';
import type { Table } from '../../ui/export';
import { Foot } from '../../ui/foot';
import { heatmapDrawing } from '../../ui/heatmap';
import { say } from '../../ui/readout';
import { commandOf } from './command';
import { Detail } from './detail';
import { withEdit } from './edits';
import { type Marks, Matrix } from './matrix';
import { Notes } from './notes';
import { formOf, show } from '../../ui/numerals';
import { type Cell, givenCell, nameOf, type Page, pickedCell, SCORE_LIKE, type View, viewOf } from './pages';
import type { Work } from './work';

const COMPACT = 8; // columns, above which cells are smaller
const LONGEST = 16; // factors of a product that is laid out as a square; K is not turned round above it

interface StageProps {
    state: State;
    work: Work;
    page: Page;
    head: number;
    dark: boolean;
}

function sentenceOf(work: Work, page: Page): string {
    return page.name === 'given' ? t.steps.givenSentence : work.steps.step[page.results[0]!]!.sentence;
}

function Head({ work, page }: { work: Work; page: Page }) {
    const step = work.steps.step[page.results[0]!]!;
    const [heads = 1, rows = 0, columns = 0] = step.value.shape;
    const formulas = page.results.map((part) => work.steps.step[part]!.formula).filter((text) => text !== 'given');
    return (
        <div class="head">
            <h2>{t.pages[page.name]}</h2>
            {formulas.map((text) => <Formula key={text} text={text.replace('..', '…')} />)}
            <span class="quiet">{t.steps.shape(heads, rows, columns)}</span>
            <span class="quiet">{t.steps.flops(step.flops)}</span>
            <p>{sentenceOf(work, page)}</p>
        </div>
    );
}

/** What meets in the cell `at` of the result: a row of the left matrix, a column of the right one. */
function marksOf(page: Page, view: View, at: Cell, width: number): Marks {
    if (page.results.includes(view.part)) return at;
    const isFirst = view.part === page.operands[0];
    if (page.name === 'weights') return { row: at.row };
    if (page.name === 'concat') {
        const column = at.column - view.head * view.columns.length;
        return column >= 0 && column < view.columns.length ? { row: at.row, column } : {};
    }
    if (page.sign === '→') return at;
    if (isFirst) return { row: at.row };
    if (view.part === 'k' && !view.transposed) return { row: at.column };
    return { column: at.column + (/^w_[qkv]$/.test(view.part) ? width : 0) };
}

/** The matrices of the step: of one head, except where the heads are joined. */
function viewsOf(work: Work, page: Page, head: number): View[] {
    const heads = page.name === 'concat' ? Array.from({ length: work.steps.heads }, (_, h) => h) : [head];
    const isTransposed = (part: Part) => page.name === 'scores' && part === 'k' && work.steps.d_k <= LONGEST;
    const operand = (part: Part) => heads.map((h) => viewOf(work, part, h, isTransposed(part)));
    return [...page.operands.flatMap(operand), ...page.results.map((part) => viewOf(work, part, head))];
}

/** Left and right as they are multiplied, rows by columns, and short enough to stand in a square. */
function isMultiplied([left, right]: View[]): boolean {
    return left!.columns.length === right!.rows.length && left!.columns.length <= LONGEST;
}

function signBefore(page: Page, views: View[], i: number): string {
    if (i === 0 || page.name === 'given') return '';
    const isResult = page.results.includes(views[i]!.part);
    if (isResult) return page.sign === '→' ? '→' : '=';
    if (page.sign === '→') return '|';
    return isMultiplied(views) ? '×' : '';
}

function Legend({ views, hasEdits }: { views: View[]; hasEdits: boolean }) {
    const kinds = [...new Set(views.map((v) => v.kind))];
    return (
        <p class="legend quiet">
            {kinds.map((kind) => (
                <span key={kind}>
                    <ColorBar kind={kind} /> {t.steps.legend[kind]}
                </span>
            ))}
            {views.some((view) => view.given) && <span><span class="pen">✎</span> {t.steps.editHint}</span>}
            {hasEdits && <span>{t.steps.legend.edited}</span>}
        </p>
    );
}

function tableOf(view: View): Table {
    const rows = view.rows.map((name, r) => [name, ...Array.from(view.columns, (_, c) => view.cell[r * view.columns.length + c]!)]);
    return { columns: ['', ...view.columns], rows };
}

function provenanceOf(state: State, work: Work): Provenance {
    if (work.edits.length > 0) return { kind: 'hand' };
    return work.example ? { kind: 'document', name: work.example.name } : { kind: 'random', seed: state.seed };
}

function pictureOf(view: View): Drawing {
    const { rows, columns, cell, kind, visible, title } = view;
    const form = formOf(cell, kind === 'weights' ? 4 : 0);
    return heatmapDrawing({ label: title, rows, columns, cell, kind, number: (x) => show(x, form), ...(visible && { visible }) });
}

function edit(work: Work, view: View, at: Cell, value: number): void {
    const part = view.given!;
    const place = givenCell(view, at);
    store.set((s) => void (s.steps.edits = withEdit(s.steps.edits, { part, ...place, value }, work.given.given[part]!)),
        `steps.edit ${part} ${place.row} ${place.column}`);
    say(t.steps.edited(nameOf(view, at), value));
}

function isEdited(work: Work, view: View, at: Cell): boolean {
    const place = givenCell(view, at);
    return work.edits.some((e) => e.part === view.given && e.row === place.row && e.column === place.column);
}

function pick(at: Cell | null): void {
    store.set((s) => {
        s.steps.row = at?.row ?? -1;
        s.steps.column = at?.column ?? -1;
    });
}

/** What the readout says of the step, or of the picked cell of it. */
function inWords(work: Work, page: Page, head: number, at: Cell): string {
    if (!SCORE_LIKE.includes(page.results[0]!)) return `${t.pages[page.name]}. ${sentenceOf(work, page)}`;
    const weight = viewOf(work, 'weights', head).cell[at.row * work.keys.length + at.column]!;
    return t.steps.looks(work.queries[at.row]!, work.keys[at.column]!, t.percent(weight));
}

function Equation({ state, work, page, head, dark, at, onHover }: StageProps & { at: Cell; onHover: (at: Cell | null) => void }) {
    const views = viewsOf(work, page, head);
    const result = views.at(-1)!;
    const isInput = page.operands.length === 0;
    const isProduct = !isInput && page.sign === '×' && isMultiplied(views);
    const isWide = views.some((view) => view.columns.length > COMPACT);
    const [left, right, product] = views.map((view) => view.title.replace(view.ofHead, ''));
    const isPickable = (view: View) => !isInput && (view === result || (page.sign === '→' && SCORE_LIKE.includes(view.part)));
    return (
        <div class={`equation ${isProduct ? 'product' : ''} ${isWide ? 'compact' : ''}`} key={`${state.steps.example} ${page.name}`}>
            {isProduct && <p class="corner quiet">{t.steps.meet(left!, right!, product!)}</p>}
            {views.map((view, i) => (
                <div class="term" key={view.title}>
                    {signBefore(page, views, i) && <span class="sign" aria-hidden="true">{signBefore(page, views, i)}</span>}
                    <Matrix
                        view={view}
                        dark={dark}
                        isResult={page.results.includes(view.part)}
                        marks={isInput ? {} : marksOf(page, view, at, head * result.columns.length)}
                        isEdited={(cell) => isEdited(work, view, cell)}
                        onPick={isPickable(view) ? pick : undefined}
                        onHover={isPickable(view) ? onHover : undefined}
                        onEdit={view.given ? (cell, value) => edit(work, view, cell, value) : undefined}
                    />
                </div>
            ))}
        </div>
    );
}

export function Stage(p: StageProps) {
    const { state, work, page, head } = p;
    const [hover, setHover] = useState<Cell | null>(null);
    const result = viewOf(work, page.results[0]!, head);
    const picked = pickedCell(result, state.steps.row, state.steps.column);
    const at = hover ? pickedCell(result, hover.row, hover.column) : picked;
    useEffect(() => say(inWords(work, page, head, at)), [page.name, at.row, at.column, head]);
    return (
        <section class="stage">
            <Head work={work} page={page} />
            <div class="split">
                <div>
                    <Equation {...p} at={at} onHover={setHover} />
                    <Legend views={viewsOf(work, page, head)} hasEdits={work.edits.length > 0} />
                    <Foot from={provenanceOf(state, work)} name={`attention-${result.part}`} table={() => tableOf(result)}
                        picture={() => pictureOf(result)} command={commandOf(state, work, page)} />
                    <Notes work={work} parts={page.results} />
                </div>
                {page.operands.length > 0 && <Detail work={work} page={page} head={head} at={at} />}
            </div>
        </section>
    );
}
