// map.tsx - weights as a heatmap; for two sentences, both and their difference, with aligned words.
import { useRef, useState } from 'preact/hooks';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import type { Provenance } from '../../ui/badge';
import { ColorBar } from '../../ui/color-bar';
import { Choice, optionsOf } from '../../ui/controls';
import type { Table } from '../../ui/export';
import { Foot } from '../../ui/foot';
import { Heatmap, heatmapDrawing, type HeatmapProps } from '../../ui/heatmap';
import { show } from '../../ui/numerals';
import type { Side } from './look';
import { differenceOf, endsOf, largest, type Matrix, ranked } from './numbers';
import { commandFor, pin, type Scene, type ViewProps } from './scene';
import { pairName } from './words';

const SIDE_LARGEST = 34; // pixels of a cell when three maps stand together
const wholePercent = (x: number) => (x < 0.005 ? '·' : String(Math.round(100 * x)));
const signedPercent = (x: number) => (Math.abs(x) < 0.005 ? '·' : `${x > 0 ? '+' : '−'}${Math.round(100 * Math.abs(x))}`);

export function weightTable(rows: string[], columns: string[], cell: ArrayLike<number>, visible?: ArrayLike<number>): Table {
    const lines = rows.flatMap((query, i) =>
        columns.map((key, j) => {
            const at = i * columns.length + j;
            return [i, query, j, key, cell[at]!, visible && !visible[at] ? 1 : 0];
        }),
    );
    return { columns: ['query', 'query_word', 'key', 'key_word', 'value', 'masked'], rows: lines };
}

/** The colour scale with its ends, what it means, and what hatching is. */
export function Legend(p: { kind: 'weights' | 'signed'; state: State; max: number | undefined; hasMasked: boolean }) {
    const { colors, range } = p.state.explore;
    const [low, high] = p.kind === 'signed' ? [`−${p.max!.toPrecision(2)}`, `+${p.max!.toPrecision(2)}`] : endsOf(range, p.max);
    return (
        <p class="scale">
            <span>{low}</span>
            <ColorBar kind={p.kind} colors={colors} />
            <span>{high}</span>
            <span class="quiet">{p.kind === 'signed' ? t.explore.legend.signed : t.explore.legend[range]}</span>
            {p.hasMasked && (
                <span class="quiet">
                    <i class="hatch" aria-hidden="true" /> {t.explore.legend.masked}
                </span>
            )}
        </p>
    );
}

export function ScaleChoices({ state }: { state: State }) {
    return (
        <div class="line">
            <Choice label={t.explore.range} value={state.explore.range} options={optionsOf(t.explore.ranges)}
                onChange={(range) => store.set((s) => void (s.explore.range = range))} />
            <Choice label={t.explore.colors} value={state.explore.colors} options={optionsOf(t.explore.palettes)}
                onChange={(colors) => store.set((s) => void (s.explore.colors = colors))} />
        </div>
    );
}

const TOP = 10;

/** The largest cells in words, for those who would rather read than look. */
function Top({ map: { rows, columns, cell, visible } }: { map: HeatmapProps }) {
    const [isOpen, setOpen] = useState(false);
    const order = isOpen ? ranked(Array.from(cell, (x, i) => (visible && !visible[i] ? -1 : Math.abs(x)))).slice(0, TOP) : [];
    return (
        <details class="top" onToggle={(e) => setOpen(e.currentTarget.open)}>
            <summary>{t.explore.top}</summary>
            <table>
                <tbody>
                    {order.map((i) => (
                        <tr key={i}>
                            <th scope="row"><bdi>{rows[Math.floor(i / columns.length)]}</bdi> → <bdi>{columns[i % columns.length]}</bdi></th>
                            <td>{show(cell[i]!, { decimals: 4, exponent: false })}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </details>
    );
}

function Figure(p: { id: string; title: string; map: HeatmapProps; state: State; from: Provenance; command: string }) {
    const last = useRef(p.map);
    last.current = p.map;
    const hasMasked = !!p.map.visible && Array.prototype.includes.call(p.map.visible, 0);
    const max = p.map.kind === 'signed' ? (p.map.max ?? 1) : p.map.max;
    return (
        <figure class="map" data-map={p.id}>
            <figcaption>{p.title}</figcaption>
            <Heatmap {...p.map} />
            <Legend kind={p.map.kind} state={p.state} max={max} hasMasked={hasMasked} />
            <Top map={p.map} />
            <Foot from={p.from} name={`attention-${p.id}`} picture={() => heatmapDrawing(last.current)} command={p.command}
                table={() => weightTable(p.map.rows, p.map.columns, p.map.cell, p.map.visible)} />
        </figure>
    );
}

function mapOf(p: ViewProps, side: Side, matrix: Matrix, row: number, label: string): HeatmapProps {
    const { colors, range } = p.state.explore;
    return {
        label, colors, range,
        rows: side.words,
        columns: side.words,
        cell: matrix.cell,
        visible: matrix.visible,
        kind: 'weights',
        max: matrix.max,
        number: matrix.max === undefined ? wholePercent : (x) => (x === 0 ? '·' : x.toPrecision(2)),
        pinnedRow: row,
    };
}

function differenceMap(p: ViewProps, scene: Scene): HeatmapProps {
    const { a, b } = scene.found;
    const pairs = scene.pairs!;
    const names = pairs.map((pair) => pairName(pair, a.words, b!.words));
    const { cell, visible } = differenceOf(pairs, scene.a, scene.b!, a.look.n, b!.look.n);
    const isAbsolute = p.state.explore.range === 'absolute' && scene.a.max === undefined;
    return {
        label: t.explore.differenceLabel,
        rows: names,
        columns: names,
        cell, visible,
        kind: 'signed',
        max: isAbsolute ? 1 : largest(cell.map(Math.abs)) || 1,
        number: signedPercent,
        pinnedRow: pairs.findIndex(([i]) => i === p.focus),
        largest: SIDE_LARGEST,
    };
}

export function MapView(p: ViewProps) {
    const { scene, state } = p;
    const { a, b } = scene.found;
    const events = (rowIn: (row: number) => number) => ({
        onPick: (place: { row: number } | null) => pin(place ? rowIn(place.row) : -1),
        onHover: (place: { row: number; column: number } | null) => p.onHover(place ? rowIn(place.row) : -1, place?.column ?? -1),
    });
    const label = t.explore.mapLabel(scene.name);
    const size = b ? { largest: SIDE_LARGEST } : {};
    const first = { ...mapOf(p, a, scene.a, p.focus, label), ...events((row) => row), ...size };
    const figure = { state, from: scene.found.reader.from };
    const toA = (column: 0 | 1) => (row: number) => (column === 0 ? (scene.pairs![row]?.[0] ?? -1) : (scene.pairs!.find(([, j]) => j === row)?.[0] ?? -1));
    return (
        <div class={b ? 'maps three' : 'maps'}>
            <Figure {...figure} id="a" title={b ? `A: ${a.words.join(' ')}` : t.explore.mapTitle(scene.name)} map={first} command={commandFor(scene, 'a')} />
            {b && (
                <>
                    <Figure {...figure} id="b" title={`B: ${b.words.join(' ')}`} command={commandFor(scene, 'b')}
                        map={{ ...mapOf(p, b, scene.b!, scene.pairs!.find(([i]) => i === p.focus)?.[1] ?? -1, t.explore.mapLabelB), ...events(toA(1)), ...size }} />
                    <Figure {...figure} id="difference" title={t.explore.difference} command={commandFor(scene, 'a', { compare: scene.found.settings.compare })} map={{ ...differenceMap(p, scene), ...events(toA(0)) }} />
                </>
            )}
        </div>
    );
}
