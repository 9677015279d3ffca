// settings.tsx - what is computed: the example or the user's own sentence, and the settings that all rooms
// share: mask, scaling, temperature.
import { useEffect, useState } from 'preact/hooks';
import type { Example } from '../../engine/types';
import { LIMITS, type State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Check, Choice, NumberField, Slider } from '../../ui/controls';
import { examples, type Work } from './work';

/** Another problem: changes by hand and the picked cell belonged to the last one. */
function change(what: (s: State) => void, key = ''): void {
    store.set((s) => {
        what(s);
        s.steps.edits = '';
        s.steps.row = s.steps.column = -1;
    }, key);
}

function choose(name: string): void {
    change((s) => {
        s.steps.example = name;
        s.steps.step = 0;
    });
}

function Own({ state }: { state: State }) {
    const { heads, width } = state.steps;
    const divisors = Array.from({ length: LIMITS['steps.heads']!.max }, (_, i) => i + 1).filter((n) => width % n === 0);
    return (
        <div class="bar">
            <label class="control sentence">
                {t.steps.sentence}
                <input type="text" value={state.sentence} onInput={(e) => change((s) => void (s.sentence = e.currentTarget.value), 'sentence')} />
            </label>
            <NumberField label={t.steps.width} value={width} min={1} max={64} whole onChange={(x) => change((s) => {
                s.steps.width = x;
                if (x % s.steps.heads !== 0) s.steps.heads = 1;
            })} />
            <Choice label={t.steps.heads} value={String(heads)} options={divisors.map((n) => [String(n), String(n)] as const)}
                onChange={(x) => change((s) => void (s.steps.heads = Number(x)))} />
            <NumberField label={t.steps.seed} value={state.seed} min={0} max={LIMITS.seed!.max} whole
                onChange={(x) => change((s) => void (s.seed = x))} />
        </div>
    );
}

/** Random numbers for the words in sight: the first time from the seed, then from the next one. */
function draw(work: Work | null): void {
    change((s) => {
        if (s.steps.example === 'mine') s.seed = (s.seed + 1) % (LIMITS.seed!.max + 1);
        else if (work?.problem.given.x) s.sentence = work.queries.join(' ');
        s.steps.example = 'mine';
    });
}

function Shared({ state, work }: { state: State; work: Work | null }) {
    const isFixed = work?.example?.problem.causal ?? false;
    return (
        <div class="bar">
            <Check label={isFixed ? t.steps.causalHere : t.steps.causal} checked={isFixed || state.mask === 'causal'} disabled={isFixed}
                onChange={(on) => store.set((s) => void (s.mask = on ? 'causal' : 'none'))} />
            <Check label={t.steps.scale} checked={state.scale === 'sqrt'} onChange={(on) => store.set((s) => void (s.scale = on ? 'sqrt' : 'none'))} />
            <Slider label={t.steps.temperature} value={state.temperature} min={0.1} max={10} log show={(x) => x.toPrecision(3)}
                onInput={(x) => store.set((s) => void (s.temperature = Number(x.toPrecision(3))), 'temperature')} />
        </div>
    );
}

export function Settings({ state, work }: { state: State; work: Work | null }) {
    const [all, setAll] = useState<Example[]>([]);
    useEffect(() => void examples().then(setAll, () => undefined), []); // the room says why there are none
    const options = [...all.map((e) => [e.name, `${e.name} · ${e.title}`] as const), ['mine', t.steps.mine] as const];
    return (
        <div class="settings">
            <div class="bar">
                <Choice label={t.steps.example} value={state.steps.example} options={options} onChange={choose} />
                <button title={t.steps.randomHint} onClick={() => draw(work)}>{t.steps.random}</button>
                <button title={t.steps.resetHint} disabled={state.steps.edits === ''} onClick={() => store.set((s) => void (s.steps.edits = ''))}>
                    {t.steps.reset}
                </button>
            </div>
            {state.steps.example === 'mine' && <Own state={state} />}
            <Shared state={state} work={work} />
        </div>
    );
}
