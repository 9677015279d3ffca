// heads.tsx - every head of every layer as a small map, all in one canvas; a button over each picks it.
import { useEffect, useRef } from 'preact/hooks';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import type { Provenance } from '../../ui/badge';
import { type Drawing, paintOn, type Pen } from '../../ui/drawing';
import { Foot } from '../../ui/foot';
import { type HeatmapProps, type Layout, paintCells, paintHatching, paintMarks } from '../../ui/heatmap';
import { useWidth } from '../../ui/hooks';
import type { Side } from './look';
import { Legend } from './map';
import { commandFor, type ViewProps } from './scene';

const GAP = 10;
const NAME = 20; // pixels above a head
const LARGEST = 340;
const LEAST = 96;

interface HeadsProps {
    side: Side;
    state: State;
    focus: number;
    from: Provenance;
    title: string;
    id: string;
    command: string;
}

function mapOf({ side, state, focus }: HeadsProps, at: number): HeatmapProps {
    const { n, weights, visible } = side.look;
    const { colors, range } = state.explore;
    const cell = weights.data.subarray(at * n * n, (at + 1) * n * n);
    return { label: '', rows: side.words, columns: side.words, cell, visible, kind: 'weights', colors, range, pinnedRow: focus };
}

function drawingOf(p: HeadsProps, size: number, perRow: number): Drawing {
    const { n, weights } = p.side.look;
    const count = weights.shape[0]! * weights.shape[1]!;
    const rows = Math.ceil(count / perRow);
    const paint = (pen: Pen) => {
        for (let i = 0; i < count; i++) {
            const left = (i % perRow) * (size + GAP);
            const top = Math.floor(i / perRow) * (size + NAME + GAP) + NAME;
            const at: Layout = { cell: size / n, left, top, width: left + size, height: top + size };
            const map = mapOf(p, i);
            paintCells(pen, map, at);
            paintHatching(pen, map, at);
            paintMarks(pen, map, at, null);
        }
    };
    return { width: perRow * (size + GAP) - GAP, height: rows * (size + NAME + GAP) - GAP, paint };
}

function pick(layer: number, head: number): void {
    store.set((s) => {
        Object.assign(s, { layer, head });
        Object.assign(s.explore, { aggregate: 'head', view: 'heatmap' });
    });
}

function Heads(p: HeadsProps) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const { n, weights } = p.side.look;
    const [layers, heads] = weights.shape as [number, number];
    const room = useWidth(box, 600);
    const perRow = Math.max(1, Math.min(heads, Math.floor((room + GAP) / (LEAST + GAP))));
    const size = Math.max(LEAST, Math.min(Math.floor((room + GAP) / perRow) - GAP, LARGEST));
    const drawing = drawingOf(p, size, perRow);
    useEffect(() => paintOn(canvas.current!, drawing));
    const { layer, head } = p.state;
    return (
        <figure class="heads" data-map={p.id}>
            <figcaption>{p.title}</figcaption>
            <div class="box" ref={box}>
                <canvas ref={canvas} aria-hidden="true" />
                {Array.from({ length: layers * heads }, (_, i) => (
                    <button key={i} aria-pressed={i === layer * heads + head} onClick={() => pick(Math.floor(i / heads), i % heads)} style={{
                        left: `${(i % perRow) * (size + GAP)}px`,
                        top: `${Math.floor(i / perRow) * (size + NAME + GAP)}px`,
                        width: `${size}px`,
                        height: `${size + NAME}px`,
                    }}>
                        {t.explore.headName(Math.floor(i / heads), i % heads)}
                    </button>
                ))}
            </div>
            <Legend kind="weights" state={p.state} max={undefined} hasMasked={p.side.look.visible.includes(0)} />
            <Foot from={p.from} name={`attention-heads-${p.id}`} picture={() => drawing} command={p.command} table={() => ({
                columns: ['layer', 'head', 'query', 'key', 'weight'],
                rows: Array.from(weights.data, (w, at) => {
                    const h = Math.floor(at / (n * n));
                    return [Math.floor(h / heads) + 1, (h % heads) + 1, Math.floor(at / n) % n, at % n, w];
                }),
            })} />
        </figure>
    );
}

export function HeadsView({ scene, state, focus }: ViewProps) {
    const { a, b } = scene.found;
    const title = (name: string, side: Side) => (b ? `${name}: ${side.words.join(' ')}` : t.explore.headsTitle);
    const focusB = scene.pairs?.find(([i]) => i === focus)?.[1] ?? -1;
    const shared = { state, from: scene.found.reader.from };
    return (
        <>
            <p class="quiet">{t.explore.headsAbout}</p>
            <Heads {...shared} id="a" side={a} title={title('A', a)} focus={focus} command={commandFor(scene, 'a', { show: 'heads' })} />
            {b && <Heads {...shared} id="b" side={b} title={title('B', b)} focus={focusB} command={commandFor(scene, 'b', { show: 'heads' })} />}
        </>
    );
}
