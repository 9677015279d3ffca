// trainer.ts - the page's only training run: trains in slices in the Worker, evaluates, keeps snapshots,
// and looks at the current example. It is independent of the rooms, so that a run survives a visit to
// Explore. Notifies its listeners at most ten times a second. All requests go through one queue, because
// the engine has one trainer.
import { engine } from '../../engine/client';
import type { Evaluation, Look, ModelInfo, TrainInput, TrainStep } from '../../engine/types';

export const EVERY = 50; // steps from one evaluation to the next
export const JUDGED = 256; // held-out examples of an evaluation
export const JUDGED_AT_END = 2048; // as `attn train` does
const SLICE = 25; // milliseconds: the engine waits for the page between slices, and questions for their end
const SHOWN = 100; // milliseconds from one picture to the next
const MOST_SNAPSHOTS = 40;
const MOST_BYTES = 64e6; // of all snapshots together

export interface Curves {
    losses: number[]; // of each step
    gradients: TrainStep[]; // the last step of each slice
    evaluations: Evaluation[];
}

export interface Run {
    input: TrainInput;
    curves: Curves;
}

export interface Snapshot {
    step: number;
    bytes: Uint8Array;
    loss: number;
    evaluation: Evaluation;
    knockedOut?: Evaluation; // measured when it is first viewed
}

/** What the weights of a step do with the watched tokens. */
export interface Picture {
    tokens: number[];
    step: number;
    look: Look;
}

export type Phase = 'starting' | 'paused' | 'playing' | 'judging' | 'failed';

const emptyCurves = (): Curves => ({ losses: [], gradients: [], evaluations: [] });

/** Resolves when the page can be seen: a hidden page does not train. */
function visible(): Promise<void> | undefined {
    if (!document.hidden) return undefined;
    return new Promise((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true }));
}

class Trainer {
    phase: Phase = 'starting';
    problem = ''; // why it failed
    ended: '' | 'solved' | 'loss' | 'budget' = '';
    asked: TrainInput | null = null; // of the last start()
    input: TrainInput | null = null; // of the run whose numbers these are
    model: ModelInfo | null = null;
    curves = emptyCurves();
    before: Run | null = null; // the run that this one replaced
    snapshots: Snapshot[] = [];
    viewing: Snapshot | null = null; // null: the weights as they are now
    evaluation: Evaluation | null = null;
    knockedOut: Evaluation | null = null; // the last one with knock-outs
    picture: Picture | null = null;
    speed = 0; // steps/s
    drawing = 0; // counts when the curves are to be drawn again: less often than the rest
    stopAt = 0; // held-out accuracy; 0: never
    stopLoss = 0; // held-out loss; 0: never

    private tokens: number[] = [];
    private plays = 0; // the loops so far
    private playing = 0; // the number of the one that may run; 0: none
    private spacing = EVERY; // of snapshots
    private starts = 0;
    private tail: Promise<void> = Promise.resolve();
    private listeners = new Set<() => void>();

    get step(): number {
        return this.curves.losses.length;
    }

    subscribe(listener: () => void): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    private tell(): void {
        this.listeners.forEach((listener) => listener());
    }

    private queue(job: () => Promise<void>): void {
        this.tail = this.tail.then(job).catch((error: Error) => {
            this.pause();
            this.phase = 'failed';
            this.problem = error.message;
        }).finally(() => {
            this.drawing++;
            this.tell();
        });
    }

    // ---- what the room asks for ----

    /** A new run at step 0; the present one stays as the one before if it was judged. */
    start(input: TrainInput): void {
        const mine = ++this.starts;
        this.pause();
        this.asked = input;
        this.phase = 'starting';
        this.queue(async () => {
            if (mine === this.starts) await this.begin(input);
        });
    }

    play(): void {
        if (this.playing) return;
        const mine = (this.playing = ++this.plays);
        this.queue(() => this.loop(mine));
    }

    pause(): void {
        this.playing = 0;
    }

    stepOnce(): void {
        this.queue(async () => {
            if (this.phase !== 'paused') return;
            this.viewing = null;
            await this.train(1);
            await this.settle(JUDGED);
        });
    }

    /** Looks at other tokens from now on. */
    watch(tokens: number[]): void {
        if (String(tokens) === String(this.tokens)) return;
        this.tokens = tokens;
        this.queue(() => this.lookAgain());
    }

    /** Shows a snapshot, or with null the weights as they are. */
    view(snapshot: Snapshot | null): void {
        this.pause();
        this.viewing = snapshot;
        this.queue(async () => {
            if (this.viewing === snapshot) await this.lookAgain();
            this.tell();
            if (snapshot && this.viewing === snapshot) await this.knockOut(snapshot);
        });
    }

    /** The weights that are shown, as a file. */
    async weights(): Promise<Uint8Array> {
        return this.viewing ? this.viewing.bytes : engine.trainPack();
    }

    // ---- a run ----

    private async begin(input: TrainInput): Promise<void> {
        if (this.input && this.step >= EVERY) this.before = { input: this.input, curves: this.curves };
        this.curves = emptyCurves();
        this.snapshots = [];
        this.spacing = EVERY;
        this.viewing = this.evaluation = this.knockedOut = this.model = null;
        this.speed = 0;
        this.ended = this.problem = '';
        this.input = input;
        this.model = await engine.trainStart(input);
        await this.lookAgain();
        this.tell();
        await this.judge();
        this.phase = 'paused';
    }

    private async loop(mine: number): Promise<void> {
        if (this.playing !== mine || this.phase !== 'paused') return;
        this.phase = 'playing';
        this.viewing = null;
        let frame = 0; // curves and heads are drawn in different frames, to keep each short
        let shown = { at: performance.now(), step: this.step };
        while (this.playing === mine) {
            await visible();
            const from = this.step;
            await this.train(this.stepsLeft());
            if (Math.floor(this.step / EVERY) > Math.floor(from / EVERY)) await this.judge();
            if (this.ended !== 'budget' && this.step >= this.input!.steps) this.end('budget');
            const now = performance.now();
            if (now - shown.at < SHOWN) continue;
            const speed = (1000 * (this.step - shown.step)) / (now - shown.at);
            this.speed = this.speed ? 0.8 * this.speed + 0.2 * speed : speed;
            shown = { at: now, step: this.step };
            if (++frame % 3 === 0) this.drawing++;
            else await this.lookAgain();
            this.tell();
        }
        await this.settle(this.ended ? JUDGED_AT_END : JUDGED);
    }

    private end(why: 'solved' | 'loss' | 'budget'): void {
        this.ended = why;
        this.pause();
    }

    /** To the next evaluation, or to the end if that comes first. */
    private stepsLeft(): number {
        const budget = this.input!.steps - this.step;
        return Math.min(EVERY - (this.step % EVERY), budget > 0 ? budget : EVERY);
    }

    /** A slice of at most that many steps. */
    private async train(most: number): Promise<void> {
        const { last, losses } = await engine.trainSlice(SLICE, most);
        for (const loss of losses) this.curves.losses.push(loss);
        this.curves.gradients.push(last);
    }

    private async judge(): Promise<void> {
        const met = this.meets(this.evaluation);
        const evaluation = await engine.evaluate(JUDGED, false);
        this.evaluation = evaluation;
        this.curves.evaluations.push(evaluation);
        const last = this.snapshots.at(-1);
        if (!last || this.step - last.step >= this.spacing) this.keep(evaluation, await engine.trainPack());
        if (this.ended === '' && met && this.meets(evaluation)) this.end('solved');
        if (this.ended === '' && evaluation.loss <= this.stopLoss) this.end('loss');
    }

    private meets(evaluation: Evaluation | null): boolean {
        return evaluation !== null && this.stopAt > 0 && evaluation.accuracy >= this.stopAt;
    }

    /** When there are too many, every second one goes. */
    private keep(evaluation: Evaluation, bytes: Uint8Array): void {
        const loss = this.curves.losses.at(-1) ?? NaN;
        this.snapshots = [...this.snapshots, { step: this.step, bytes, loss, evaluation }];
        const most = Math.max(2, Math.min(MOST_SNAPSHOTS, Math.floor(MOST_BYTES / bytes.length)));
        if (this.snapshots.length <= most) return;
        this.spacing *= 2;
        this.snapshots = this.snapshots.filter((_, i) => i % 2 === 0);
    }

    /** At rest there is time for the knock-outs. */
    private async settle(examples: number): Promise<void> {
        this.phase = 'judging';
        this.tell();
        this.evaluation = this.knockedOut = await engine.evaluate(examples, true);
        await this.lookAgain();
        this.phase = 'paused';
    }

    private async knockOut(snapshot: Snapshot): Promise<void> {
        if (snapshot.knockedOut) return;
        const { handle } = await engine.openModel(snapshot.bytes);
        const found = await engine.evaluate(JUDGED, true, handle).finally(() => engine.closeModel(handle));
        snapshot.knockedOut = { ...found, step: snapshot.step };
    }

    private async lookAgain(): Promise<void> {
        if (!this.model) return;
        const { tokens, viewing } = this;
        const model = viewing ? await engine.openModel(viewing.bytes) : this.model;
        const { scale, temperature } = model;
        const input = { tokens, mask: 'none' as const, window: 0, padding: 0, scale, temperature, off: [], gradientAt: -1 };
        const step = viewing ? viewing.step : this.step;
        // Tokens of another task: the room sends the right ones in a moment.
        const fits = tokens.length > 0 && tokens.length <= model.length && Math.max(...tokens) < model.words.length;
        if (fits) this.picture = { tokens, step, look: await engine.look(model.handle, input) };
        if (viewing) await engine.closeModel(model.handle);
    }
}

export const trainer = new Trainer();

/** How many losses of two runs are there to compare, if all of them are the same to the bit; else 0. */
export function sameLosses(a: Curves, b: Curves): number {
    const n = Math.min(a.losses.length, b.losses.length);
    for (let i = 0; i < n; i++) if (a.losses[i] !== b.losses[i]) return 0;
    return n;
}
