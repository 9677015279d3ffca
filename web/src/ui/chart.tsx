// chart.tsx - line charts as SVG, so that they can be saved unchanged. Series differ in colour and
// dash; a hidden table has the same numbers for screen readers.
import { useRef } from 'preact/hooks';
import { useWidth } from './hooks';
import { type Axis, type Scale, scaleOf, tickText } from './ticks';

export interface Series {
    name: string;
    color: 'blue' | 'orange' | 'green' | 'ink';
    dash?: boolean;
    x: ArrayLike<number>;
    y: ArrayLike<number>;
}

export interface Rule {
    at: number;
    vertical?: boolean;
    label: string;
}

export interface ChartProps {
    title: string;
    x: Axis;
    y: Axis;
    series: Series[];
    rules?: Rule[];
    height?: number;
}

const LEFT = 52;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 40;
const MOST_ROWS = 40; // of the hidden table

interface Frame {
    x: Scale;
    y: Scale;
    px: (value: number) => number;
    py: (value: number) => number;
    width: number;
    height: number;
}

function frameOf(p: ChartProps, width: number, height: number): Frame {
    const all = (pick: (s: Series) => ArrayLike<number>) => p.series.flatMap((s) => Array.from(pick(s)));
    const extra = (vertical: boolean) => (p.rules ?? []).filter((r) => !!r.vertical === vertical).map((r) => r.at);
    const x = scaleOf(p.x, [...all((s) => s.x), ...extra(true)], Math.max(2, width / 90));
    const y = scaleOf(p.y, [...all((s) => s.y), ...extra(false)], Math.max(2, height / 45));
    return {
        x,
        y,
        width,
        height,
        px: (v) => LEFT + x.at(v) * (width - LEFT - RIGHT),
        py: (v) => height - BOTTOM - y.at(v) * (height - TOP - BOTTOM),
    };
}

function path(s: Series, f: Frame): string {
    let d = '';
    let pen = false;
    for (let i = 0; i < s.x.length; i++) {
        const px = f.px(s.x[i]!);
        const py = f.py(s.y[i]!);
        const drawn = Number.isFinite(px) && Number.isFinite(py);
        if (drawn) d += `${pen ? 'L' : 'M'}${px.toFixed(1)} ${py.toFixed(1)}`;
        pen = drawn;
    }
    return d;
}

function Axes({ p, f }: { p: ChartProps; f: Frame }) {
    const bottom = f.height - BOTTOM;
    return (
        <g class="axes">
            {f.x.ticks.map((t) => (
                <g key={t}>
                    <line class="grid" x1={f.px(t)} x2={f.px(t)} y1={TOP} y2={bottom} />
                    <text x={f.px(t)} y={bottom + 15} text-anchor="middle">
                        {tickText(t)}
                    </text>
                </g>
            ))}
            {f.y.ticks.map((t) => (
                <g key={t}>
                    <line class="grid" x1={LEFT} x2={f.width - RIGHT} y1={f.py(t)} y2={f.py(t)} />
                    <text x={LEFT - 6} y={f.py(t) + 4} text-anchor="end">
                        {tickText(t)}
                    </text>
                </g>
            ))}
            <text x={(LEFT + f.width - RIGHT) / 2} y={f.height - 6} text-anchor="middle">
                {p.x.label}
            </text>
            <text transform={`translate(12 ${(TOP + bottom) / 2}) rotate(-90)`} text-anchor="middle">
                {p.y.label}
            </text>
        </g>
    );
}

function Rules({ p, f }: { p: ChartProps; f: Frame }) {
    return (
        <g class="rules">
            {(p.rules ?? []).map((r) =>
                r.vertical ? (
                    <g key={r.label}>
                        <line x1={f.px(r.at)} x2={f.px(r.at)} y1={TOP} y2={f.height - BOTTOM} />
                        <text x={f.px(r.at) + 4} y={TOP + 12}>
                            {r.label}
                        </text>
                    </g>
                ) : (
                    <g key={r.label}>
                        <line x1={LEFT} x2={f.width - RIGHT} y1={f.py(r.at)} y2={f.py(r.at)} />
                        <text x={f.width - RIGHT - 2} y={f.py(r.at) - 4} text-anchor="end">
                            {r.label}
                        </text>
                    </g>
                ),
            )}
        </g>
    );
}

function Legend({ series }: { series: Series[] }) {
    if (series.length < 2) return null;
    return (
        <ul class="legend">
            {series.map((s) => (
                <li key={s.name}>
                    <svg width="28" height="10" aria-hidden="true">
                        <line x1="0" x2="28" y1="5" y2="5" class={`series ${s.color} ${s.dash ? 'dash' : ''}`} />
                    </svg>{' '}
                    {s.name}
                </li>
            ))}
        </ul>
    );
}

/** The same numbers as a table: thinned when there are many. In a box: a table is never narrower than its words. */
function Table({ p }: { p: ChartProps }) {
    const rowsOf = (s: Series) => {
        const every = Math.max(1, Math.ceil(s.x.length / MOST_ROWS));
        return Array.from(s.x).map(
            (x, i) =>
                i % every === 0 && (
                    <tr key={`${s.name} ${i}`}>
                        <th scope="row">{`${s.name}, ${p.x.label} ${tickText(x)}`}</th>
                        <td>{Number(s.y[i]).toPrecision(4)}</td>
                    </tr>
                ),
        );
    };
    return (
        <div class="unseen">
            <table>
                <caption>{p.title}</caption>
                <tbody>{p.series.map(rowsOf)}</tbody>
            </table>
        </div>
    );
}

export function Chart(p: ChartProps) {
    const box = useRef<HTMLElement>(null);
    const width = Math.max(160, useWidth(box, 480));
    const f = frameOf(p, width, p.height ?? 240);
    return (
        <figure class="chart" ref={box}>
            <figcaption>{p.title}</figcaption>
            <svg width={f.width} height={f.height} role="img" aria-label={p.title}>
                <Axes p={p} f={f} />
                <Rules p={p} f={f} />
                {p.series.map((s) => (
                    <path key={s.name} class={`series ${s.color} ${s.dash ? 'dash' : ''}`} d={path(s, f)} />
                ))}
            </svg>
            <Legend series={p.series} />
            <Table p={p} />
        </figure>
    );
}
