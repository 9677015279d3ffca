// transport.tsx - play, step, reset; the progress of the run; and the timeline of its snapshots.
import { useId } from 'preact/hooks';
import type { TrainInput } from '../../engine/types';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { trainer } from './trainer';

function Count(p: { name: string; value: string; more?: string }) {
    return (
        <div>
            <dt>{p.name}</dt>
            <dd>
                {p.value}
                <span class="quiet">{p.more}</span>
            </dd>
        </div>
    );
}

function Counts({ steps }: { steps: number }) {
    const { step, speed, phase, curves } = trainer;
    const loss = curves.losses.at(-1);
    const left = phase === 'playing' && speed > 0 && step < steps ? t.train.left((steps - step) / speed) : '–';
    return (
        <dl class="counts">
            <Count name={t.train.counts.step} value={String(step)} more={t.train.of(steps)} />
            <Count name={t.train.counts.speed} value={speed ? speed.toFixed(0) : '–'} />
            <Count name={t.train.counts.loss} value={loss === undefined ? '–' : loss.toPrecision(3)} />
            <Count name={t.train.counts.left} value={left} />
        </dl>
    );
}

function status(stopAt: number): string {
    const { phase, ended, step, viewing } = trainer;
    const text = t.train.status;
    if (phase === 'failed') return trainer.problem;
    if (viewing) return text.viewing(viewing.step, step);
    if (phase === 'starting') return text.starting;
    if (phase === 'playing') return text.playing;
    if (phase === 'judging') return text.judging;
    if (ended === 'solved') return text.solved(step, `${Number((100 * stopAt).toPrecision(4))} %`);
    if (ended === 'loss') return text.lossMet(step, trainer.stopLoss);
    if (ended === 'budget') return text.budget(step);
    return step === 0 ? text.ready : text.paused(step);
}

export function Transport({ input, stopAt }: { input: TrainInput; stopAt: number }) {
    const { phase } = trainer;
    const playing = phase === 'playing';
    const text = t.train;
    return (
        <section class="panel transport">
            <div class="buttons">
                <button class="primary play" disabled={phase === 'failed'} onClick={() => (playing ? trainer.pause() : trainer.play())}>
                    <span aria-hidden="true">{playing ? '❚❚' : '▶'}</span> {playing ? text.pause : text.play}
                </button>
                <button disabled={phase !== 'paused'} onClick={() => trainer.stepOnce()}>
                    {text.step}
                </button>
                <button title={text.resetHint} onClick={() => trainer.start(input)}>
                    {text.reset}
                </button>
                <button title={text.reseedHint} onClick={() => store.set((s) => void (s.seed = (s.seed + 1) % 2 ** 32))}>
                    {text.reseed}
                </button>
            </div>
            <Counts steps={input.steps} />
            <p class={phase === 'failed' ? 'status failed' : 'status'} role={phase === 'failed' ? 'alert' : undefined}>
                {status(stopAt)}
            </p>
            <Timeline />
        </section>
    );
}

/** The snapshots, oldest first; the right end is the run as it is now. */
function Timeline() {
    const id = useId();
    const { snapshots, viewing, step } = trainer;
    const at = viewing ? snapshots.indexOf(viewing) : snapshots.length;
    const text = t.train.timelineAt(viewing?.step ?? step, !viewing);
    return (
        <div class="timeline">
            <label for={id}>{t.train.timeline}</label>
            <input
                id={id}
                type="range"
                min={0}
                max={snapshots.length}
                step={1}
                value={at}
                aria-valuetext={text}
                onInput={(e) => trainer.view(snapshots[Number(e.currentTarget.value)] ?? null)}
            />
            <output for={id}>{text}</output>
        </div>
    );
}
