// growth.tsx - what grows with the length of the text and what does not: a table for n and twice n, the
// pairs of longer texts, and three charts with logarithmic axes.
import * as t from '../../text/en';
import { Chart, type Series } from '../../ui/chart';
import type { Table } from '../../ui/export';
import { Foot } from '../../ui/foot';
import { byteText, countText, flopText } from '../../ui/units';
import { type Count, type Counts, costCommand, D_MODEL, figureCommand, lengthOfEqualWork, lengthOfShare, type Settings } from './counts';
import { Picture } from './picture';

const words = t.cost.growth;
const MIB = 1024 * 1024;
/** Where the slider stands. */
const here = ({ n }: Settings) => ({ at: n, vertical: true, label: '' });
const X = { label: words.n, log: 10, min: 32, max: 1048576 } as const;

/** Each line: its name, its number and how to write it. */
const LINES: [keyof typeof words.what, (c: Count) => number, (x: number) => string][] = [
    ['pairs', (c) => c.pairs, countText],
    ['visiblePairs', (c) => c.visiblePairs, countText],
    ['flops', (c) => c.flops, flopText],
    ['backwardFlops', (c) => c.backwardFlops, flopText],
    ['denseBytes', (c) => c.denseBytes, byteText],
    ['bytes', (c) => c.bytes, byteText],
    ['projections', (c) => c.projections, flopText],
    ['scratchBytes', (c) => c.scratchBytes, byteText],
];

/** "× 4", or that it stays. */
function growth(from: number, to: number): string {
    const times = to / from;
    return Math.abs(times - 1) < 0.005 ? words.stays : `× ${Number(times.toFixed(2))}`;
}

export function Growth({ counts: { now, twice, words: longer }, set }: { counts: Counts; set: Settings }) {
    const lines = LINES.filter(([name]) => name !== 'visiblePairs' || set.causal);
    const table = (): Table => ({
        columns: ['what', `n=${now.n}`, `n=${twice.n}`],
        rows: lines.map(([name, of]) => [name, of(now), of(twice)]),
    });
    return (
        <section id="cost-growth" class="panel">
            <h3>{words.title}</h3>
            <div class="wide">
                <table class="numbers">
                    <thead>
                        <tr>
                            <th scope="col">{words.at(set.n, set.d, set.heads, set.causal)}</th>
                            <th scope="col">{words.now}</th>
                            <th scope="col">{words.twice}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {lines.map(([name, of, text]) => (
                            <tr key={name}>
                                <th scope="row">{words.what[name]}</th>
                                <td>
                                    <data value={of(now)} data-count={name} title={countText(of(now))}>
                                        {text(of(now))}
                                    </data>
                                </td>
                                <td>{growth(of(now), of(twice))}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <p>{words.story}</p>
            <Words counts={longer} />
            <p class="quiet">{words.words.about}</p>
            <Foot name="cost-growth" from={{ kind: 'formula' }} table={table} command={costCommand(set)} showsCommand />
        </section>
    );
}

function Words({ counts }: { counts: Count[] }) {
    return (
        <div class="wide">
            <table class="numbers" id="cost-words">
                <thead>
                    <tr>
                        {words.words.columns.map((name) => (
                            <th key={name} scope="col">
                                {name}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {counts.map((c) => (
                        <tr key={c.n}>
                            <th scope="row">{countText(c.n)}</th>
                            <td>
                                <data value={c.pairs} title={countText(c.pairs)}>
                                    {words.words.power(c.pairs)}
                                </data>
                            </td>
                            <td>{byteText(c.denseBytes)}</td>
                            <td>{flopText(c.flops)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function line(curve: Count[], of: (c: Count) => number, look: Pick<Series, 'name' | 'color' | 'dash'>): Series {
    return { ...look, x: curve.map((c) => c.n), y: curve.map(of) };
}

function tableOf(series: Series[]): Table {
    const x = Array.from(series[0]!.x);
    return { columns: ['n', ...series.map((s) => s.name)], rows: x.map((n, i) => [n, ...series.map((s) => s.y[i]!)]) };
}

function Memory({ curve, set }: { curve: Count[]; set: Settings }) {
    const series = [
        line(curve, (c) => (c.bytes + c.denseBytes) / MIB, { name: words.memory.dense, color: 'orange' }),
        line(curve, (c) => (c.bytes + c.scratchBytes) / MIB, { name: words.memory.tiled, color: 'blue' }),
        line(curve, (c) => c.bytes / MIB, { name: words.memory.inputs, color: 'green', dash: true }),
    ];
    const rules = [
        { at: lengthOfShare(0.5, set), vertical: true, label: words.memory.equal(lengthOfShare(0.5, set)) },
        { at: 16 * 1024, label: words.memory.laptop },
        here(set),
    ];
    return (
        <Picture id="cost-memory" from={{ kind: 'formula' }} command={figureCommand('F5', set)} table={() => tableOf(series)}>
            <Chart title={words.memory.title} x={X} y={{ label: 'MiB', log: 10 }} series={series} rules={rules} height={280} />
            <p>{words.memory.about}</p>
        </Picture>
    );
}

function Share({ curve, set }: { curve: Count[]; set: Settings }) {
    const series = [line(curve, (c) => 100 * c.share, { name: words.share.name, color: 'orange' })];
    const rules = [
        { at: lengthOfShare(0.5, set), vertical: true, label: words.share.reached(50, lengthOfShare(0.5, set)) },
        { at: lengthOfShare(0.98, set), vertical: true, label: words.share.reached(98, Math.round(lengthOfShare(0.98, set))) },
        here(set),
    ];
    return (
        <Picture id="cost-share" from={{ kind: 'formula' }} command={figureCommand('F5', set)} table={() => tableOf(series)}>
            <Chart title={words.share.title} x={X} y={{ label: '%', min: 0, max: 118 }} series={series} rules={rules} height={280} />
            <p>{words.share.about}</p>
        </Picture>
    );
}

function Operations({ curve, set }: { curve: Count[]; set: Settings }) {
    const equal = lengthOfEqualWork(set);
    const series = [
        line(curve, (c) => (c.attention + c.projections) / 1e9, { name: words.work.total, color: 'ink' }),
        line(curve, (c) => c.attention / 1e9, { name: words.work.attention, color: 'orange' }),
        line(curve, (c) => c.projections / 1e9, { name: words.work.projections, color: 'green', dash: true }),
    ];
    return (
        <Picture id="cost-work" from={{ kind: 'formula' }} command={figureCommand('F6', set)} table={() => tableOf(series)}>
            <Chart
                title={words.work.title}
                x={X}
                y={{ label: 'GFLOP', log: 10 }}
                series={series}
                rules={[{ at: equal, vertical: true, label: words.work.equal(equal) }, here(set)]}
                height={280}
            />
            <p>{words.work.about(D_MODEL)}</p>
        </Picture>
    );
}

export function Charts({ counts: { curve }, set }: { counts: Counts; set: Settings }) {
    return (
        <>
            <Memory curve={curve} set={set} />
            <Share curve={curve} set={set} />
            <Operations curve={curve} set={set} />
        </>
    );
}
