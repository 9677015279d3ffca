// cost.tsx - the room Cost: the cost of attention against the length of the text, and its sharpness against
// the head size. The engine counts or samples everything when a slider moves.
import { useEffect } from 'preact/hooks';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Check, NumberField, Slider } from '../../ui/controls';
import { say } from '../../ui/readout';
import { byteText, countText } from '../../ui/units';
import './cost.css';
import { type Settings, useCounts } from './counts';
import { Charts, Growth } from './growth';
import { MapsView } from './maps';
import { SharpnessView } from './sharpness';

const OCTAVE = Math.LN2; // sliders along the logarithm move by parts of a doubling

function set(change: Partial<Settings>): void {
    store.set((s) => void Object.assign(s.cost, change), `cost ${Object.keys(change)}`);
}

function Controls({ cost }: { cost: Settings }) {
    return (
        <div class="controls">
            <Slider label={t.cost.n} value={cost.n} min={32} max={1048576} log step={OCTAVE / 4} show={countText} onInput={(x) => set({ n: Math.round(x) })} />
            <Slider label={t.cost.d} value={cost.d} min={4} max={1024} log step={OCTAVE} onInput={(x) => set({ d: Math.round(x) })} />
            <Slider label={t.cost.heads} value={cost.heads} min={1} max={128} log step={OCTAVE} onInput={(x) => set({ heads: Math.round(x) })} />
            <Check label={t.cost.causal} checked={cost.causal} onChange={(causal) => set({ causal })} />
        </div>
    );
}

function Length({ cost }: { cost: Settings }) {
    const { found, error } = useCounts(cost);
    useEffect(() => {
        if (found) say(t.cost.readout(countText(found.now.n), countText(found.now.pairs), byteText(found.now.denseBytes), (100 * found.now.share).toFixed(1)));
    }, [found]);
    return (
        <>
            {error && <p role="alert">{error}</p>}
            {found && (
                <div class="pair">
                    <Growth counts={found} set={cost} />
                    <Charts counts={found} set={cost} />
                </div>
            )}
        </>
    );
}

export function Cost({ state }: { state: State }) {
    const { cost, seed } = state;
    return (
        <div class="room cost">
            <h2>{t.cost.title}</h2>
            <p class="intro">{t.cost.intro}</p>
            <Controls cost={cost} />
            <Length cost={cost} />
            <div class="controls">
                <Slider label={t.cost.d_k} value={cost.d_k} min={2} max={512} log step={OCTAVE / 2} onInput={(x) => set({ d_k: Math.round(x) })} />
                <NumberField label={t.cost.seed} value={seed} min={0} max={4294967295} whole onChange={(x) => store.set((s) => void (s.seed = x))} />
            </div>
            <SharpnessView d_k={cost.d_k} seed={seed} />
            <MapsView seed={seed} colors={state.explore.colors} />
        </div>
    );
}
