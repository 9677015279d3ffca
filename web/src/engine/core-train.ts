// core-train.ts - tasks and training: see web/engine/web_train.c.
import { modelInfo } from './core-look';
import type { Module } from './module';
import { SCALES, type Evaluation, type ModelInfo, type TaskExample, type TaskInfo, type TrainInput, type TrainStep } from './types';

/** The places of the ones in a row of 0 and 1. */
const setOf = (row: number[]) => row.flatMap((is, j) => (is ? [j] : []));

export class Train {
    constructor(private readonly module: Module) {}

    tasks(): TaskInfo[] {
        return Array.from({ length: this.module.count('task_count') }, (_, i) => {
            const r = this.module.call('task', i);
            return {
                name: r.text('name'),
                about: r.text('about'),
                words: r.texts('words'),
                n: r.number('n'),
                causal: r.number('causal') !== 0,
                defaults: {
                    layers: r.number('layers'),
                    heads: r.number('heads'),
                    d: r.number('d'),
                    batch: r.number('batch'),
                    steps: r.number('steps'),
                    rate: r.number('rate'),
                },
            };
        });
    }

    taskExample(task: string, seed: number, number: number): TaskExample {
        const r = this.module.call('task_example', this.module.lendText(task), seed, number);
        const words = r.texts('words');
        const tokens = Array.from(r.tensor('tokens').data);
        const right = r.rows('right');
        const rival = r.rows('rival');
        const questions = r.rows('answers').flatMap((answer, q) => {
            const asked = answer.filter((token) => token >= 0);
            if (asked.length === 0) return [];
            const at = r.number('first') + q;
            return [{ at, answer: asked.map((token) => words[token]!), right: setOf(right[q]!), rival: setOf(rival[q]!) }];
        });
        return { tokens, words: tokens.map((token) => words[token]!), questions };
    }

    start(o: TrainInput): ModelInfo {
        const scale = SCALES.indexOf(o.scale);
        const sizes = [o.layers, o.heads, o.d, o.d_k, o.batch, o.rate, o.steps, o.seed, Number(o.causal), scale];
        const block = this.module.lend(Float64Array.from([...sizes, o.temperature]));
        return modelInfo(this.module.call('train_start', this.module.lendText(o.task), block));
    }

    slice(milliseconds: number, most: number): { last: TrainStep; steps: number; losses: number[] } {
        const end = performance.now() + milliseconds;
        const losses: number[] = [];
        for (;;) {
            const [step, loss, gradientNorm, rate, ...layerNorms] = this.module.call('train_step').tensor('step').data;
            losses.push(loss!);
            if (performance.now() < end && losses.length < most) continue;
            return { last: { step: step!, loss: loss!, gradientNorm: gradientNorm!, layerNorms, rate: rate! }, steps: losses.length, losses };
        }
    }

    evaluate(examples: number, knockOut: boolean, handle?: number): Evaluation {
        if (handle !== undefined) {
            this.module.call('train_swap', handle);
            try {
                return this.evaluate(examples, knockOut);
            } finally {
                this.module.call('train_swap', handle);
            }
        }
        const r = this.module.call('train_evaluate', examples, Number(knockOut));
        return {
            step: r.number('step'),
            examples: r.number('examples'),
            loss: r.number('loss'),
            accuracy: r.number('accuracy'),
            selectivity: r.tensor('selectivity'),
            headMean: r.tensor('head_mean'),
            withoutRight: r.number('without_right'),
            withoutRival: r.number('without_rival'),
        };
    }

    pack(): Uint8Array {
        return this.module.call('train_pack').bytes('bytes');
    }
}
