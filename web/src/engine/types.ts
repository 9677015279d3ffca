// types.ts - the interface of the engine. Every number on the page comes from it: it is the C library
// compiled to WebAssembly, running in a Worker. client.ts implements it. Tests: web/tests/engine.test.mjs

/** Row-major numbers with a shape. */
export interface Tensor {
    shape: number[];
    data: Float32Array | Float64Array | Int32Array;
}

export type Scale = 'none' | 'sqrt' | 'dk';
export type Mask = 'none' | 'causal' | 'window' | 'padding';
/** As the engine numbers them. */
export const SCALES: Scale[] = ['none', 'sqrt', 'dk'];
export const MASKS: Mask[] = ['none', 'causal', 'window', 'padding'];

// ---- Steps: one attention layer, every number of it ----

/** What is given: X with W_Q, W_K, W_V (or none: Q = K = V = X), or Q, K, V; W_O or not. */
export interface Problem {
    given: Partial<Record<'x' | 'w_q' | 'w_k' | 'w_v' | 'q' | 'k' | 'v' | 'w_o', Tensor>>;
    heads: number;
    scale: Scale;
    temperature: number;
    causal: boolean;
}

/** The names of `attn trace --json`. */
export type Part =
    | 'x' | 'w_q' | 'w_k' | 'w_v' | 'q' | 'k' | 'v'
    | 'scores' | 'scaled' | 'masked' | 'weights' | 'output' | 'concat' | 'w_o' | 'y';

export interface Step {
    name: Part;
    formula: string; // "Q = X W_Q"
    sentence: string;
    perHead: boolean;
    value: Tensor; // (heads, rows, columns); -Infinity where masked
    flops: number;
}

export interface Steps {
    step: Partial<Record<Part, Step>>;
    heads: number;
    d_k: number;
    scale: number; // the number that scores are multiplied by
}

/** What a document says of one row of one matrix. */
export interface Statement {
    part: Part;
    row: number;
    stated: string[]; // as printed
    holds: boolean[]; // against the truth computed now
    unscaled: boolean; // said of scores that are not divided by sqrt(d_k)
}

/** A worked example of the documents. */
export interface Example {
    name: string; // "004"
    title: string;
    about: string;
    lesson: string; // "" if none
    keys: string[];
    queries: string[];
    problem: Problem;
    statements: Statement[];
}

// ---- Explore: a model and a text ----

export interface ModelInfo {
    handle: number;
    task: string; // "" if unknown
    words: string[];
    layers: number;
    heads: number;
    d: number;
    d_k: number;
    length: number; // longest text
    slots: number;
    causal: boolean;
    scale: Scale; // it was trained with
    temperature: number;
    parameters: number;
    seed: number;
    steps: number; // of training behind it
}

/** A safetensors file before it is trusted. */
export interface FileHeader {
    tensors: { name: string; dtype: string; shape: number[]; bytes: number }[];
    metadata: Record<string, string>;
    bytes: number;
    isModel: boolean; // one of ours
    problem: string; // why not, "" if it is
}

export interface LookInput {
    /** Token numbers of a model; for the random head: the words. */
    tokens: number[];
    mask: Mask; // a causal model stays causal under any mask
    window: number; // keys on each side, for 'window'
    padding: number; // tokens at the end that nobody sees, for 'padding'
    scale: Scale;
    temperature: number;
    /** Heads that are switched off: layer * heads + head. */
    off: number[];
    /** Row whose answer is differentiated for `gradient`; -1: no gradient. */
    gradientAt: number;
}

export interface Look {
    n: number;
    weights: Tensor; // (layers, heads, n, n)
    scores: Tensor; // (layers, heads, n, n) before softmax
    visible: Uint8Array; // (n, n) 0: masked
    entropy: Tensor; // (layers, heads, n) nats
    mean: Tensor; // (layers, n, n) of the weights over the heads
    largest: Tensor; // (layers, n, n) alike
    rollout: Tensor; // (n, n) of 0.5 A + 0.5 I, mean over heads
    answers: { word: string; probability: number }[][][]; // (n)(slots) best five
    q: Tensor; // (layers, heads, n, d_k)
    k: Tensor;
    states: Tensor; // (2, n, d) the tokens before the first layer and after the last
    gradient?: {
        /** (layers, heads, n, n) weights times what they do for the answer, where that is positive. */
        weighted: Tensor;
        weightedMean: Tensor; // (layers, n, n) over the heads
        byPosition: Tensor; // (n) norm of dL/dx
        byParameter: { name: string; norm: number }[];
    };
}

// ---- Train ----

export interface TaskInfo {
    name: string;
    about: string;
    words: string[];
    n: number; // tokens of an example
    causal: boolean;
    defaults: { layers: number; heads: number; d: number; batch: number; steps: number; rate: number };
}

export interface TrainInput {
    task: string;
    layers: number;
    heads: number;
    d: number;
    d_k: number; // 0: d / heads
    batch: number;
    rate: number;
    steps: number;
    seed: number;
    causal: boolean;
    scale: Scale;
    temperature: number;
}

export interface TrainStep {
    step: number;
    loss: number;
    gradientNorm: number; // before clipping
    layerNorms: number[]; // of each layer's part of it
    rate: number;
}

export interface Evaluation {
    step: number;
    examples: number;
    loss: number;
    accuracy: number;
    selectivity: Tensor; // (layers, heads)
    headMean: Tensor; // (layers)
    withoutRight: number; // NaN if not asked for
    withoutRival: number;
}

/** A sentence as the words of a model. */
export interface Tokenized {
    words: string[]; // known ones as the model writes them, others as they were typed
    tokens: number[]; // -1: not a word of the model
    question: number; // the token that its task asks about; -1: the sentence does not say
    nearest: string; // '' if the model has learned to read such sentences, else the nearest of them
}

/** An example of a task with what decides the answers. */
export interface TaskExample {
    tokens: number[];
    words: string[];
    questions: { at: number; answer: string[]; right: number[]; rival: number[] }[];
}

// ---- Cost ----

export interface Cost {
    pairs: number;
    visiblePairs: number; // not masked: flops count these
    flops: number;
    backwardFlops: number;
    bytes: number; // inputs and outputs
    denseBytes: number; // what the n x n weights would take
    scratchBytes: number; // of the tiled engine
}

export interface Sharpness {
    d_k: number;
    entropy: Record<Scale, number>; // mean over trials and rows, nats
    largest: Record<Scale, number>;
}

// ---- the engine ----

export interface Engine {
    version(): Promise<{ version: string; isa: string }>;

    examples(): Promise<Example[]>;
    /** Words and seeded random numbers for a sentence of one's own. */
    sentence(text: string, how: { heads: number; d_model: number; d_k: number; seed: number }):
        Promise<{ words: string[]; problem: Problem }>;
    steps(problem: Problem): Promise<Steps>;

    openModel(bytes: Uint8Array): Promise<ModelInfo>;
    /** Of a large file its beginning, to the end of the header, and its size will do: isModel is then false. */
    readHeader(bytes: Uint8Array, fileSize?: number): Promise<FileHeader>;
    closeModel(handle: number): Promise<void>;
    /** Token numbers, -1 for words the model does not know. */
    tokenize(handle: number, text: string): Promise<Tokenized>;
    look(handle: number, input: LookInput): Promise<Look>;
    /** Random weights over any words: shows the arithmetic, not meaning. */
    lookRandom(words: string[], how: { layers: number; heads: number; d_model: number; seed: number },
        input: LookInput): Promise<Look>;
    /** Rows (n, d) on the two axes along which they differ most: (n, 2). */
    principal(rows: Tensor): Promise<Tensor>;

    tasks(): Promise<TaskInfo[]>;
    /** Starts anew at step 0; there is one trainer. */
    trainStart(input: TrainInput): Promise<ModelInfo>;
    /** Runs about `milliseconds` of steps, 1 to `most`; the last one's numbers and how many there were. */
    trainSlice(milliseconds: number, most: number): Promise<{ last: TrainStep; steps: number; losses: number[] }>;
    /** Of the weights now, or of an open model that was packed in this run. */
    evaluate(examples: number, knockOut: boolean, handle?: number): Promise<Evaluation>;
    taskExample(task: string, seed: number, number: number): Promise<TaskExample>;
    /** The weights now, as a safetensors file; openModel() reads it. */
    trainPack(): Promise<Uint8Array>;

    cost(n: number, d: number, heads: number, causal: boolean): Promise<Cost>;
    sharpness(d_k: number, n: number, trials: number, seed: number): Promise<Sharpness>;
    /** Weights of one draw at each scale: figure F3. */
    scalingMaps(d_k: number, n: number, seed: number): Promise<Record<Scale, Tensor>>;
}
