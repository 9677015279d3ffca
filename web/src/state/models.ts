// models.ts - the models that state.model names: 'trained' and 'file' are stored here by the rooms that made
// them, any other name except 'random' is a bundled file. Only this file opens and closes them: call modelOf()
// before each request to the engine, because a handle is valid only until its model is replaced.
import { bytesOf } from '../engine/bytes';
import { engine } from '../engine/client';
import type { ModelInfo } from '../engine/types';
import type { Provenance } from '../ui/badge';

export interface Weights {
    bytes: Uint8Array; // a safetensors file
    from: Provenance;
}

export interface OpenModel {
    info: ModelInfo;
    from: Provenance;
    size: number; // of the file, in bytes
}

/** A model that comes with the page; the build trained it by this command. */
export interface Bundled {
    name: string;
    command: string;
}

// What tools/build makes: build/web/models/NAME.safetensors and models.json, a list of Bundled.
const urls = import.meta.glob<string>('../../../build/web/models/*.safetensors', { eager: true, query: '?url', import: 'default' });
const lists = import.meta.glob<Bundled[]>('../../../build/web/models/models.json', { eager: true, import: 'default' });

export const BUNDLED: Bundled[] = Object.values(lists).flat();

const kept = new Map<string, Weights>();
const opened = new Map<string, Promise<OpenModel>>();
const listeners = new Set<() => void>();

/** Replaces the model of this name; who listens is told. */
export function keepModel(name: 'trained' | 'file', weights: Weights): void {
    const before = opened.get(name);
    opened.delete(name);
    before?.then(({ info }) => engine.closeModel(info.handle)).catch(() => undefined); // it may never have opened
    kept.set(name, weights);
    listeners.forEach((listener) => listener());
}

/** What was kept under the name; undefined if nothing was since the page was loaded. */
export function keptModel(name: string): Weights | undefined {
    return kept.get(name);
}

async function weightsOf(name: string): Promise<Weights> {
    const mine = kept.get(name);
    if (mine) return mine;
    const url = Object.entries(urls).find(([path]) => path.endsWith(`/${name}.safetensors`))?.[1];
    if (!url) throw new Error(`model ${name}: not here; train it, or open its file in Models`);
    const command = BUNDLED.find((b) => b.name === name)?.command ?? name;
    return { bytes: new Uint8Array(await bytesOf(url)), from: { kind: 'bundled', command } };
}

/** The model of this name, opened when first asked for. */
export function modelOf(name: string): Promise<OpenModel> {
    const known = opened.get(name);
    if (known) return known;
    const opening = weightsOf(name).then(async ({ bytes, from }) => ({ info: await engine.openModel(bytes), from, size: bytes.length }));
    opened.set(name, opening);
    opening.catch(() => opened.get(name) === opening && opened.delete(name)); // so that it can be asked for again
    return opening;
}

/** Calls the listener after each keepModel(); the answer ends that. */
export function onModels(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
}
