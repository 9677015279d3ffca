// core-steps.ts - attention step by step: see web/engine/web_steps.c.
import type { Module, Results } from './module';
import { SCALES, type Example, type Part, type Problem, type Statement, type Step, type Steps as StepsFound } from './types';

type Given = keyof Problem['given'];
const GIVEN: Given[] = ['x', 'w_q', 'w_k', 'w_v', 'q', 'k', 'v', 'w_o'];

function problemOf(r: Results): Problem {
    const given: Problem['given'] = {};
    for (const name of GIVEN) if (r.has(name)) given[name] = r.tensor(name);
    return {
        given,
        heads: r.number('heads'),
        scale: 'sqrt',
        temperature: r.number('temperature'),
        causal: r.number('causal') !== 0,
    };
}

export class Steps {
    private parts: Part[] = [];

    constructor(private readonly module: Module) {
        this.parts = module.call('parts').texts('parts') as Part[];
    }

    steps(problem: Problem): StepsFound {
        const head = [problem.heads, SCALES.indexOf(problem.scale), problem.temperature, Number(problem.causal)];
        const given = this.parts.map((part) => problem.given[part as Given]);
        const places = given.flatMap((tensor) => {
            if (!tensor) return [0, 0, 0];
            return [tensor.shape[0]!, tensor.shape[1]!, this.module.lend(Float64Array.from(tensor.data))];
        });
        const r = this.module.call('steps', this.module.lend(Float64Array.from([...head, ...places])));
        const formula = r.texts('formula');
        const sentence = r.texts('sentence');
        const flops = r.tensor('flops').data;
        const perHead = r.tensor('per_head').data;
        const step: StepsFound['step'] = {};
        this.parts.forEach((name, i) => {
            if (!r.has(name)) return;
            const found: Step = {
                name,
                formula: formula[i]!,
                sentence: sentence[i]!,
                perHead: perHead[i] !== 0,
                value: r.tensor(name),
                flops: flops[i]!,
            };
            step[name] = found;
        });
        return { step, heads: r.number('heads'), d_k: r.number('d_k'), scale: r.number('scale_factor') };
    }

    private statements(r: Results): Statement[] {
        const holds = r.rows('holds');
        const stated = r.texts('stated');
        return r.rows('about_what').map(([part, row, unscaled], i) => {
            const words = stated[i]!.split(' ');
            return {
                part: this.parts[part!]!,
                row: row!,
                stated: words,
                holds: words.map((_, j) => holds[i]![j] !== 0),
                unscaled: unscaled !== 0,
            };
        });
    }

    examples(): Example[] {
        return Array.from({ length: this.module.count('example_count') }, (_, i) => {
            const r = this.module.call('example', i);
            return {
                name: r.text('name'),
                title: r.text('title'),
                about: r.text('about'),
                lesson: r.text('lesson'),
                keys: r.texts('keys'),
                queries: r.texts('queries'),
                problem: problemOf(r),
                statements: this.statements(r),
            };
        });
    }

    sentence(text: string, how: { heads: number; d_model: number; d_k: number; seed: number }) {
        const r = this.module.call('sentence', this.module.lendText(text), how.heads, how.d_model, how.d_k, how.seed);
        return { words: r.texts('words'), problem: problemOf(r) };
    }
}
