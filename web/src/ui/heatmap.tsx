// heatmap.tsx - a matrix on a canvas: colours, numerals where they fit, hatching where masked, names
// around it. Next to the canvas there is a one-row grid for keyboard and screen reader: arrows, Home
// and End move, Enter picks, Escape cancels. Hovering previews. 512 x 512 cells are drawn at once.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Colors, Range } from '../state/state';
import { isDark, numeralOn, palette, placing, type Rgb } from './colors';
import { type Drawing, paintOn, type Pen } from './drawing';
import { useDark, useWidth } from './hooks';
import { useShown } from './shown';

export interface Place {
    row: number;
    column: number;
}

export interface HeatmapProps {
    label: string; // for screen readers
    rows: string[];
    columns: string[];
    cell: ArrayLike<number>; // (rows, columns)
    visible?: ArrayLike<number>; // (rows, columns); 0: masked
    kind: 'weights' | 'signed';
    colors?: Colors;
    range?: Range;
    max?: number;
    number?: (value: number) => string; // of a cell; none without
    picked?: Place | null;
    pinnedRow?: number; // -1: none
    largest?: number; // of a cell, in pixels
    onPick?: (place: Place | null) => void;
    onHover?: (place: Place | null) => void;
}

export interface Layout {
    cell: number;
    left: number;
    top: number;
    width: number;
    height: number;
}

const FONT = '12px system-ui, sans-serif';
const LONGEST_NAME = 90; // pixels

const measured = new WeakMap<string[], number>();

/** The width of the longest name. */
function measure(names: string[]): number {
    const known = measured.get(names);
    if (known !== undefined) return known;
    const pen = document.createElement('canvas').getContext('2d')!;
    pen.font = FONT;
    const width = Math.min(Math.max(0, ...names.map((name) => pen.measureText(name).width)), LONGEST_NAME);
    measured.set(names, width);
    return width;
}

function layOut(p: HeatmapProps, room: number): Layout {
    const left = Math.ceil(measure(p.rows)) + 10;
    const top = Math.ceil(measure(p.columns)) + 10;
    const least = p.columns.length > 160 ? 1 : p.columns.length > 64 ? 4 : 14;
    const cell = Math.max(Math.min(Math.floor((room - left - 2) / p.columns.length), p.largest ?? 44), least);
    return { cell, left, top, width: left + cell * p.columns.length + 2, height: top + cell * p.rows.length + 2 };
}

const tokens = new Map<string, string>();

/** A colour of the page. Asked once for each theme: asking makes the browser compute all styles. */
export function css(name: string): string {
    const key = `${isDark()} ${name}`;
    const value = tokens.get(key) ?? getComputedStyle(document.documentElement).getPropertyValue(name);
    tokens.set(key, value);
    return value;
}

/** One pixel for each cell, clear where masked. */
function cellImage(p: HeatmapProps, scale: Rgb[], place: (row: number, column: number) => number): OffscreenCanvas {
    const image = new ImageData(p.columns.length, p.rows.length);
    const pixel = new Uint32Array(image.data.buffer);
    const color = Uint32Array.from(scale, ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r); // little endian, as wasm is
    for (let r = 0, i = 0; r < p.rows.length; r++) {
        for (let c = 0; c < p.columns.length; c++, i++) {
            if (!p.visible || p.visible[i]) pixel[i] = color[Math.round(255 * Math.min(Math.max(place(r, c), 0), 1))] ?? color[0]!;
        }
    }
    const small = new OffscreenCanvas(p.columns.length, p.rows.length);
    small.getContext('2d')!.putImageData(image, 0, 0);
    return small;
}

export function paintCells(pen: Pen, p: HeatmapProps, at: Layout): void {
    const scale = palette(p.kind, p.colors ?? 'cividis', isDark());
    const place = placing(p.cell, p.columns.length, p.kind, p.range ?? 'absolute', p.max);
    pen.imageSmoothingEnabled = at.cell < 1; // several cells to a pixel
    pen.drawImage(cellImage(p, scale, place), at.left, at.top, at.cell * p.columns.length, at.cell * p.rows.length);
    if (at.cell >= 26 && p.number) paintNumerals(pen, p, at, scale, place);
}

function paintNumerals(
    pen: Pen,
    p: HeatmapProps,
    at: Layout,
    scale: ReturnType<typeof palette>,
    place: (r: number, c: number) => number,
): void {
    pen.font = `${Math.min(Math.floor(at.cell * 0.3), 13)}px system-ui, sans-serif`;
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    for (let r = 0; r < p.rows.length; r++) {
        for (let c = 0; c < p.columns.length; c++) {
            const i = r * p.columns.length + c;
            if (p.visible && !p.visible[i]) continue;
            pen.fillStyle = numeralOn(scale[Math.round(255 * Math.min(Math.max(place(r, c), 0), 1))] ?? scale[0]!);
            pen.fillText(p.number!(p.cell[i]!), at.left + (c + 0.5) * at.cell, at.top + (r + 0.5) * at.cell, at.cell - 3);
        }
    }
}

export function paintHatching(pen: Pen, p: HeatmapProps, at: Layout): void {
    if (!p.visible) return;
    pen.save();
    pen.beginPath();
    for (let r = 0; r < p.rows.length; r++) {
        for (let c = 0, end = 0; c < p.columns.length; c = end + 1) {
            const row = r * p.columns.length;
            for (end = c; end < p.columns.length && !p.visible[row + end]; ) end++; // a run of cells is one rectangle
            if (end > c) pen.rect(at.left + c * at.cell, at.top + r * at.cell, (end - c) * at.cell, at.cell);
        }
    }
    pen.clip();
    pen.strokeStyle = css('--hatch');
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = -at.height; x < at.width; x += 6) {
        pen.moveTo(x, at.height);
        pen.lineTo(x + at.height, 0);
    }
    pen.stroke();
    pen.restore();
}

function paintNames(pen: Pen, p: HeatmapProps, at: Layout): void {
    const every = Math.max(1, Math.ceil(13 / at.cell));
    pen.fillStyle = css('--ink');
    pen.font = FONT;
    pen.textBaseline = 'middle';
    pen.textAlign = 'right';
    p.rows.forEach((name, r) => {
        if (r % every) return;
        pen.font = r === p.pinnedRow ? `bold ${FONT}` : FONT;
        pen.fillText(name, at.left - 6, at.top + (r + 0.5) * at.cell, at.left - 8);
    });
    pen.font = FONT;
    pen.textAlign = 'left';
    p.columns.forEach((name, c) => {
        if (c % every) return;
        pen.save();
        pen.translate(at.left + (c + 0.5) * at.cell, at.top - 6);
        pen.rotate(-Math.PI / 2);
        pen.fillText(name, 0, 0, at.top - 8);
        pen.restore();
    });
}

export function paintMarks(pen: Pen, p: HeatmapProps, at: Layout, current: Place | null): void {
    const frame = (row: number, column: number, width: number, color: string, line: number) => {
        for (const [ink, size] of [[css('--ground'), line + 2], [color, line]] as const) { // seen on any colour
            pen.strokeStyle = ink;
            pen.lineWidth = size;
            pen.strokeRect(at.left + column * at.cell, at.top + row * at.cell, width * at.cell, at.cell);
        }
    };
    if (p.pinnedRow !== undefined && p.pinnedRow >= 0 && p.pinnedRow < p.rows.length)
        frame(p.pinnedRow, 0, p.columns.length, css('--accent'), 2);
    for (const place of [p.picked, current]) if (place) frame(place.row, place.column, 1, css('--ink'), 2);
}

function drawingOf(p: HeatmapProps, at: Layout, current: Place | null): Drawing {
    const paint = (pen: Pen) => {
        paintCells(pen, p, at);
        paintHatching(pen, p, at);
        paintNames(pen, p, at);
        paintMarks(pen, p, at, current);
    };
    return { width: at.width, height: at.height, paint };
}

/** The picture alone, to be saved. */
export function heatmapDrawing(p: HeatmapProps, room = 900): Drawing {
    return drawingOf(p, layOut(p, room), null);
}

/** How far each key moves. */
const MOVES: Record<string, (p: Place, rows: number, columns: number, all: boolean) => Place> = {
    ArrowUp: (p) => ({ ...p, row: p.row - 1 }),
    ArrowDown: (p) => ({ ...p, row: p.row + 1 }),
    ArrowLeft: (p) => ({ ...p, column: p.column - 1 }),
    ArrowRight: (p) => ({ ...p, column: p.column + 1 }),
    Home: (p, _r, _c, all) => ({ row: all ? 0 : p.row, column: 0 }),
    End: (p, rows, columns, all) => ({ row: all ? rows - 1 : p.row, column: columns - 1 }),
};

export function Heatmap(p: HeatmapProps) {
    useShown(p.label, p);
    useDark(); // draws again when the theme changes
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [current, setCurrent] = useState<Place | null>(null); // where the keyboard is
    const at = layOut(p, useWidth(box, 600));

    useEffect(() => paintOn(canvas.current!, drawingOf(p, at, current)));

    const placeOf = (event: MouseEvent): Place | null => {
        const rect = canvas.current!.getBoundingClientRect();
        const row = Math.floor((event.clientY - rect.top - at.top) / at.cell);
        const column = Math.floor((event.clientX - rect.left - at.left) / at.cell);
        return row >= 0 && row < p.rows.length && column < p.columns.length ? { row, column: Math.max(column, 0) } : null; // its name, too
    };
    const move = (event: KeyboardEvent) => {
        const here = current ?? { row: 0, column: 0 };
        if (event.key === 'Enter' || event.key === ' ') p.onPick?.(here);
        else if (event.key === 'Escape') p.onPick?.(null);
        else if (MOVES[event.key]) {
            const to = MOVES[event.key]!(here, p.rows.length, p.columns.length, event.ctrlKey);
            const next = {
                row: Math.min(Math.max(to.row, 0), p.rows.length - 1),
                column: Math.min(Math.max(to.column, 0), p.columns.length - 1),
            };
            setCurrent(next);
            p.onHover?.(next);
        } else return;
        event.preventDefault();
    };
    return (
        <div class="heatmap" ref={box}>
            <canvas
                ref={canvas}
                aria-hidden="true"
                onMouseMove={(e) => p.onHover?.(placeOf(e))}
                onMouseLeave={() => p.onHover?.(null)}
                onClick={(e) => p.onPick?.(placeOf(e))}
            />
            <Grid p={p} current={current} onKeyDown={move} onFocus={() => setCurrent(current ?? { row: 0, column: 0 })} onBlur={() => setCurrent(null)} />
        </div>
    );
}

/** One row of cells, for those who do not see the canvas. */
function Grid(g: {
    p: HeatmapProps;
    current: Place | null;
    onKeyDown: (event: KeyboardEvent) => void;
    onFocus: () => void;
    onBlur: () => void;
}) {
    const { p } = g;
    const here = g.current ?? { row: 0, column: 0 };
    const value = (c: number) => {
        const i = here.row * p.columns.length + c;
        if (p.visible && !p.visible[i]) return 'masked';
        return p.number ? p.number(p.cell[i]!) : Number(p.cell[i]).toPrecision(3);
    };
    const active = useRef<HTMLSpanElement>(null);
    useEffect(() => {
        if (g.current) active.current?.focus({ preventScroll: true });
    }, [here.row, here.column, g.current === null]);
    return (
        <div role="grid" class="unseen" aria-label={p.label} aria-rowcount={p.rows.length} aria-colcount={p.columns.length} onKeyDown={g.onKeyDown}>
            <div role="row" aria-rowindex={here.row + 1}>
                {p.columns.map((name, c) => (
                    <span
                        key={c}
                        role="gridcell"
                        aria-colindex={c + 1}
                        tabIndex={c === here.column ? 0 : -1}
                        ref={c === here.column ? active : undefined}
                        onFocus={c === here.column ? g.onFocus : undefined}
                        onBlur={c === here.column ? g.onBlur : undefined}
                    >
                        {`${p.rows[here.row] ?? ''}, ${name}: ${value(c)}`}
                    </span>
                ))}
            </div>
        </div>
    );
}
