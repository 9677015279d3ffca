// controls.tsx - how the model reads the sentence (mask, scaling, temperature), and which part is shown:
// layer, head or several heads together, and the kind of picture.
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Choice, NumberField, optionsOf, Slider } from '../../ui/controls';
import type { Reader } from './look';

const SLOWEST = 0.05; // of the slider; a link may go further
const FASTEST = 20;

/** Buttons of which one is down. */
function Pick<T extends string | number>(p: { label: string; value: T; all: readonly (readonly [T, string])[]; disabled?: boolean; onPick: (value: T) => void }) {
    return (
        <div class="pick" role="group" aria-label={p.label}>
            <span>{p.label}</span>
            {p.all.map(([value, name]) => (
                <button key={value} aria-pressed={value === p.value} disabled={p.disabled} onClick={() => p.onPick(value)}>
                    {name}
                </button>
            ))}
        </div>
    );
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => [i, String(i + 1)] as const);

function What({ state, reader }: { state: State; reader: Reader }) {
    const { aggregate } = state.explore;
    return (
        <div class="line">
            <Pick label={t.explore.layer} value={Math.min(state.layer, reader.layers - 1)} all={numbered(reader.layers)} disabled={aggregate === 'rollout'}
                onPick={(layer) => store.set((s) => void (s.layer = layer))} />
            <Choice label={t.explore.aggregate} value={aggregate} options={optionsOf(t.explore.aggregates)}
                onChange={(now) => store.set((s) => void (s.explore.aggregate = now))} />
            {aggregate === 'head' && (
                <Pick label={t.explore.head} value={Math.min(state.head, reader.heads - 1)} all={numbered(reader.heads)}
                    onPick={(head) => store.set((s) => void (s.head = head))} />
            )}
        </div>
    );
}

function How({ state, reader, n }: { state: State; reader: Reader; n: number }) {
    const { info } = reader;
    return (
        <div class="line">
            <Choice label={t.explore.mask} value={state.mask} options={optionsOf(t.explore.masks)} onChange={(mask) => store.set((s) => {
                s.mask = mask;
                if (mask === 'padding' && s.padding === 0) s.padding = 2;
            })} />
            {state.mask === 'window' && (
                <NumberField label={t.explore.window} value={state.window} min={0} max={511} whole onChange={(x) => store.set((s) => void (s.window = x))} />
            )}
            {state.mask === 'padding' && (
                <NumberField label={t.explore.padding} value={state.padding} min={0} max={n} whole onChange={(x) => store.set((s) => void (s.padding = x))} />
            )}
            <Choice label={t.explore.scale} value={state.scale} options={optionsOf(t.explore.scales)} onChange={(scale) => store.set((s) => void (s.scale = scale))} />
            <Slider label={t.explore.temperature} value={state.temperature} min={SLOWEST} max={FASTEST} log show={(x) => String(Number(x.toPrecision(3)))}
                onInput={(x) => store.set((s) => void (s.temperature = Number(x.toPrecision(3))), 'temperature')} />
            {info?.causal && <span class="quiet">{t.explore.causalItself}</span>}
            {info && (info.scale !== state.scale || info.temperature !== state.temperature) && (
                <button onClick={() => store.set((s) => void Object.assign(s, { scale: info.scale, temperature: info.temperature }))}>
                    {t.explore.asTrained}
                </button>
            )}
        </div>
    );
}

export function Views({ state }: { state: State }) {
    return <Pick label={t.explore.view} value={state.explore.view} all={optionsOf(t.explore.views)} onPick={(view) => store.set((s) => void (s.explore.view = view))} />;
}

export function Controls(p: { state: State; reader: Reader; n: number }) {
    return (
        <div class="controls">
            <What {...p} />
            <How {...p} />
        </div>
    );
}
