// core-look.ts - models, their files, and looks: see web/engine/web_model.c and web_look.c.
import { type Module, type Results } from './module';
import { MASKS, SCALES, type FileHeader, type Look as LookFound, type LookInput, type ModelInfo, type Scale, type Tensor, type Tokenized } from './types';

/** The scale of a model by its name; one of its own is nearest to none of them. */
function scaleName(factor: number, d_k: number): Scale {
    if (factor === -Infinity) return 'sqrt';
    return factor === 1 / d_k && d_k !== 1 ? 'dk' : 'none';
}

export function modelInfo(r: Results): ModelInfo {
    const d_k = r.number('d_k');
    return {
        handle: r.number('handle'),
        task: r.text('task'),
        words: r.texts('words'),
        layers: r.number('layers'),
        heads: r.number('heads'),
        d: r.number('d'),
        d_k,
        length: r.number('length'),
        slots: r.number('slots'),
        causal: r.number('causal') !== 0,
        scale: scaleName(r.number('scale'), d_k),
        temperature: r.number('temperature'),
        parameters: r.number('parameters'),
        seed: r.number('seed'),
        steps: r.number('steps'),
    };
}

function answersOf(r: Results, words: string[]): LookFound['answers'] {
    const { shape, data } = r.tensor('answers');
    const probability = r.tensor('probabilities').data;
    const [n, slots, best] = shape as [number, number, number];
    const ranks = Array.from({ length: best }, (_, i) => i);
    const answer = (at: number) => ({ word: words[data[at]!]!, probability: probability[at]! });
    return Array.from({ length: n }, (_, i) =>
        Array.from({ length: slots }, (_, s) => ranks.map((rank) => answer((i * slots + s) * best + rank))),
    );
}

function gradientOf(r: Results, names: string[]): LookFound['gradient'] {
    const norms = r.tensor('by_parameter').data;
    return {
        weighted: r.tensor('weighted'),
        weightedMean: r.tensor('weighted_mean'),
        byPosition: r.tensor('by_position'),
        byParameter: names.map((name, i) => ({ name, norm: norms[i]! })),
    };
}

function found(r: Results, n: number, answers: LookFound['answers'], names: string[]): LookFound {
    const look: LookFound = {
        n,
        weights: r.tensor('weights'),
        scores: r.tensor('scores'),
        visible: r.bytes('visible'),
        entropy: r.tensor('entropy'),
        mean: r.tensor('mean'),
        largest: r.tensor('largest'),
        rollout: r.tensor('rollout'),
        answers,
        q: r.tensor('q'),
        k: r.tensor('k'),
        states: r.tensor('states'),
    };
    if (r.has('weighted')) look.gradient = gradientOf(r, names);
    return look;
}

export class Look {
    private readonly words = new Map<number, string[]>(); // of each open model

    constructor(private readonly module: Module) {}

    /** Keeps the words of a model for the answers of a look. */
    remember(info: ModelInfo): ModelInfo {
        this.words.set(info.handle, info.words);
        return info;
    }

    openModel(bytes: Uint8Array): ModelInfo {
        return this.remember(modelInfo(this.module.call('model_open', this.module.lend(bytes), bytes.length)));
    }

    closeModel(handle: number): void {
        this.module.call('model_close', handle);
        this.words.delete(handle);
    }

    readHeader(bytes: Uint8Array, fileSize: number = bytes.length): FileHeader {
        const r = this.module.call('header', this.module.lend(bytes), bytes.length, fileSize);
        const dtype = r.texts('dtype');
        const about = r.rows('about');
        const value = r.texts('value');
        const problem = r.text('problem');
        return {
            tensors: r.texts('name').map((name, i) => {
                const [size, rank, ...sides] = about[i]! as [number, number, ...number[]];
                return { name, dtype: dtype[i]!, shape: sides.slice(0, rank), bytes: size };
            }),
            metadata: Object.fromEntries(r.texts('key').map((key, i) => [key, value[i]!])),
            bytes: fileSize,
            isModel: problem === '',
            problem,
        };
    }

    principal({ shape, data }: Tensor): Tensor {
        return this.module.call('principal', this.module.lend(data), shape[0]!, shape[1]!).tensor('points');
    }

    tokenize(handle: number, text: string): Tokenized {
        const r = this.module.call('tokenize', handle, this.module.lendText(text));
        return { words: r.texts('words'), tokens: Array.from(r.tensor('tokens').data), question: r.number('question'), nearest: r.text('nearest') };
    }

    private block(input: LookInput, n: number): number {
        const tokens = this.module.lend(Int32Array.from(input.tokens));
        const off = this.module.lend(Int32Array.from(input.off));
        const mask = MASKS.indexOf(input.mask);
        const scale = SCALES.indexOf(input.scale);
        const numbers = [n, tokens, mask, input.window, input.padding, scale, input.temperature, input.off.length, off];
        return this.module.lend(Float64Array.from([...numbers, input.gradientAt]));
    }

    look(handle: number, input: LookInput): LookFound {
        const n = input.tokens.length;
        const r = this.module.call('look', handle, this.block(input, n));
        const names = r.has('parameter_names') ? r.texts('parameter_names') : [];
        return found(r, n, answersOf(r, this.words.get(handle) ?? []), names);
    }

    lookRandom(
        words: string[],
        how: { layers: number; heads: number; d_model: number; seed: number },
        input: LookInput,
    ): LookFound {
        const text = this.module.lendTexts(words);
        const sizes = this.module.lend(Float64Array.from([how.layers, how.heads, how.d_model, how.seed]));
        const r = this.module.call('look_random', text, sizes, this.block(input, words.length));
        const matrices = r.has('parameter_names') ? r.texts('parameter_names') : [];
        const names = Array.from({ length: how.layers }, (_, l) => matrices.map((name) => `layers.${l}.${name}`)).flat();
        return found(r, words.length, words.map(() => []), names);
    }
}
