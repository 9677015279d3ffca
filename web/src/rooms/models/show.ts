// show.ts - puts a model into the state, with a sentence that it can read and the token at which to ask.
import { engine } from '../../engine/client';
import type { Tokenized } from '../../engine/types';
import { modelOf } from '../../state/models';
import { store } from '../../state/store';
import * as t from '../../text/en';
import type { State } from '../../state/state';

/** The token whose answer means something: where the sentence is asked; the last one if it does not say. */
export function questionOf({ question, words }: Tokenized): number {
    return question >= 0 ? question : words.length - 1;
}

async function sentenceFor(task: string, words: string[], length: number): Promise<string> {
    const known = (t.models.sentences as Record<string, string>)[task];
    if (known) return known;
    const example = task ? await engine.taskExample(task, 1, 0).catch(() => undefined) : undefined;
    return (example?.words ?? words).slice(0, length).join(' ');
}

/** Makes it the model of the page; in this room, or in another. */
export async function show(name: string, room: State['room'] = 'models'): Promise<void> {
    const { info } = await modelOf(name);
    const { model, sentence } = store.get();
    const text = model === name && name !== 'file' ? sentence : await sentenceFor(info.task, info.words, info.length);
    const token = questionOf(await engine.tokenize(info.handle, text));
    const { scale, temperature } = info;
    store.set((s) => void Object.assign(s, { room, model: name, sentence: text, token, layer: info.layers - 1, head: 0, mask: 'none', scale, temperature }));
}
