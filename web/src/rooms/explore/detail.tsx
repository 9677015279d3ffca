// detail.tsx - the selected row as sorted bars, its entropy next to that of all rows and heads, the
// model's answer, and switches for its heads.
import { useMemo, useRef } from 'preact/hooks';
import type { Look } from '../../engine/types';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Foot } from '../../ui/foot';
import { Heatmap, heatmapDrawing, type HeatmapProps } from '../../ui/heatmap';
import { FactorTable } from '../../ui/factors';
import { Bars } from './bars';
import { type Found, headsOff, type Side } from './look';
import { type Entropy, entropyOf, largest, ranked, rowOf, toggleHead } from './numbers';
import { commandFor, pin, type Scene } from './scene';
import { pairName } from './words';

const MOST_BARS = 16;

/** Shares of the row in focus; what does not sum to 1 by itself is made to. */
export function sharesOf(scene: Scene, focus: number): number[] {
    const row = rowOf(scene.a.cell, scene.found.a.look.n, focus);
    const sum = scene.a.max === undefined ? 1 : row.reduce((s, x) => s + x, 0) || 1;
    return row.map((x) => x / sum);
}

export function Distribution({ scene, state, focus }: { scene: Scene; state: State; focus: number }) {
    const picture = useRef<SVGSVGElement>(null);
    const { a, b } = scene.found;
    const shares = sharesOf(scene, focus);
    const focusB = scene.pairs?.find(([i]) => i === focus)?.[1] ?? -1;
    const isPair = b !== undefined && focusB >= 0;
    const pairs = isPair ? scene.pairs! : a.words.map((_, i): [number, number] => [i, -1]);
    const rowB = isPair ? rowOf(scene.b!.cell, b.look.n, focusB) : [];
    const all = pairs.map((pair) => ({
        name: isPair ? pairName(pair, a.words, b.words) : a.words[pair[0]]!,
        values: isPair ? [shares[pair[0]] ?? 0, rowB[pair[1]] ?? 0] : [shares[pair[0]]!],
    }));
    const order = ranked(all.map((bar) => Math.max(...bar.values)));
    const bars = order.slice(0, MOST_BARS).map((i) => all[i]!);
    const most = largest(bars.flatMap((bar) => bar.values));
    const entropy = entropyOf(a, scene.choice, scene.a, focus);
    const title = t.explore.rowTitle(a.words[focus]!);
    return (
        <section class="panel row" data-map="row">
            <div class="head">
                <h3>{title}</h3>
                {state.token >= 0 && <button onClick={() => pin(-1)}>{t.explore.unpin}</button>}
            </div>
            <p class="quiet">{scene.name}</p>
            <Bars title={title} series={isPair ? ['A', 'B'] : ['']} bars={bars} max={isPair ? [most, most] : [most]} show={t.explore.share} picture={picture} />
            {order.length > MOST_BARS && <p class="quiet">{t.explore.others(order.length - MOST_BARS)}</p>}
            {entropy && <p>{t.explore.entropyOf(entropy.nats, entropy.most)}</p>}
            <Foot from={scene.found.reader.from} name="attention-row" picture={() => picture.current} command={commandFor(scene, 'a')} table={() => ({
                columns: ['token', 'word', 'share'],
                rows: ranked(shares).map((j) => [j, a.words[j]!, shares[j]!]),
            })} />
        </section>
    );
}

/** Why the score is what it is: query and key of one head, place by place. */
export function Product({ scene, focus, column: hovered }: { scene: Scene; focus: number; column: number }) {
    const { look, words } = scene.found.a;
    const { layer, head } = scene.choice;
    const { n, q, k, scores } = look;
    const [, heads, , d_k] = q.shape as [number, number, number, number];
    const column = hovered >= 0 && hovered < n ? hovered : ranked(sharesOf(scene, focus))[0]!;
    const first = (layer * heads + head) * n;
    const row = (data: ArrayLike<number>, i: number) => Array.from({ length: d_k }, (_, c) => data[(first + i) * d_k + c]!);
    const factors = {
        of: t.explore.product(words[focus]!, words[column]!),
        left: 'q',
        right: 'k',
        names: Array.from({ length: d_k }, (_, c) => String(c + 1)),
        a: row(q.data, focus),
        b: row(k.data, column),
        sum: scores.data[(first + focus) * n + column]!,
    };
    const isMasked = !look.visible[focus * n + column];
    return (
        <section class="panel product" data-map="product">
            <h3>{factors.of}</h3>
            <p class="quiet">{t.explore.headName(layer, head)}. {isMasked ? t.explore.productMasked : t.explore.productAbout}</p>
            <FactorTable f={factors} end={t.explore.productEnd} decimals={2} />
            <Foot from={scene.found.reader.from} name="attention-product" command={commandFor(scene, 'a', { show: 'product', at: focus, key: column })} table={() => ({
                columns: ['place', 'q', 'k'],
                rows: factors.a.map((x, i) => [i + 1, x, factors.b[i]!]),
            })} />
        </section>
    );
}

export function sentenceOf(scene: Scene, focus: number): string {
    const { words } = scene.found.a;
    const shares = sharesOf(scene, focus);
    if (largest(shares) === 0) return t.explore.seesNothing(words[focus]!);
    const [first, second] = ranked(shares).map((j) => [words[j]!, t.explore.share(shares[j]!)] as const);
    const entropy: Entropy | undefined = entropyOf(scene.found.a, scene.choice, scene.a, focus);
    return t.explore.readout(words[focus]!, [first!, ...(second ? [second] : [])], entropy);
}

/** Entropy of every row in every head. */
export function EntropyStrip({ scene, state, dark }: { scene: Scene; state: State; dark: boolean }) {
    const { look, words } = scene.found.a;
    const map = useMemo((): HeatmapProps => {
        const [layers, heads] = look.weights.shape as [number, number];
        return {
            label: t.explore.entropyLabel,
            rows: Array.from({ length: layers * heads }, (_, i) => t.explore.headShort(Math.floor(i / heads), i % heads)),
            columns: words,
            cell: Float32Array.from(look.entropy.data, (nats) => Math.max(0, nats)),
            kind: 'weights',
            max: Math.log(Math.max(look.n, 2)),
            colors: state.explore.colors,
            number: (nats) => nats.toFixed(1),
            largest: 30,
            onPick: (place) => {
                if (!place) return;
                store.set((s) => {
                    Object.assign(s, { layer: Math.floor(place.row / heads), head: place.row % heads, token: place.column });
                    s.explore.aggregate = 'head';
                });
            },
        };
    }, [look, state.explore.colors, dark]);
    return (
        <section class="panel entropy" data-map="entropy">
            <h3>{t.explore.entropy}</h3>
            <p class="quiet">{t.explore.entropyAbout(Math.log(look.n))}</p>
            {useMemo(() => <Heatmap {...map} />, [map])}
            <Foot from={scene.found.reader.from} name="attention-entropy" picture={() => heatmapDrawing(map)} command={commandFor(scene, 'a', { show: 'entropy' })} table={() => ({
                columns: ['head', ...words.map((word, i) => `${i} ${word}`)],
                rows: map.rows.map((name, r) => [name, ...rowOf(map.cell, look.n, r)]),
            })} />
        </section>
    );
}

type Answers = Look['answers'][number];

/** "cat 99 %, red 98 %" */
function best(answers: Answers): string {
    return answers.map((slot) => `${slot[0]!.word} ${t.percent(slot[0]!.probability)}`).join(', ');
}

function answersAt(side: Side, at: number): Answers | undefined {
    const answers = side.look.answers[at];
    return answers && answers.length > 0 ? answers : undefined;
}

/** What the model says at the token it is asked about. */
export function Answer({ found, state }: { found: Found; state: State }) {
    const { a, b } = found;
    if (!found.reader.info) return <p class="answer quiet">{t.explore.noAnswer}</p>;
    const sides = b ? [['A ', a] as const, ['B ', b] as const] : [['', a] as const];
    return (
        <div class="answer" data-answers>
            {sides.map(([name, side]) => {
                const at = questionOf(side, state);
                const answers = answersAt(side, at);
                return answers && (
                    <p key={name}>
                        {name && <span class="quiet">{name}</span>}
                        {t.explore.answers(side.words[at]!)}
                        {answers.map((slot, s) => (
                            <>
                                {s > 0 && ', '}
                                <span class="one"><strong>{slot[0]!.word}</strong> {t.percent(slot[0]!.probability)}</span>
                            </>
                        ))}
                        {!side.asked.includes(at) && <span class="quiet"> {t.explore.notAsked}</span>}
                    </p>
                );
            })}
        </div>
    );
}

/** The pinned token if it is one the model answers at, else the first of those. */
function questionOf(side: Side, state: State): number {
    const isMeant = state.token >= 0 && state.token < side.look.n && (side.asked.includes(state.token) || side.asked.length === 0);
    return isMeant ? state.token : (side.asked[0] ?? side.look.n - 1);
}

/** The probability that the look gives to these words; below the best five only a bound is known. */
function chanceOf(look: Look, at: number, words: string[]): string {
    return words
        .map((word, slot) => {
            const list = look.answers[at]![slot]!;
            const found = list.find((answer) => answer.word === word);
            return `${word} ${found ? t.percent(found.probability) : `< ${t.percent(list[list.length - 1]!.probability)}`}`;
        })
        .join(', ');
}

function Effect({ found, state }: { found: Found; state: State }) {
    const { a, allOn } = found;
    const at = questionOf(a, state);
    const before = allOn?.answers[at];
    if (!before || before.length === 0) return null;
    return (
        <p class="effect" data-effect>
            {t.explore.effect(a.words[at]!, best(before), chanceOf(a.look, at, before.map((slot) => slot[0]!.word)), best(a.look.answers[at]!))}
        </p>
    );
}

export function Switches({ found, state }: { found: Found; state: State }) {
    const { reader } = found;
    const off = headsOff(state.explore.off, reader);
    return (
        <section class="panel switches" id="switches" tabIndex={-1}>
            <h3>{t.explore.switches}</h3>
            <p class="quiet">{t.explore.switchesAbout}</p>
            {Array.from({ length: reader.layers }, (_, l) => (
                <div class="line" key={l}>
                    <span>{t.explore.layerName(l)}</span>
                    {Array.from({ length: reader.heads }, (_, h) => (
                        <label class="control check" key={h}>
                            <input type="checkbox" checked={!off.includes(l * reader.heads + h)}
                                onChange={() => store.set((s) => void (s.explore.off = toggleHead(s.explore.off, l, h, reader)))} />
                            {t.explore.headOnly(h)}
                        </label>
                    ))}
                </div>
            ))}
            {reader.info ? <Effect found={found} state={state} /> : <p class="quiet">{t.explore.noAnswer}</p>}
        </section>
    );
}
