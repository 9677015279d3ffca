// train.tsx - the room Train: a tiny transformer learns a task while you watch. The run itself is in
// trainer.ts; this file shows and controls it.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { engine } from '../../engine/client';
import type { TaskExample, TaskInfo } from '../../engine/types';
import { keepModel } from '../../state/models';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Badge, type Provenance } from '../../ui/badge';
import { ColorBar } from '../../ui/color-bar';
import { save, type Table } from '../../ui/export';
import { say } from '../../ui/readout';
import { Experiments, SettingsPanel } from './controls';
import { CurvesView } from './curves';
import { Heads } from './heads';
import { Numbers, selectivityOf } from './numbers';
import { rowOf } from './picture';
import { Sentence } from './sentence';
import { commandOf, inputOf, type Settings, setUp } from './settings';
import './train.css';
import { Transport } from './transport';
import { type Picture, trainer } from './trainer';

const HELD_OUT_SEED = 1; // by which the engine draws the examples that all runs are judged on

/** Draws the room again when the run has something to tell. */
function useTrainer(): void {
    const [, again] = useState({});
    useEffect(() => trainer.subscribe(() => again({})), []);
}

function useTasks(): TaskInfo[] | null {
    const [tasks, setTasks] = useState<TaskInfo[] | null>(null);
    useEffect(() => void engine.tasks().then(setTasks), []);
    return tasks;
}

function useExample(task: string, number: number): TaskExample | null {
    const [example, setExample] = useState<TaskExample | null>(null);
    useEffect(() => {
        let wanted = true;
        void engine.taskExample(task, HELD_OUT_SEED, number).then((found) => {
            if (!wanted) return;
            setExample(found);
            trainer.watch(found.tokens);
        });
        return () => void (wanted = false);
    }, [task, number]);
    return example;
}

/** A change of the settings begins a new run; leaving the room pauses. */
function useRun(state: State, task: TaskInfo): void {
    const input = inputOf(state, task);
    useEffect(() => {
        if (JSON.stringify(input) !== JSON.stringify(trainer.asked)) trainer.start(input);
    }, [JSON.stringify(input)]);
    const { stopAt, stopLoss } = state.train;
    useEffect(() => void Object.assign(trainer, { stopAt, stopLoss }), [stopAt, stopLoss]);
    useEffect(() => () => trainer.pause(), []);
}

/** Milestones are said at rest only, not ten times a second. */
function useReadout(): void {
    const { phase, ended, step, viewing } = trainer;
    useEffect(() => {
        const evaluation = viewing ? viewing.evaluation : trainer.evaluation;
        if (phase !== 'paused' || !evaluation || step === 0) return;
        const knockOut = viewing ? '' : t.percent(evaluation.withoutRight);
        say(t.train.readout(evaluation.step, t.percent(evaluation.accuracy), t.percent(selectivityOf(evaluation)), knockOut));
    }, [phase, ended, step, viewing]);
}

function provenance(step: number): Provenance {
    const { seed, task } = trainer.input!;
    return step === 0 ? { kind: 'random', seed } : { kind: 'trained', step, seed, task };
}

async function saveWeights(): Promise<void> {
    const step = trainer.viewing?.step ?? trainer.step;
    const bytes = await trainer.weights();
    save(`${trainer.input!.task}-step-${step}.safetensors`, new Blob([bytes as Uint8Array<ArrayBuffer>]));
}

/** The shown weights and the shown example, in the other room. */
async function openInExplore(example: TaskExample, at: number, layer: number, head: number): Promise<void> {
    const step = trainer.viewing?.step ?? trainer.step;
    keepModel('trained', { bytes: await trainer.weights(), from: provenance(step) });
    const { scale, temperature } = trainer.input!;
    const sentence = example.words.join(' ');
    store.set((s) => void Object.assign(s, { room: 'explore', model: 'trained', sentence, token: at, layer, head, scale, temperature, mask: 'none' }));
}

/** The weights of every head as rows. */
function weightsTable(example: TaskExample, { look }: Picture): Table {
    const [layers, heads] = look.weights.shape as [number, number];
    const rows: Table['rows'] = [];
    for (let l = 0; l < layers; l++)
        for (let h = 0; h < heads; h++)
            for (let i = 0; i < look.n; i++)
                rowOf(look, l, h, i).forEach((weight, j) => rows.push([l + 1, h + 1, i, example.words[i]!, j, example.words[j]!, weight]));
    return { columns: ['layer', 'head', 'query', 'query_word', 'key', 'key_word', 'weight'], rows };
}

interface ShownProps {
    state: State;
    example: TaskExample;
    picture: Picture;
}

const questionOf = ({ state, example }: ShownProps) =>
    example.questions[Math.min(state.train.question, example.questions.length - 1)]!;
const layerOf = ({ state, picture }: ShownProps) => Math.min(state.layer, picture.look.weights.shape[0]! - 1);

function Pictures(p: ShownProps) {
    const { state, example, picture } = p;
    const question = questionOf(p);
    const layers = picture.look.weights.shape[0]!;
    const open = (layer: number, head: number) => void openInExplore(example, question.at, layer, head);
    return (
        <>
            <div class="layers">
                {Array.from({ length: layers }, (_, l) => (
                    <section key={l} id={`train-layer-${l + 1}`} class="panel">
                        <div class="head">
                            <h3>{t.train.heads.title(l + 1)}</h3>
                            <Badge from={provenance(picture.step)} />
                        </div>
                        <Heads
                            layer={l}
                            example={example}
                            question={question}
                            picture={picture}
                            colors={state.explore.colors}
                            onOpen={(head) => open(l, head)}
                            saved={{
                                name: `train-${state.train.task}-layer-${l + 1}`,
                                command: commandOf(state),
                                table: () => weightsTable(example, picture),
                            }}
                        />
                    </section>
                ))}
            </div>
            <p class="quiet">
                {t.train.heads.about} 0 <ColorBar colors={state.explore.colors} /> 1 {trainer.input!.causal && t.train.heads.hatched}
            </p>
            <p class="actions">
                <button onClick={() => void saveWeights()}>{t.train.save}</button>
                <button onClick={() => open(layerOf(p), 0)}>{t.train.open}</button>
            </p>
        </>
    );
}

function Room({ state, tasks }: { state: State; tasks: TaskInfo[] }) {
    const task = tasks.find((one) => one.name === state.train.task) ?? tasks[0]!;
    const input = inputOf(state, task);
    const example = useExample(task.name, state.train.example);
    useTrainer();
    useRun(state, task);
    useReadout();
    const run = (change: Partial<Settings>) => {
        setUp(change);
        trainer.start(inputOf(store.get(), tasks.find((one) => one.name === store.get().train.task)!));
        trainer.play();
    };
    const { picture, viewing, evaluation, knockedOut, drawing } = trainer;
    const fits = example && picture && String(picture.tokens) === String(example.tokens);
    const command = commandOf(state);
    // What has not changed is not drawn again: training tells ten times a second.
    const settings = useMemo(() => <SettingsPanel state={state} tasks={tasks} input={input} />, [state, tasks]);
    const experiments = useMemo(() => <Experiments onRun={run} />, [tasks]);
    const shown = fits ? { state, example, picture } : null;
    const pictures = useMemo(() => shown && <Pictures {...shown} />, [state, fits, picture]);
    const sentence = useMemo(
        () => shown && <Sentence {...shown} question={questionOf(shown)} layer={layerOf(shown)} about={task.about} from={provenance(picture!.step)} />,
        [state, fits, picture],
    );
    const curves = useMemo(
        () =>
            trainer.input && (
                <CurvesView
                    run={{ input: trainer.input, curves: trainer.curves }}
                    before={trainer.before}
                    viewed={viewing?.step ?? -1}
                    stopAt={state.train.stopAt}
                    command={command}
                    from={provenance(trainer.step)}
                />
            ),
        [state, drawing, viewing],
    );
    return (
        <div class="room train" data-phase={trainer.phase} data-ended={trainer.ended} data-step={trainer.step} data-speed={trainer.speed}>
            <Transport input={input} stopAt={state.train.stopAt} />
            {settings}
            <div class="now">
                {sentence}
                <Numbers evaluation={viewing ? viewing.evaluation : evaluation} knockedOut={viewing ? (viewing.knockedOut ?? null) : knockedOut} />
            </div>
            {pictures}
            {curves}
            {experiments}
            <p class="quiet">
                <code>{command}</code> {t.train.settings.native}
            </p>
        </div>
    );
}

export function Train({ state }: { state: State }) {
    const tasks = useTasks();
    return (
        <>
            <div class="train-title">
                <h2>{t.room.train.name}</h2>
                <p>{t.train.intro}</p>
            </div>
            {tasks && <Room state={state} tasks={tasks} />}
        </>
    );
}
