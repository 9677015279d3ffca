// controls.tsx - the settings of a run, and the guided experiments.
import { useState } from 'preact/hooks';
import type { TaskInfo, TrainInput } from '../../engine/types';
import { DEFAULTS, LIMITS, type State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Check, Choice, NumberField, optionsOf, Slider } from '../../ui/controls';
import { EXPERIMENTS, type ExperimentName, type Settings } from './settings';

const text = t.train.settings;

const set = (change: Partial<Settings>, key = '') => store.set((s) => void Object.assign(s.train, change), key);

/** A number of the state; 0 there means the one that the task asks for. */
function Field(p: { name: 'layers' | 'heads' | 'd' | 'd_k' | 'batch' | 'rate' | 'steps'; value: number }) {
    const { max, whole } = LIMITS[`train.${p.name}`]!;
    return (
        <NumberField
            label={text[p.name]}
            value={p.value}
            min={whole ? 1 : 1e-6}
            max={max}
            whole={whole}
            onChange={(value) => set({ [p.name]: value })}
        />
    );
}

function Model({ input }: { input: TrainInput }) {
    return (
        <>
            <Field name="layers" value={input.layers} />
            <Field name="heads" value={input.heads} />
            <Field name="d" value={input.d} />
            <Field name="d_k" value={input.d_k || Math.floor(input.d / input.heads)} />
            <Field name="batch" value={input.batch} />
            <Field name="rate" value={input.rate} />
            <Field name="steps" value={input.steps} />
        </>
    );
}

export function SettingsPanel({ state, tasks, input }: { state: State; tasks: TaskInfo[]; input: TrainInput }) {
    const [roomy] = useState(() => matchMedia('(min-width: 700px)').matches);
    const always = tasks.find((task) => task.name === input.task)?.causal ?? false;
    const { train } = state;
    return (
        <details class="panel settings" open={roomy}>
            <summary>
                {text.title} <span class="quiet">{text.about}</span>
            </summary>
            <div class="fields">
                <Choice
                    label={text.task}
                    value={input.task}
                    options={tasks.map((task) => [task.name, task.name] as const)}
                    onChange={(task) => set({ ...DEFAULTS.train, stopAt: train.stopAt, task })}
                />
                <Model input={input} />
                <Choice
                    label={text.scale}
                    value={train.scale}
                    options={optionsOf(text.scales)}
                    onChange={(scale) => set({ scale })}
                />
                <Slider
                    label={text.temperature}
                    value={train.temperature}
                    min={0.125}
                    max={8}
                    log
                    step={Math.LN2 / 4}
                    show={(x) => x.toPrecision(3)}
                    onInput={(x) => set({ temperature: Number(x.toPrecision(6)) }, 'train.temperature')}
                />
                <Check
                    label={always ? text.causalAlways : text.causal}
                    checked={input.causal}
                    disabled={always}
                    onChange={(causal) => set({ causal })}
                />
                <NumberField
                    label={text.stopAt}
                    value={Number((100 * train.stopAt).toPrecision(6))}
                    min={0}
                    max={100}
                    onChange={(percent) => set({ stopAt: percent / 100 })}
                />
                <NumberField label={text.stopLoss} value={train.stopLoss} {...LIMITS['train.stopLoss']!} onChange={(stopLoss) => set({ stopLoss })} />
                <NumberField label={text.seed} value={state.seed} {...LIMITS.seed!} onChange={(seed) => store.set((s) => void (s.seed = seed))} />
                <span class="quiet">{text.seedHint(text.seedSteps[input.task])}</span>
                <button onClick={() => set({ ...DEFAULTS.train, task: train.task })}>{text.usual}</button>
            </div>
        </details>
    );
}

export function Experiments({ onRun }: { onRun: (change: Partial<Settings>) => void }) {
    const words = t.train.experiments;
    return (
        <section class="experiments">
            <h3>{words.title}</h3>
            <p class="quiet">{words.about}</p>
            <div class="list">
                {(Object.keys(EXPERIMENTS) as ExperimentName[]).map((name) => (
                    <div key={name} class="panel">
                        <h4>{words[name].name}</h4>
                        <p>{words[name].expect}</p>
                        {EXPERIMENTS[name].map((change, i) => (
                            <button key={i} onClick={() => onRun(change)}>
                                ▶ {words[name].runs[i]}
                            </button>
                        ))}
                    </div>
                ))}
            </div>
        </section>
    );
}
