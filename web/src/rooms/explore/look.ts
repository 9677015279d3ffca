// look.ts - the engine's answer for the state: the words of the sentences, and the attention of the model.
// One request at a time, the newest first; each answer includes its request, so that a picture never mixes
// two of them. While a sentence cannot be read, the last picture stays.
import { useEffect, useRef, useState } from 'preact/hooks';
import { engine } from '../../engine/client';
import type { Look, LookInput, ModelInfo, TaskExample, Tensor, Tokenized } from '../../engine/types';
import { modelOf, onModels } from '../../state/models';
import type { State } from '../../state/state';
import type { Provenance } from '../../ui/badge';
import { cutWords } from './words';

/** Of the model that reads any words. */
export const RANDOM = { layers: 2, heads: 4, d_model: 32 };
export const MOST_WORDS = 512;
const SLOWEST_FRAME = 50; // milliseconds; a hidden page has no frames

export interface Reader {
    info: ModelInfo | undefined; // undefined: random weights
    from: Provenance;
    layers: number;
    heads: number;
    longest: number;
}

export type Text = Tokenized;

/** A sentence and how it is looked at. */
export interface Side extends Text {
    look: Look;
    asked: number[]; // where the model was taught to answer
}

export interface Found {
    settings: Settings;
    reader: Reader;
    a: Side;
    b: Side | undefined;
    allOn: Look | undefined; // a with every head, when some are off
    masked: { full: Look; causal: Look } | undefined; // a with both, for the view of gradients
    shift: Tensor | undefined; // (tokens before and after, of a, then of b; 2) on shared axes, for the view of shifts
}

export interface Reading {
    found: Found | null;
    reader: Reader | null;
    texts: Text[]; // of both sentences, as they are now
    error: string;
}

function settingsOf(state: State) {
    const { model, sentence, compare, seed, mask, window, padding, scale, temperature } = state;
    const byGradient = state.explore.view === 'gradient' || state.explore.aggregate === 'gradient';
    return {
        model, sentence, compare, mask, scale, temperature,
        seed: model === 'random' ? seed : 0,
        window: mask === 'window' ? window : 0,
        padding: mask === 'padding' ? padding : 0,
        off: state.explore.off,
        gradientAt: byGradient ? state.token : null, // null: not asked for; -1: at the question
        view: state.explore.view,
    };
}
export type Settings = ReturnType<typeof settingsOf>;

async function readerOf(s: Settings): Promise<Reader> {
    if (s.model === 'random') return { info: undefined, from: { kind: 'random', seed: s.seed }, ...RANDOM, longest: MOST_WORDS };
    const { info, from } = await modelOf(s.model);
    return { info, from, layers: info.layers, heads: info.heads, longest: info.length };
}

const MOST_TEXTS = 8;
const texts = new Map<string, Text>(); // the last ones: a slider asks for the same words again and again

async function textOf(reader: Reader, sentence: string): Promise<Text> {
    const key = `${reader.info?.handle} ${sentence}`;
    const known = texts.get(key);
    if (known) return known;
    const words = cutWords(sentence);
    const text = reader.info ? await engine.tokenize(reader.info.handle, sentence) : { words, tokens: words.map((_, i) => i), question: -1, nearest: '' };
    if (texts.size === MOST_TEXTS) texts.clear();
    texts.set(key, text);
    return text;
}

export function canBeRead(text: Text, reader: Reader): boolean {
    return text.tokens.length > 0 && text.tokens.length <= reader.longest && !text.tokens.includes(-1) && text.nearest === '';
}

/** "0.1,1.0" as layer * heads + head, of heads that there are. */
export function headsOff(off: string, reader: { layers: number; heads: number }): number[] {
    const places = off.split(',').map((place) => /^(\d+)\.(\d+)$/.exec(place)?.slice(1).map(Number));
    return places.flatMap((p) => (p && p[0]! < reader.layers && p[1]! < reader.heads ? [p[0]! * reader.heads + p[1]!] : []));
}

const shown = new Map<string, Promise<TaskExample | undefined>>();
/** An example of the task, for the places where it asks. */
function exampleOf(task: string): Promise<TaskExample | undefined> {
    const known = shown.get(task) ?? engine.taskExample(task, 1, 0).catch(() => undefined);
    shown.set(task, known);
    return known;
}

/** Where an answer means something: at the token the sentence is asked about, or where the task always asks. */
async function askedOf(reader: Reader, text: Text): Promise<number[]> {
    if (text.question >= 0) return [text.question];
    const example = reader.info?.task ? await exampleOf(reader.info.task) : undefined;
    return example ? example.questions.map((q) => q.at).filter((at) => at < text.words.length) : [];
}

function ask(reader: Reader, s: Settings, text: Text, change: Partial<LookInput>): Promise<Look> {
    const { mask, window, scale, temperature } = s;
    const padding = Math.min(s.padding, text.words.length);
    const input = { tokens: text.tokens, mask, window, padding, scale, temperature, off: headsOff(s.off, reader), gradientAt: -1, ...change };
    return reader.info ? engine.look(reader.info.handle, input) : engine.lookRandom(text.words, { ...RANDOM, seed: s.seed }, input);
}

async function sideOf(reader: Reader, s: Settings, text: Text): Promise<Side> {
    const asked = await askedOf(reader, text);
    const look = await ask(reader, s, text, { gradientAt: s.gradientAt === null ? -1 : answerAt(s.gradientAt, asked, text.words.length) });
    return { ...text, look, asked };
}

/** The token whose answer is meant: the pinned one, or the first that is asked about. */
export function answerAt(token: number, asked: number[], n: number): number {
    return token >= 0 && token < n ? token : (asked[0] ?? n - 1);
}

/** The rows of both sentences as one matrix. */
function statesOf(sides: Side[]): Tensor {
    const all = sides.map(({ look }) => look.states);
    const d = all[0]!.shape[2]!;
    const data = Float32Array.from(all.flatMap((states) => Array.from(states.data)));
    return { shape: [data.length / d, d], data };
}

async function find(s: Settings, reader: Reader, texts: Text[]): Promise<Found> {
    const [text, second] = texts as [Text, Text | undefined];
    const a = await sideOf(reader, s, text);
    const b = second && (await sideOf(reader, s, second));
    const allOn = headsOff(s.off, reader).length > 0 ? await ask(reader, s, text, { off: [] }) : undefined;
    const gradientAt = answerAt(s.gradientAt ?? -1, a.asked, text.words.length);
    const masked = s.view === 'gradient'
        ? { full: await ask(reader, s, text, { mask: 'none', gradientAt }), causal: await ask(reader, s, text, { mask: 'causal', gradientAt }) }
        : undefined;
    const shift = s.view === 'shift' ? await engine.principal(statesOf(b ? [a, b] : [a])) : undefined;
    return { settings: s, reader, a, b, allOn, masked, shift };
}

async function read(s: Settings): Promise<Omit<Reading, 'error'>> {
    const reader = await readerOf(s);
    const sentences = s.compare === '' ? [s.sentence] : [s.sentence, s.compare];
    const both = await Promise.all(sentences.map((sentence) => textOf(reader, sentence)));
    const found = both.every((text) => canBeRead(text, reader)) ? await find(s, reader, both) : null;
    return { reader, texts: both, found };
}

const nextFrame = () =>
    new Promise<void>((resolve) => {
        requestAnimationFrame(() => resolve());
        setTimeout(resolve, SLOWEST_FRAME);
    });

/** Runs one at a time, with a frame between that is free of them; of those that wait only the newest. */
class Newest<T> {
    private next: T | undefined;
    private isBusy = false;

    constructor(private readonly run: (what: T) => Promise<void>) {}

    async ask(what: T): Promise<void> {
        this.next = what;
        if (this.isBusy) return;
        this.isBusy = true;
        while (this.next !== undefined) {
            const now = this.next;
            this.next = undefined;
            await this.run(now);
            await nextFrame(); // draws what was found
            await nextFrame(); // belongs to the slider alone
        }
        this.isBusy = false;
    }
}

export function useReading(state: State): Reading {
    const [reading, setReading] = useState<Reading>({ found: null, reader: null, texts: [], error: '' });
    const [version, setVersion] = useState(0); // of the models that other rooms keep
    const settings = settingsOf(state);
    const newest = useRef(
        new Newest<Settings>((s) =>
            read(s).then(
                (now) => setReading((last) => ({ ...now, found: now.found ?? last.found, error: '' })),
                (error: Error) => setReading((last) => ({ ...last, error: error.message })),
            ),
        ),
    );
    useEffect(
        () =>
            onModels(() => {
                texts.clear(); // another model may get the handle
                setVersion((v) => v + 1);
            }),
        [],
    );
    useEffect(() => void newest.current.ask(settings), [JSON.stringify(settings), version]);
    return reading;
}
