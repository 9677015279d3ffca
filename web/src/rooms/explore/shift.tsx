// shift.tsx - what the layers do to each token: its vector before the first layer and after the last, on
// the two axes along which all these vectors differ most; two sentences share one picture and its axes.
import { useRef } from 'preact/hooks';
import type { Tensor } from '../../engine/types';
import * as t from '../../text/en';
import { Foot } from '../../ui/foot';
import { useWidth } from '../../ui/hooks';
import type { Side } from './look';
import { commandFor, pin, type ViewProps } from './scene';

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
    side: Side;
    index: number; // in its sentence
    name: 'a' | 'b';
    before: Point;
    after: Point;
    label: Point;
}

function arrowsOf(sides: Side[], points: Tensor, width: number, height: number): Arrow[] {
    const scale = (axis: number, size: number) => {
        const all = Array.from(points.data).filter((_, i) => i % 2 === axis);
        const low = Math.min(...all);
        const span = Math.max(...all) - low || 1;
        return (i: number) => MARGIN + ((all[i]! - low) / span) * (size - 2 * MARGIN);
    };
    const x = scale(0, width);
    const y = scale(1, height);
    const at = (i: number): Point => ({ x: x(i), y: height - y(i) });
    const arrows = sides.flatMap((side, s) => {
        const first = s * 2 * sides[0]!.look.n;
        const name = s === 0 ? ('a' as const) : ('b' as const);
        const after = (index: number) => at(first + side.look.n + index);
        return side.words.map((word, index) => ({ word, side, index, name, before: at(first + index), after: after(index), label: after(index) }));
    });
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

function Token({ arrow: { word, name, before, after, label }, isFocus, hasName, onPin }: { arrow: Arrow; isFocus: boolean; hasName: boolean; onPin: () => void }) {
    const isLeftward = after.x < before.x;
    return (
        <g class={`token ${name} ${isFocus ? 'focus' : ''}`} onClick={onPin}>
            <circle class="before" cx={before.x} cy={before.y} r="4" />
            <line x1={before.x} y1={before.y} x2={after.x} y2={after.y} marker-end="url(#tip)" />
            {hasName && (
                <text x={label.x + (isLeftward ? -7 : 7)} y={label.y + 4} text-anchor={isLeftward ? 'end' : 'start'}>
                    {word}
                </text>
            )}
            {isFocus && name === 'a' && (
                <text class="quiet" x={before.x} y={before.y - 10} text-anchor={isLeftward ? 'start' : 'end'}>
                    {t.explore.before(word)}
                </text>
            )}
        </g>
    );
}

export function ShiftView({ scene, focus }: ViewProps) {
    const box = useRef<HTMLDivElement>(null);
    const picture = useRef<SVGSVGElement>(null);
    const width = Math.min(useWidth(box, 480), WIDEST);
    const height = Math.round(Math.max(300, width * 0.72));
    const { a, b, shift, reader } = scene.found;
    const arrows = shift ? arrowsOf(b ? [a, b] : [a], shift, width, height) : []; // it comes with the next answer
    const toA = (arrow: Arrow) => (arrow.side === a ? arrow.index : (scene.pairs!.find(([, j]) => j === arrow.index)?.[0] ?? -1));
    const ordered = arrows.map((arrow) => ({ arrow, isFocus: toA(arrow) === focus })).sort((x, y) => Number(x.isFocus) - Number(y.isFocus)); // on top
    return (
        <figure class="shift" data-map="shift">
            <figcaption>{t.explore.shiftTitle}</figcaption>
            <p class="quiet">{t.explore.shiftAbout}</p>
            {b && [a, b].map((side, s) => <p key={s} class={`key ${'ab'[s]}`}>{'AB'[s]}: <bdi>{side.words.join(' ')}</bdi></p>)}
            <div class="box" ref={box}>
                <svg ref={picture} width={width} height={height} role="img" aria-label={`${t.explore.shiftTitle}. ${t.explore.shiftAbout}`}>
                    <defs>
                        <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
                            <path d="M0 0L8 4L0 8z" class="tip" />
                        </marker>
                    </defs>
                    {ordered.map(({ arrow, isFocus }) => (
                        <Token key={`${arrow.name} ${arrow.index}`} arrow={arrow} isFocus={isFocus} hasName={isFocus || arrows.length <= MOST_NAMES} onPin={() => pin(toA(arrow))} />
                    ))}
                </svg>
            </div>
            <Foot from={reader.from} name="meaning-shift" picture={() => picture.current} command={commandFor(scene, 'a', { show: 'shift', compare: scene.found.settings.compare })} table={() => ({
                columns: ['sentence', 'token', 'word', 'before_1', 'before_2', 'after_1', 'after_2'],
                rows: arrows.map(({ name, index, word, side }, i) => {
                    const before = side === a ? i : i + a.look.n;
                    const numbers = [before, before + side.look.n].flatMap((at) => [shift!.data[2 * at]!, shift!.data[2 * at + 1]!]);
                    return [name, index, word, ...numbers];
                }),
            })} />
        </figure>
    );
}
