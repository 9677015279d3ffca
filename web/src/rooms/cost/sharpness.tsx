// sharpness.tsx - how sharp the rows of random queries and keys are, by head size and by scaling: the
// figure F4 of `attn report`, computed here one head size at a time, so that the page stays responsive.
import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../engine/answer';
import { engine } from '../../engine/client';
import { SCALES, type Scale, type Sharpness } from '../../engine/types';
import * as t from '../../text/en';
import { Chart, type Series } from '../../ui/chart';
import type { Table } from '../../ui/export';
import { Picture } from './picture';

const words = t.cost.sharpness;
const SIZES = [2, 4, 8, 16, 32, 64, 128, 256, 512];
const TOKENS = 16;
const TRIALS = 50;

export const LOOKS: Record<Scale, Pick<Series, 'name' | 'color' | 'dash'>> = {
    sqrt: { name: words.scales.sqrt, color: 'blue' },
    none: { name: words.scales.none, color: 'orange', dash: true },
    dk: { name: words.scales.dk, color: 'green', dash: true },
};

/** The figure as far as it is known; it begins anew with the seed. */
function useFigure(seed: number): Sharpness[] {
    const [found, setFound] = useState<Sharpness[]>([]);
    useEffect(() => {
        let wanted = true;
        setFound([]);
        void (async () => {
            for (const d_k of SIZES) {
                const next = await engine.sharpness(d_k, TOKENS, TRIALS, seed);
                if (!wanted) return;
                setFound((before) => [...before, next]);
            }
        })();
        return () => void (wanted = false);
    }, [seed]);
    return found;
}

function tableOf(found: Sharpness[]): Table {
    return {
        columns: ['scaling', 'd_k', 'entropy', 'max'],
        rows: SCALES.flatMap((scale) => found.map((s) => [scale, s.d_k, s.entropy[scale], s.largest[scale]])),
    };
}

interface View {
    id: string;
    of: 'entropy' | 'largest';
    max: number;
    uniform: number;
}
const VIEWS: View[] = [
    { id: 'cost-entropy', of: 'entropy', max: 3, uniform: Math.log(TOKENS) },
    { id: 'cost-largest', of: 'largest', max: 1, uniform: 1 / TOKENS },
];

function Curves({ view, found, seed, d_k }: { view: View; found: Sharpness[]; seed: number; d_k: number }) {
    const series = SCALES.map((scale) => ({ ...LOOKS[scale], x: found.map((s) => s.d_k), y: found.map((s) => s[view.of][scale]) }));
    return (
        <Picture id={view.id} from={{ kind: 'random', seed }} command={words.command(seed)} table={() => tableOf(found)}>
            <Chart
                title={words[view.of]}
                x={{ label: 'd_k', log: 2, min: 2, max: 512 }}
                y={{ label: words.axis[view.of], min: 0, max: view.max }}
                series={series}
                rules={[
                    { at: view.uniform, label: words.uniform[view.of] },
                    { at: d_k, vertical: true, label: '' },
                ]}
            />
        </Picture>
    );
}

/** The numbers at the head size that is set. */
function Here({ d_k, seed }: { d_k: number; seed: number }) {
    const { found } = useAnswer(`${d_k} ${seed}`, () => engine.sharpness(d_k, TOKENS, TRIALS, seed));
    if (!found) return null;
    return (
        <div class="wide">
            <table class="numbers" id="cost-here">
                <caption>{words.here(found.d_k)}</caption>
                <thead>
                    <tr>
                        <th scope="col">{words.scaling}</th>
                        <th scope="col">{words.entropy}</th>
                        <th scope="col">{words.largest}</th>
                    </tr>
                </thead>
                <tbody>
                    {SCALES.map((scale) => (
                        <tr key={scale}>
                            <th scope="row">{words.scales[scale]}</th>
                            <td>{words.nats(found.entropy[scale])}</td>
                            <td>{t.percent(found.largest[scale])}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

export function SharpnessView({ d_k, seed }: { d_k: number; seed: number }) {
    const found = useFigure(seed);
    const isDone = found.length === SIZES.length;
    return (
        <div class="group" data-done={isDone}>
            <div class="foot">
                <h3>{words.title}</h3>
                {!isDone && (
                    <label>
                        {words.busy} <progress value={found.length} max={SIZES.length} />
                    </label>
                )}
            </div>
            <p>{words.about(TOKENS, TRIALS)}</p>
            <div class="pair">
                {VIEWS.map((view) => (
                    <Curves key={view.id} view={view} found={found} seed={seed} d_k={d_k} />
                ))}
            </div>
            <Here d_k={d_k} seed={seed} />
            <p>{words.lesson}</p>
        </div>
    );
}
