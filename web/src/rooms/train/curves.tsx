// curves.tsx - loss, held-out numbers and gradient norm against the step; the previous run is dashed.
import { useRef } from 'preact/hooks';
import type { Evaluation, TrainStep } from '../../engine/types';
import * as t from '../../text/en';
import type { Provenance } from '../../ui/badge';
import { Chart, type ChartProps, type Rule, type Series } from '../../ui/chart';
import type { Table } from '../../ui/export';
import { Foot } from '../../ui/foot';
import { selectivityOf } from './numbers';
import { differences } from './settings';
import { type Curves, type Run, sameLosses } from './trainer';

const MOST_POINTS = 240; // of a line; more are averaged
const text = t.train.curves;

/** Means over as many neighbours as make few enough points. */
function thinned(x: ArrayLike<number>, y: ArrayLike<number>): { x: number[]; y: number[] } {
    const width = Math.max(1, Math.ceil(y.length / MOST_POINTS));
    const found = { x: [] as number[], y: [] as number[] };
    for (let from = 0; from < y.length; from += width) {
        const to = Math.min(from + width, y.length);
        let sum = 0;
        for (let i = from; i < to; i++) sum += y[i]!;
        found.x.push(x[to - 1]!);
        found.y.push(sum / (to - from));
    }
    return found;
}

const lossesOf = (curves: Curves) => thinned(curves.losses.map((_, i) => i + 1), curves.losses);
const gradientOf = (curves: Curves, pick: (step: TrainStep) => number) =>
    thinned(curves.gradients.map(({ step }) => step), curves.gradients.map(pick));
const heldOf = (curves: Curves, pick: (e: Evaluation) => number) => ({
    x: curves.evaluations.map((e) => e.step),
    y: curves.evaluations.map((e) => 100 * pick(e)),
});

/** A chart with what it can be saved as. */
function Saved(p: ChartProps & { name: string; command: string; from: Provenance; table: () => Table }) {
    const box = useRef<HTMLDivElement>(null);
    return (
        <div class="panel" ref={box}>
            <Chart {...p} height={210} />
            <Foot from={p.from} name={p.name} command={p.command} table={p.table} picture={() => box.current?.querySelector<SVGSVGElement>('svg[role=img]')} />
        </div>
    );
}

interface CurvesProps {
    run: Run;
    before: Run | null;
    viewed: number; // step; -1: none
    stopAt: number;
    command: string;
    from: Provenance;
}

export function CurvesView({ run, before, viewed, stopAt, command, from }: CurvesProps) {
    const { curves } = run;
    const difference = before ? differences(before.input, run.input) : '';
    const same = before ? sameLosses(curves, before.curves) : 0;
    const rules: Rule[] = viewed < 0 ? [] : [{ at: viewed, vertical: true, label: text.viewed }];
    const both = (of: (c: Curves) => { x: number[]; y: number[] }, color: Series['color'], name = text.now): Series[] => [
        { name, color, ...of(curves) },
        ...(before ? [{ name: text.before(difference), color: 'ink' as const, dash: true, ...of(before.curves) }] : []),
    ];
    const x = { label: text.step, min: 0 };
    const held: Series[] = [
        { name: text.accuracy, color: 'blue', ...heldOf(curves, (e) => e.accuracy) },
        { name: text.selectivity, color: 'orange', ...heldOf(curves, selectivityOf) },
        ...both((c) => heldOf(c, (e) => e.accuracy), 'blue').slice(1),
    ];
    const steps = () => ({ columns: ['step', 'loss'], rows: curves.losses.map((loss, i) => [i + 1, loss]) });
    const evaluations = () => ({
        columns: ['step', 'held_out_loss', 'accuracy', 'selectivity'],
        rows: curves.evaluations.map((e) => [e.step, e.loss, e.accuracy, selectivityOf(e)]),
    });
    const { layers } = run.input;
    const ofLayer = (l: number, color: Series['color']): Series => ({ name: t.train.heads.title(l + 1), color, ...gradientOf(curves, (s) => s.layerNorms[l]!) });
    const gradient: Series[] = [
        ...both((c) => gradientOf(c, (s) => s.gradientNorm), 'green', text.whole),
        ofLayer(0, 'blue'),
        ...(layers > 1 ? [ofLayer(layers - 1, 'orange')] : []), // those between would be too many lines
    ];
    const norms = () => ({
        columns: ['step', 'gradient_norm', ...Array.from({ length: layers }, (_, l) => `layer_${l + 1}`)],
        rows: curves.gradients.map(({ step, gradientNorm, layerNorms }) => [step, gradientNorm, ...layerNorms]),
    });
    return (
        <>
            {same > 0 && <p class="same">{text.same(same, difference)}</p>}
            <div class="curves">
                <Saved
                    name="train-loss"
                    command={command}
                    from={from}
                    table={steps}
                    title={text.loss}
                    x={x}
                    y={{ label: text.lossAxis, log: 10 }}
                    series={both(lossesOf, 'blue')}
                    rules={rules}
                />
                <Saved
                    name="train-held-out"
                    command={command}
                    from={from}
                    table={evaluations}
                    title={text.held}
                    x={x}
                    y={{ label: text.share, min: 0, max: 100 }}
                    series={held}
                    rules={stopAt > 0 ? [...rules, { at: 100 * stopAt, label: text.stop }] : rules}
                />
                <Saved
                    name="train-gradient"
                    command={command}
                    from={from}
                    table={norms}
                    title={text.gradient}
                    x={x}
                    y={{ label: text.norm, log: 10 }}
                    series={gradient}
                    rules={rules}
                />
            </div>
        </>
    );
}
