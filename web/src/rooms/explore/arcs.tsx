// arcs.tsx - weights as lines from queries (left) to keys (right): the thicker, the larger. The selected
// row is highlighted; weights below 0.01 are not drawn.
import { useRef } from 'preact/hooks';
import * as t from '../../text/en';
import type { Provenance } from '../../ui/badge';
import { Foot } from '../../ui/foot';
import { useWidth } from '../../ui/hooks';
import type { Side } from './look';
import { weightTable } from './map';
import type { Matrix } from './numbers';
import { commandFor, pin, type ViewProps } from './scene';

const MOST_TOKENS = 64;
const LINE = 26; // pixels of a token
const NAMES = 96;
const THICKEST = 11;
const WIDEST = 620;
const LEAST = 0.01;

interface ArcsProps {
    side: Side;
    matrix: Matrix;
    focus: number;
    title: string;
    id: string;
    command: string;
    from: Provenance;
    onPin: (row: number) => void;
    onHover: (row: number) => void;
}

function Links(p: ArcsProps & { right: number }) {
    const n = p.side.look.n;
    const y = (i: number) => (i + 0.5) * LINE;
    const middle = (NAMES + p.right) / 2;
    const links = [];
    for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
            const weight = p.matrix.cell[i * n + j]! / (p.matrix.max ?? 1);
            if (weight < LEAST) continue;
            links.push(
                <path key={i * n + j} class={i === p.focus ? 'link focus' : 'link'} stroke-width={(THICKEST * weight).toFixed(2)}
                    stroke-opacity={(i === p.focus ? 0.35 + 0.65 * weight : 0.12 + 0.4 * weight).toFixed(2)}
                    d={`M${NAMES} ${y(i)}C${middle} ${y(i)} ${middle} ${y(j)} ${p.right} ${y(j)}`} />,
            );
        }
    }
    return <g>{links}</g>;
}

function Names(p: ArcsProps & { right: number }) {
    const n = p.side.look.n;
    const share = (j: number) => p.matrix.cell[p.focus * n + j]! / (p.matrix.max ?? 1);
    return (
        <g>
            {p.side.words.map((word, i) => (
                <g key={i} class={i === p.focus ? 'query focus' : 'query'} onClick={() => p.onPin(i)} onMouseEnter={() => p.onHover(i)} onMouseLeave={() => p.onHover(-1)}>
                    <rect x="0" y={i * LINE} width={NAMES} height={LINE} rx="4" />
                    <text x={NAMES - 8} y={(i + 0.5) * LINE + 4} text-anchor="end">
                        {word}
                    </text>
                </g>
            ))}
            {p.side.words.map((word, j) => (
                <text key={j} class={share(j) >= 0.1 ? 'key strong' : 'key'} x={p.right + 8} y={(j + 0.5) * LINE + 4}>
                    {word} <tspan class="quiet">{share(j) >= LEAST && p.focus >= 0 ? t.percent(share(j)) : ''}</tspan>
                </text>
            ))}
        </g>
    );
}

function Arcs(p: ArcsProps) {
    const box = useRef<HTMLDivElement>(null);
    const picture = useRef<SVGSVGElement>(null);
    const width = Math.min(useWidth(box, 480), WIDEST);
    const right = width - NAMES - 44;
    return (
        <figure class="arcs" data-map={p.id}>
            <figcaption>{p.title}</figcaption>
            <div class="box" ref={box} tabIndex={0} role="group" aria-label={p.title}>
                <svg ref={picture} width={width} height={p.side.look.n * LINE} role="img" aria-label={`${p.title}. ${t.explore.arcsAbout}`}>
                    <Links {...p} right={right} />
                    <Names {...p} right={right} />
                </svg>
            </div>
            <Foot from={p.from} name={`attention-arcs-${p.id}`} picture={() => picture.current} command={p.command}
                table={() => weightTable(p.side.words, p.side.words, p.matrix.cell, p.matrix.visible)} />
        </figure>
    );
}

export function ArcsView({ scene, focus, onHover }: ViewProps) {
    const { a, b } = scene.found;
    if (Math.max(a.look.n, b?.look.n ?? 0) > MOST_TOKENS) return <p>{t.explore.arcsTooLong(MOST_TOKENS)}</p>;
    const { from } = scene.found.reader;
    const pairs = scene.pairs ?? [];
    const toA = (row: number) => pairs.find(([, j]) => j === row)?.[0] ?? -1;
    return (
        <>
            <p class="quiet">{t.explore.arcsAbout}</p>
            <div class={b ? 'maps two' : 'maps'}>
                <Arcs id="a" from={from} side={a} matrix={scene.a} focus={focus} title={b ? `A: ${a.words.join(' ')}` : t.explore.mapTitle(scene.name)}
                    command={commandFor(scene, 'a')} onPin={pin} onHover={(row) => onHover(row, -1)} />
                {b && (
                    <Arcs id="b" from={from} side={b} matrix={scene.b!} focus={pairs.find(([i]) => i === focus)?.[1] ?? -1} title={`B: ${b.words.join(' ')}`}
                        command={commandFor(scene, 'b')} onPin={(row) => pin(toA(row))} onHover={(row) => onHover(row < 0 ? -1 : toA(row), -1)} />
                )}
            </div>
        </>
    );
}
