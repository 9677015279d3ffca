// state.ts - everything that can be set on the page, with its default. The URL hash is this state
// (hash.ts), undo is a list of them (store.ts). A room keeps its own part under its name.
import { MASKS, SCALES, type Mask, type Scale } from '../engine/types';

export const ROOMS = ['steps', 'explore', 'train', 'models', 'cost'] as const; // also read by web/tests/support.mjs
export type Room = (typeof ROOMS)[number];

export type Aggregate = 'head' | 'mean' | 'max' | 'rollout' | 'gradient';
export type Colors = 'cividis' | 'viridis' | 'ink';
export type Range = 'absolute' | 'row' | 'log';

export interface State {
    room: Room;
    theme: 'auto' | 'light' | 'dark';
    present: boolean; // large type, arrow keys: for lectures
    slide: number; // of the deck

    // shared by the rooms
    sentence: string;
    compare: string; // a second sentence; '' = none
    model: string; // 'random', a bundled name, 'trained' (in Train), 'file' (in Models)
    seed: number;
    layer: number;
    head: number;
    token: number; // the pinned query; -1 = none
    mask: Mask;
    window: number;
    padding: number;
    temperature: number;
    scale: Scale;

    steps: {
        example: string; // name of a worked example, or 'mine'
        step: number; // 0 = the first
        row: number; // the picked cell of the present matrix; -1 = none
        column: number;
        heads: number; // of a sentence of one's own
        width: number; // d_model of it
        edits: string; // "w_q:0,1=0.5;x:..." numbers changed by hand
        speed: number; // of playing: steps in 1.2 s
    };
    explore: {
        aggregate: Aggregate;
        colors: Colors;
        range: Range;
        off: string; // heads switched off: "0.1,1.0" = layer.head
        view: 'heatmap' | 'arcs' | 'heads' | 'shift' | 'gradient';
    };
    train: {
        task: string;
        layers: number; // 0 = as the task has it; so are the next four
        heads: number;
        d: number;
        batch: number;
        rate: number;
        d_k: number; // 0 = d / heads
        causal: boolean; // as well as what the task asks for
        scale: Scale;
        temperature: number;
        stopAt: number; // held-out accuracy
        stopLoss: number; // held-out loss; 0: never
        steps: number; // over which the rate falls; 0 = as the task has it
        example: number; // the held-out example that is shown
        question: number; // which of its questions
    };
    cost: { n: number; d: number; heads: number; d_k: number; causal: boolean };
}

export const DEFAULTS: State = {
    room: 'explore',
    theme: 'auto',
    present: false,
    slide: 0,
    sentence: 'The cat sat on the mat because it was tired.',
    compare: '',
    model: 'whois',
    seed: 42,
    layer: 1,
    head: 0,
    token: -1,
    mask: 'none',
    window: 2,
    padding: 0,
    temperature: 1,
    scale: 'sqrt',
    steps: { example: '004', step: 0, row: -1, column: -1, heads: 2, width: 4, edits: '', speed: 1 },
    explore: { aggregate: 'mean', colors: 'cividis', range: 'absolute', off: '', view: 'heatmap' },
    train: {
        task: 'whois',
        layers: 0,
        heads: 0,
        d: 0,
        batch: 0,
        rate: 0,
        d_k: 0,
        causal: false,
        scale: 'sqrt',
        temperature: 1,
        stopAt: 0.995,
        stopLoss: 0,
        steps: 0,
        example: 0,
        question: 0,
    },
    cost: { n: 4096, d: 64, heads: 1, d_k: 64, causal: false },
};

/** The words a text setting may be; others may be any text. */
export const CHOICES: Record<string, readonly string[]> = {
    room: ROOMS,
    theme: ['auto', 'light', 'dark'],
    mask: MASKS,
    scale: SCALES,
    'explore.aggregate': ['head', 'mean', 'max', 'rollout', 'gradient'],
    'explore.colors': ['cividis', 'viridis', 'ink'],
    'explore.range': ['absolute', 'row', 'log'],
    'explore.view': ['heatmap', 'arcs', 'heads', 'shift', 'gradient'],
    'train.scale': SCALES,
};

/** Smallest and largest of a number; whole numbers where the default is one and the row says so. */
export const LIMITS: Record<string, { min: number; max: number; whole: boolean }> = {
    seed: { min: 0, max: 4294967295, whole: true },
    slide: { min: 0, max: 9, whole: true },
    layer: { min: 0, max: 63, whole: true },
    head: { min: 0, max: 63, whole: true },
    token: { min: -1, max: 511, whole: true },
    window: { min: 0, max: 511, whole: true },
    padding: { min: 0, max: 511, whole: true },
    temperature: { min: 1e-6, max: 1e6, whole: false },
    'steps.step': { min: 0, max: 15, whole: true },
    'steps.row': { min: -1, max: 255, whole: true },
    'steps.column': { min: -1, max: 255, whole: true },
    'steps.heads': { min: 1, max: 8, whole: true },
    'steps.width': { min: 1, max: 64, whole: true },
    'steps.speed': { min: 0.25, max: 4, whole: false },
    'train.layers': { min: 0, max: 8, whole: true },
    'train.heads': { min: 0, max: 8, whole: true },
    'train.d': { min: 0, max: 256, whole: true },
    'train.batch': { min: 0, max: 512, whole: true },
    'train.rate': { min: 0, max: 1, whole: false },
    'train.d_k': { min: 0, max: 256, whole: true },
    'train.temperature': { min: 1e-3, max: 1e3, whole: false },
    'train.stopAt': { min: 0, max: 1, whole: false },
    'train.stopLoss': { min: 0, max: 10, whole: false },
    'train.steps': { min: 0, max: 100000, whole: true },
    'train.example': { min: 0, max: 2047, whole: true },
    'train.question': { min: 0, max: 19, whole: true },
    'cost.n': { min: 32, max: 1048576, whole: true },
    'cost.d': { min: 4, max: 1024, whole: true },
    'cost.heads': { min: 1, max: 128, whole: true },
    'cost.d_k': { min: 2, max: 512, whole: true },
};

/** Longest sentence that is kept, in letters. */
export const LONGEST_TEXT = 20000;
