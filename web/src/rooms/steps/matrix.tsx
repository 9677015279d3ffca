// matrix.tsx - a matrix as a table: shaded cells with numerals, names around it, sums beside weights.
// One tab stop; arrows, Home and End move, Enter picks a cell or begins to edit it. While editing: type
// a number, up and down change it by 0.01, Enter accepts it, Escape cancels.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import * as t from '../../text/en';
import { numeralOn, palette, placing, type Rgb } from '../../ui/colors';
import { Heatmap } from '../../ui/heatmap';
import { say } from '../../ui/readout';
import { useShown } from '../../ui/shown';
import { type Form, formOf, readNumber, show, tidy } from '../../ui/numerals';
import { type Cell, nameOf, type View } from './pages';

const MOST_CELLS = 600; // of a table; a larger matrix is drawn
const NUDGE = 0.01;

/** What stands out: a row, a column, or where both are given, the cell. */
export interface Marks {
    row?: number;
    column?: number;
}

export interface MatrixProps {
    view: View;
    marks: Marks;
    dark: boolean;
    isResult?: boolean;
    isEdited: (at: Cell) => boolean;
    onPick?: ((at: Cell | null) => void) | undefined;
    onHover?: ((at: Cell | null) => void) | undefined;
    onEdit?: ((at: Cell, value: number) => void) | undefined;
}

/** The numbers of a matrix as colours. */
function painter(view: View, dark: boolean): (row: number, column: number) => Rgb {
    const scale = palette(view.kind, 'cividis', dark);
    const place = placing(view.cell, view.columns.length, view.kind, 'absolute');
    return (row, column) => scale[Math.round(255 * Math.min(Math.max(place(row, column), 0), 1))]!;
}

function Editor(p: { name: string; value: number; onTake: (value: number) => void; onLeave: () => void }) {
    const field = useRef<HTMLInputElement>(null);
    useLayoutEffect(() => {
        field.current!.focus();
        field.current!.select();
    }, []);
    const isDone = useRef(false); // leaving the field also blurs it
    const take = (text: string) => {
        const value = readNumber(text);
        if (value === undefined) say(t.steps.refused(text, p.name, p.value));
        else if (value !== p.value) p.onTake(value);
    };
    const leave = (isTaken: boolean) => {
        if (isDone.current) return;
        isDone.current = true;
        if (isTaken) take(field.current!.value);
        p.onLeave();
    };
    const nudge = (by: number) => {
        const value = tidy((readNumber(field.current!.value) ?? p.value) + by);
        field.current!.value = String(value);
        p.onTake(value);
    };
    const key = (event: KeyboardEvent) => {
        event.stopPropagation();
        if (event.key === 'Enter') leave(true);
        else if (event.key === 'Escape') leave(false);
        else if (event.key === 'ArrowUp') nudge(NUDGE);
        else if (event.key === 'ArrowDown') nudge(-NUDGE);
        else return;
        event.preventDefault();
    };
    return (
        <input
            ref={field}
            type="text"
            inputMode="decimal"
            aria-label={p.name}
            defaultValue={String(p.value)}
            onKeyDown={key}
            onBlur={() => leave(true)}
        />
    );
}

/** How far each key moves in the table. */
function moved(event: KeyboardEvent, { row, column }: Cell, view: View): Cell | undefined {
    const last = { row: view.rows.length - 1, column: view.columns.length - 1 };
    switch (event.key) {
        case 'ArrowUp': return { row: Math.max(row - 1, 0), column };
        case 'ArrowDown': return { row: Math.min(row + 1, last.row), column };
        case 'ArrowLeft': return { row, column: Math.max(column - 1, 0) };
        case 'ArrowRight': return { row, column: Math.min(column + 1, last.column) };
        case 'Home': return { row: event.ctrlKey ? 0 : row, column: 0 };
        case 'End': return { row: event.ctrlKey ? last.row : row, column: last.column };
        default: return undefined;
    }
}

function Sum({ view, row }: { view: View; row: number }) {
    let sum = 0;
    for (let c = 0; c < view.columns.length; c++) sum += view.cell[row * view.columns.length + c]!;
    return <td class="sum">{sum.toFixed(4)}</td>;
}

interface Grid {
    p: MatrixProps;
    form: Form;
    paint: (row: number, column: number) => Rgb;
    current: Cell;
    editing: boolean;
    stopEditing: () => void;
}

function CellOf({ g, row, column }: { g: Grid; row: number; column: number }) {
    const { view, marks, isEdited, onEdit } = g.p;
    const at = { row, column };
    const isCurrent = g.current.row === row && g.current.column === column;
    const value = view.cell[row * view.columns.length + column]!;
    const isMasked = view.visible?.[row * view.columns.length + column] === 0;
    const rgb = g.paint(row, column);
    const inRow = marks.row === row;
    const inColumn = marks.column === column;
    const isMarked = marks.row !== undefined && marks.column !== undefined ? inRow && inColumn : inRow || inColumn;
    const names = [isMasked ? 'masked' : '', isMarked ? 'marked' : '', isEdited(at) ? 'edited' : '', onEdit ? 'editable' : ''];
    const isOpen = isCurrent && g.editing && onEdit;
    return (
        <td
            class={names.filter(Boolean).join(' ')}
            tabIndex={isCurrent && !isOpen ? 0 : -1}
            data-at={`${row},${column}`}
            title={String(value)}
            aria-selected={isMarked}
            style={isMasked ? undefined : { background: `rgb(${rgb.join()})`, color: numeralOn(rgb) }}
        >
            {isOpen ? (
                <Editor name={nameOf(view, at)} value={value} onTake={(x) => onEdit(at, x)} onLeave={g.stopEditing} />
            ) : (
                <span>{isMasked && view.kind === 'weights' ? '0' : show(value, g.form)}</span>
            )}
            {isMasked && <span class="unseen">{t.steps.masked}</span>}
        </td>
    );
}

const placeOf = (event: Event): Cell | null => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>('td[data-at]');
    const [row, column] = cell?.dataset.at!.split(',').map(Number) ?? [];
    return row === undefined || column === undefined ? null : { row, column };
};

function Table(p: MatrixProps) {
    const { view } = p;
    const table = useRef<HTMLTableElement>(null);
    const [current, setCurrent] = useState<Cell>({ row: 0, column: 0 });
    const [editing, setEditing] = useState(false);
    const focusCell = ({ row, column }: Cell) => table.current!.querySelector<HTMLElement>(`td[data-at="${row},${column}"]`)?.focus();
    const go = (to: Cell) => {
        setCurrent(to);
        focusCell(to);
        p.onHover?.(to);
    };
    const act = (at: Cell) => {
        setCurrent(at);
        if (p.onEdit) setEditing(true);
        else p.onPick?.(at);
    };
    const key = (event: KeyboardEvent) => {
        const to = moved(event, current, view);
        if (to) go(to);
        else if (event.key === 'Enter' || event.key === ' ') act(current);
        else if (event.key === 'Escape') p.onPick?.(null);
        else return;
        event.preventDefault();
    };
    const stopEditing = () => {
        const hadFocus = table.current!.contains(document.activeElement);
        setEditing(false);
        if (hadFocus) requestAnimationFrame(() => focusCell(current));
    };
    const g: Grid = { p, form: formOf(view.cell, view.kind === 'weights' ? 4 : 0), paint: painter(view, p.dark), current, editing, stopEditing };
    return (
        <table
            ref={table}
            role="grid"
            aria-label={`${view.title}, ${view.rows.length} × ${view.columns.length}`}
            onKeyDown={key}
            onClick={(e) => { const at = placeOf(e); if (at && !(e.target instanceof HTMLInputElement)) act(at); }}
            onMouseOver={(e) => p.onHover?.(placeOf(e))}
            onMouseLeave={() => p.onHover?.(null)}
            onFocusOut={() => p.onHover?.(null)}
        >
            <thead>
                <tr>
                    <td />
                    {view.columns.map((name, c) => <th key={c} scope="col" title={name} class={p.marks.column === c ? 'on' : ''}><bdi>{name}</bdi></th>)}
                    {view.kind === 'weights' && <th scope="col" class="sum">{t.steps.sum}</th>}
                </tr>
            </thead>
            <tbody>
                {view.rows.map((name, r) => (
                    <tr key={r} style={{ '--row': r }}>
                        <th scope="row" title={name} class={p.marks.row === r ? 'on' : ''}><bdi>{name}</bdi></th>
                        {view.columns.map((_, c) => <CellOf key={c} g={g} row={r} column={c} />)}
                        {view.kind === 'weights' && <Sum view={view} row={r} />}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

/** Too many cells for a table: the same on a canvas, to look at and pick from. */
function Picture({ view, marks, onPick, onHover }: MatrixProps) {
    const picked = marks.row !== undefined && marks.column !== undefined ? { row: marks.row, column: marks.column } : null;
    const form = formOf(view.cell, view.kind === 'weights' ? 4 : 0);
    return (
        <Heatmap
            label={view.title}
            rows={view.rows}
            columns={view.columns}
            cell={view.cell}
            kind={view.kind}
            number={(x) => show(x, form)}
            picked={picked}
            pinnedRow={marks.row ?? -1}
            {...(view.visible && { visible: view.visible })}
            {...(onPick && { onPick })}
            {...(onHover && { onHover })}
        />
    );
}

export function Matrix(p: MatrixProps) {
    const { view } = p;
    useShown(view.title, view);
    const isTable = view.rows.length * view.columns.length <= MOST_CELLS;
    return (
        <figure class={`matrix ${p.isResult ? 'result' : ''}`} data-part={view.part}>
            <figcaption>
                <b>{view.title}</b> <span class="quiet">{view.rows.length} × {view.columns.length}</span>
                {p.onEdit && isTable && <span class="pen" title={t.steps.editHint}> ✎</span>}
            </figcaption>
            <div class="box">{isTable ? <Table {...p} /> : <Picture {...p} />}</div>
        </figure>
    );
}
