// shift.tsx - what the layers do to each token: where its vector lies before the first and after the last,
// on the two axes along which all these vectors differ most.
import { useRef } from 'preact/hooks';
import * as t from '../../text/en';
import type { Provenance } from '../../ui/badge';
import { useWidth } from '../../ui/hooks';
import { Foot } from './foot';
import type { Side } from './look';
import { pin, type ViewProps } from './scene';

const MOST_NAMES = 64;
const MARGIN = 48;
const LABEL = 13; // pixels of a line of text
const WIDEST = 640;

interface Point {
    x: number;
    y: number;
}

interface Arrow {
    word: string;
    before: Point;
    after: Point;
    label: Point;
}

function arrowsOf(side: Side, width: number, height: number): Arrow[] {
    const { n, shift } = side.look;
    const value = (i: number, axis: number) => shift.data[2 * i + axis]!;
    const scale = (axis: number, size: number) => {
        const all = Array.from({ length: 2 * n }, (_, i) => value(i, axis));
        const low = Math.min(...all);
        const span = Math.max(...all) - low || 1;
        return (i: number) => MARGIN + ((value(i, axis) - low) / span) * (size - 2 * MARGIN);
    };
    const x = scale(0, width);
    const y = scale(1, height);
    const at = (i: number): Point => ({ x: x(i), y: height - y(i) });
    const arrows = side.words.map((word, i) => ({ word, before: at(i), after: at(n + i), label: { ...at(n + i) } }));
    apart(arrows.map((arrow) => arrow.label));
    return arrows;
}

/** Moves labels down until none lies on another. */
function apart(labels: Point[]): void {
    const placed: Point[] = [];
    for (const label of [...labels].sort((a, b) => a.y - b.y)) {
        for (const other of placed) if (Math.abs(other.x - label.x) < 52 && label.y - other.y < LABEL) label.y = Math.max(label.y, other.y + LABEL);
        placed.push(label);
        placed.sort((a, b) => a.y - b.y);
    }
}

function Shift(p: { side: Side; from: Provenance; focus: number; title: string; id: string; onPin: (row: number) => void }) {
    const box = useRef<HTMLDivElement>(null);
    const picture = useRef<SVGSVGElement>(null);
    const width = Math.min(useWidth(box, 480), WIDEST);
    const height = Math.round(Math.max(300, width * 0.72));
    const arrows = arrowsOf(p.side, width, height);
    const hasNames = arrows.length <= MOST_NAMES;
    const order = [...arrows.keys()].sort((i, j) => Number(i === p.focus) - Number(j === p.focus)); // the focus lies on top
    const { n, shift } = p.side.look;
    return (
        <figure class="shift" data-map={p.id}>
            <figcaption>{p.title}</figcaption>
            <div class="box" ref={box}>
                <svg ref={picture} width={width} height={height} role="img" aria-label={`${p.title}. ${t.explore.shiftAbout}`}>
                    <defs>
                        <marker id={`tip-${p.id}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
                            <path d="M0 0L8 4L0 8z" class="tip" />
                        </marker>
                    </defs>
                    {order.map((i) => {
                        const { word, before, after, label } = arrows[i]!;
                        const isLeftward = after.x < before.x;
                        return (
                            <g key={i} class={i === p.focus ? 'token focus' : 'token'} onClick={() => p.onPin(i)}>
                                <circle class="before" cx={before.x} cy={before.y} r="4" />
                                <line x1={before.x} y1={before.y} x2={after.x} y2={after.y} marker-end={`url(#tip-${p.id})`} />
                                {hasNames && (
                                    <text x={label.x + (isLeftward ? -7 : 7)} y={label.y + 4} text-anchor={isLeftward ? 'end' : 'start'}>
                                        {word}
                                    </text>
                                )}
                                {i === p.focus && (
                                    <text class="quiet" x={before.x} y={before.y - 10} text-anchor={before.x > width / 2 ? 'end' : 'start'}>
                                        {t.explore.before(word)}
                                    </text>
                                )}
                            </g>
                        );
                    })}
                </svg>
            </div>
            <Foot from={p.from} name={`meaning-shift-${p.id}`} picture={() => picture.current} table={() => ({
                columns: ['token', 'word', 'before_1', 'before_2', 'after_1', 'after_2'],
                rows: p.side.words.map((word, i) => [i, word, ...[i, n + i].flatMap((at) => [shift.data[2 * at]!, shift.data[2 * at + 1]!])]),
            })} />
        </figure>
    );
}

export function ShiftView({ scene, focus }: ViewProps) {
    const { a, b, reader: { from } } = scene.found;
    const pairs = scene.pairs ?? [];
    return (
        <>
            <p class="quiet">{t.explore.shiftAbout} {b && t.explore.shiftAxes}</p>
            <div class={b ? 'maps two' : 'maps'}>
                <Shift id="a" from={from} side={a} focus={focus} title={b ? `A: ${a.words.join(' ')}` : t.explore.shiftTitle} onPin={pin} />
                {b && (
                    <Shift id="b" from={from} side={b} focus={pairs.find(([i]) => i === focus)?.[1] ?? -1} title={`B: ${b.words.join(' ')}`}
                        onPin={(row) => pin(pairs.find(([, j]) => j === row)?.[0] ?? -1)} />
                )}
            </div>
        </>
    );
}
