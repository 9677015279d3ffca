// heads.tsx - all heads of a layer on the current example, in one canvas, live. Under each head there is a
// button with its main number; it opens the head in Explore, as a click on its picture does.
import { useEffect, useRef } from 'preact/hooks';
import type { TaskExample } from '../../engine/types';
import type { Colors } from '../../state/state';
import * as t from '../../text/en';
import { type Drawing, paintOn, type Pen } from '../../ui/drawing';
import { Export, type ExportProps } from '../../ui/export';
import { css, type HeatmapProps, type Layout, paintCells, paintHatching } from '../../ui/heatmap';
import { useDark, useWidth } from '../../ui/hooks';
import { useShown } from '../../ui/shown';
import { headOf, type Question, rowOf, share } from './picture';
import type { Picture } from './trainer';

const GAP = 12; // pixels between heads
const LARGEST = 15; // of a cell
const SMALLEST = 6; // as long as there is room for more rows of heads
const READABLE = 11; // cells from this size on have names beside them
const LETTER = 6.5; // pixels, about
const LONGEST_NAME = 58; // pixels

interface HeadsProps {
    layer: number;
    example: TaskExample;
    question: Question;
    picture: Picture;
    colors: Colors;
    saved: Omit<ExportProps, 'picture'>;
    onOpen: (head: number) => void;
}

interface Plan {
    cell: number;
    perRow: number;
    names: number; // pixels; 0: no names
    width: number; // of one head with its names
    height: number;
}

/** As many heads beside each other as leaves cells that can be seen. */
function planOf(heads: number, words: string[], room: number): Plan {
    const n = words.length;
    const letters = Math.max(...words.map((word) => word.length));
    const longest = Math.min(Math.ceil(10 + LETTER * letters), LONGEST_NAME); // whole, so that cells have sharp edges
    let perRow = heads;
    const cellFor = (names: number) => Math.floor(((room - (perRow - 1) * GAP) / perRow - names - 2) / n);
    for (let rows = 2; perRow > 1 && cellFor(0) < SMALLEST; rows++) perRow = Math.ceil(heads / rows);
    const names = cellFor(longest) >= READABLE ? longest : 0;
    const cell = Math.max(2, Math.min(cellFor(names), LARGEST));
    return { cell, perRow, names, width: names + cell * n + 2, height: names + cell * n + 2 };
}

function paintNames(pen: Pen, p: HeadsProps, at: Layout): void {
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    p.example.words.forEach((word, i) => {
        pen.fillStyle = css(i === p.question.at ? '--accent' : '--ink');
        pen.textAlign = 'right';
        pen.fillText(word, at.left - 5, at.top + (i + 0.5) * at.cell, LONGEST_NAME - 8);
        pen.save();
        pen.fillStyle = css(p.question.right.includes(i) ? '--accent' : '--ink');
        pen.textAlign = 'left';
        pen.translate(at.left + (i + 0.5) * at.cell, at.top - 5);
        pen.rotate(-Math.PI / 2);
        pen.fillText(word, 0, 0, LONGEST_NAME - 8);
        pen.restore();
    });
}

/** Marks the row that asks, to be seen on dark and on bright cells. */
function frameRow(pen: Pen, row: number, n: number, at: Layout): void {
    for (const [color, width] of [['--ground', 4], ['--accent', 2]] as const) {
        pen.strokeStyle = css(color);
        pen.lineWidth = width;
        pen.strokeRect(at.left, at.top + row * at.cell, n * at.cell, at.cell);
    }
}

function paintHead(pen: Pen, p: HeadsProps, plan: Plan, head: number): void {
    const { look } = p.picture;
    const left = (head % plan.perRow) * (plan.width + GAP) + plan.names + 1;
    const top = Math.floor(head / plan.perRow) * (plan.height + GAP) + plan.names + 1;
    const at: Layout = { cell: plan.cell, left, top, width: left + plan.width, height: top + plan.height };
    const map: HeatmapProps = {
        label: '',
        rows: p.example.words,
        columns: p.example.words,
        cell: headOf(look, p.layer, head),
        visible: look.visible,
        kind: 'weights',
        colors: p.colors,
    };
    paintCells(pen, map, at);
    paintHatching(pen, map, at);
    frameRow(pen, p.question.at, look.n, at);
    if (plan.names) paintNames(pen, p, at);
}

function drawingOf(p: HeadsProps, plan: Plan, heads: number): Drawing {
    const rows = Math.ceil(heads / plan.perRow);
    const paint = (pen: Pen) => {
        for (let head = 0; head < heads; head++) paintHead(pen, p, plan, head);
    };
    return { width: plan.perRow * (plan.width + GAP) - GAP, height: rows * (plan.height + GAP) - GAP, paint };
}

function Head({ head, ...p }: HeadsProps & { head: number }) {
    const { look } = p.picture;
    const { words } = p.example;
    useShown(`train.layer${p.layer + 1}.head${head + 1}`, { rows: words, columns: words, cell: headOf(look, p.layer, head), visible: look.visible });
    return (
        <button title={t.train.heads.open} onClick={() => p.onOpen(head)}>
            <strong>{t.train.heads.head(head + 1)}</strong> {t.percent(share(rowOf(look, p.layer, head, p.question.at), p.question.right))}
            <span class="unseen">
                {t.train.heads.share}, {t.train.heads.open}
            </span>
        </button>
    );
}

export function Heads(p: HeadsProps) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const room = useWidth(box, 400);
    const { look } = p.picture;
    const heads = look.weights.shape[1]!;
    const plan = planOf(heads, p.example.words, room);
    useDark(); // draws again when the theme changes
    const drawing = drawingOf(p, plan, heads);
    useEffect(() => paintOn(canvas.current!, drawing));
    const click = (event: MouseEvent) => {
        const rect = canvas.current!.getBoundingClientRect();
        const column = Math.floor((event.clientX - rect.left) / (plan.width + GAP));
        const head = Math.floor((event.clientY - rect.top) / (plan.height + GAP)) * plan.perRow + column;
        if (head < heads) p.onOpen(head);
    };
    return (
        <>
            <div class="heads" ref={box}>
                <canvas ref={canvas} aria-hidden="true" onClick={click} />
                <div class="names" style={{ gridTemplateColumns: `repeat(${plan.perRow}, ${plan.width}px)` }}>
                    {Array.from({ length: heads }, (_, h) => (
                        <Head key={h} {...p} head={h} />
                    ))}
                </div>
            </div>
            <Export {...p.saved} picture={() => drawing} />
        </>
    );
}
