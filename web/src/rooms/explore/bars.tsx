// bars.tsx - named numbers as horizontal bars, one or two for each name, as SVG so that it can be saved;
// a table next to it has the same numbers for screen readers.
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { useWidth } from '../../ui/hooks';

export interface Bar {
    name: string;
    values: number[]; // one for each series
    note?: string;
}

interface BarsProps {
    title: string;
    series: string[]; // names; with one of them there is no legend
    bars: Bar[];
    max: number[]; // where the bars of each series end
    show: (value: number) => string;
    picture?: RefObject<SVGSVGElement>;
    names?: number; // pixels for the names
}

const THICK = 14;
const THIN = 13;
const GAP = 7;
const NUMBER = 62;

function Row({ bar, at, p, length }: { bar: Bar; at: number; p: Required<Pick<BarsProps, 'names' | 'max' | 'show'>>; length: number }) {
    const size = bar.values.length > 1 ? THIN : THICK;
    const x = p.names + 6;
    return (
        <g transform={`translate(0 ${at})`}>
            <text x={p.names} y={(size * bar.values.length) / 2 + 4} text-anchor="end">
                {bar.name}
            </text>
            {bar.values.map((value, s) => {
                const most = p.max[s] || 1;
                const width = Math.max(value > 0 ? 1 : 0, (length * Math.min(value, most)) / most);
                return (
                    <g key={s}>
                        <rect class={`bar s${s}`} x={x} y={s * size} width={width} height={size - 1} rx="2" />
                        <text class="value" x={x + width + 5} y={s * size + size / 2 + 3.5}>
                            {p.show(value)}
                        </text>
                    </g>
                );
            })}
            {bar.note && (
                <text class="note" x={x + 60} y={size / 2 + 4}>
                    {bar.note}
                </text>
            )}
        </g>
    );
}

function Table({ p }: { p: BarsProps }) {
    return (
        <table class="unseen">
            <caption>{p.title}</caption>
            <tbody>
                {p.bars.map((bar, i) => (
                    <tr key={i}>
                        <th scope="row">{bar.name}</th>
                        {bar.values.map((value, s) => (
                            <td key={s}>{`${p.series[s] ?? ''} ${p.show(value)}${bar.note ? `, ${bar.note}` : ''}`}</td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function Bars(p: BarsProps) {
    const box = useRef<HTMLDivElement>(null);
    const width = useWidth(box, 320);
    const names = p.names ?? 92;
    const many = p.series.length > 1;
    const step = (many ? p.series.length * THIN : THICK) + GAP;
    return (
        <div class="bars" ref={box}>
            {many && (
                <ul class="legend">
                    {p.series.map((name, s) => (
                        <li key={s}>
                            <svg width="14" height="10" aria-hidden="true">
                                <rect class={`bar s${s}`} width="14" height="10" rx="2" />
                            </svg>{' '}
                            {name}
                        </li>
                    ))}
                </ul>
            )}
            <svg ref={p.picture} width={width} height={p.bars.length * step + 2} aria-hidden="true">
                {p.bars.map((bar, i) => (
                    <Row key={i} bar={bar} at={i * step + 2} p={{ names, max: p.max, show: p.show }} length={Math.max(20, width - names - NUMBER)} />
                ))}
            </svg>
            <Table p={p} />
        </div>
    );
}
