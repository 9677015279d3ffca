// settings.ts - turns the state into the options of a run and into the command that does the same; also
// the guided experiments.
import type { TaskInfo, TrainInput } from '../../engine/types';
import { DEFAULTS, type State } from '../../state/state';
import { store } from '../../state/store';
import { scaleOption } from '../../ui/shell';

export type Settings = State['train'];

/** Zeros in the state stand for what the task asks for. */
export function inputOf(state: State, task: TaskInfo): TrainInput {
    const { train } = state;
    const usual = task.defaults;
    return {
        task: task.name,
        layers: train.layers || usual.layers,
        heads: train.heads || usual.heads,
        d: train.d || usual.d,
        d_k: train.d_k,
        batch: train.batch || usual.batch,
        rate: train.rate || usual.rate,
        steps: train.steps || usual.steps,
        seed: state.seed,
        causal: task.causal || train.causal,
        scale: train.scale,
        temperature: train.temperature,
    };
}

/** The same run with the command line. */
export function commandOf({ train, seed }: State): string {
    const option = (name: string, value: number, usual = 0) => (value === usual ? '' : ` --${name} ${value}`);
    return (
        `attn train ${train.task}` +
        option('layers', train.layers) +
        option('heads', train.heads) +
        option('d', train.d) +
        option('dk', train.d_k) +
        option('batch', train.batch) +
        option('lr', train.rate) +
        option('steps', train.steps) +
        (train.causal ? ' --causal' : '') +
        scaleOption(train.scale).map((option) => ` ${option}`).join('') +
        option('temperature', train.temperature, 1) +
        ` --seed ${seed} --stop-at ${Number((100 * train.stopAt).toPrecision(6))}`
    );
}

/** "layers 1, scale none": in what one run differs from another. */
export function differences(of: TrainInput, from: TrainInput): string {
    const names = Object.keys(of) as (keyof TrainInput)[];
    return names
        .filter((name) => of[name] !== from[name])
        .map((name) => `${name} ${of[name]}`)
        .join(', ');
}

export type ExperimentName = 'layer' | 'causal' | 'scaling' | 'temperature';

/** Each experiment and what it is to be compared with; all begin from the defaults. */
export const EXPERIMENTS: Record<ExperimentName, [Partial<Settings>, Partial<Settings>]> = {
    layer: [{ layers: 1 }, {}],
    causal: [{ causal: true, steps: 1200 }, { steps: 1200 }],
    scaling: [{ scale: 'none', d_k: 128, steps: 1200 }, { d_k: 128, steps: 1200 }],
    temperature: [{ temperature: 0.25, steps: 600 }, { scale: 'none', steps: 600 }],
};

/** What is named, all else as in the defaults; seed and shown example stay. */
export function setUp(change: Partial<Settings>): void {
    store.set((s) => {
        const { stopAt, example } = s.train;
        s.train = { ...DEFAULTS.train, stopAt, example, ...change };
    });
}
