// gradient.tsx - how much the answer at one token depends on each position, with and without the causal
// mask, and on each parameter.
import { useRef } from 'preact/hooks';
import * as t from '../../text/en';
import { Foot } from '../../ui/foot';
import { Bars } from './bars';
import { answerAt } from './look';
import { largest } from './numbers';
import { commandFor, type ViewProps } from './scene';

const number = (x: number) => (x === 0 ? '0' : x >= 0.001 && x < 1000 ? x.toPrecision(3) : x.toExponential(1));

export function GradientView({ scene, state }: ViewProps) {
    const { a, masked, reader } = scene.found;
    const positions = useRef<SVGSVGElement>(null);
    const parameters = useRef<SVGSVGElement>(null);
    const full = masked?.full.gradient;
    const causal = masked?.causal.gradient;
    if (!full || !causal) return <p class="quiet">{t.explore.loading}</p>;
    const at = answerAt(state.token, a.asked, a.look.n);
    const isCausal = reader.info?.causal ?? false;
    const series = isCausal ? [causal] : [full, causal];
    const bars = a.words.map((name, i) => ({ name, values: series.map((one) => one.byPosition.data[i]!) }));
    const mask = scene.found.settings.mask === 'causal' ? 'causal' : 'none';
    const norms = (mask === 'causal' ? causal : full).byParameter;
    const positionsOf = (under: 'none' | 'causal') => commandFor(scene, 'a', { show: 'positions', at, mask: under });
    const isKeyBias = (name: string) => name.endsWith('b_k');
    return (
        <>
            <p class="quiet">{t.explore.gradientAbout(a.words[at]!, !reader.info)}</p>
            <div class="maps two">
                <figure data-map="positions">
                    <figcaption>{t.explore.byPosition}</figcaption>
                    <div class="box" tabIndex={0} role="group" aria-label={t.explore.byPosition}>
                        <Bars title={t.explore.byPosition} series={isCausal ? [''] : t.explore.bothMasks} bars={bars} show={number}
                            max={series.map((one) => largest(one.byPosition.data))} picture={positions} />
                    </div>
                    <p class="quiet">{isCausal ? t.explore.causalItself : t.explore.causalNote(a.words[at]!)}</p>
                    <Foot from={reader.from} name="gradient-positions" picture={() => positions.current}
                        command={isCausal ? positionsOf('none') : `${positionsOf('none')} && ${positionsOf('causal')}`} table={() => ({
                        columns: ['position', 'word', 'full', 'causal'],
                        rows: a.words.map((word, i) => [i, word, full.byPosition.data[i]!, causal.byPosition.data[i]!]),
                    })} />
                </figure>
                <figure data-map="parameters">
                    <figcaption>{t.explore.byParameter}</figcaption>
                    <div class="box" tabIndex={0} role="group" aria-label={t.explore.byParameter}>
                        <Bars title={t.explore.byParameter} series={['']} show={number} names={190} max={[largest(norms.map((p) => p.norm))]} picture={parameters}
                            bars={norms.map(({ name, norm }) => ({ name, values: [norm], ...(isKeyBias(name) ? { note: t.explore.keyBias } : {}) }))} />
                    </div>
                    {norms.some(({ name }) => isKeyBias(name)) && <p class="quiet">{t.explore.keyBiasWhy}</p>}
                    <Foot from={reader.from} name="gradient-parameters" picture={() => parameters.current} command={commandFor(scene, 'a', { show: 'parameters', at, mask })}
                        table={() => ({ columns: ['parameter', 'norm'], rows: norms.map(({ name, norm }) => [name, norm]) })} />
                </figure>
            </div>
        </>
    );
}
