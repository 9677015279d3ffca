// models.ts - the weights behind the name that state.model has: 'trained' and 'file' are kept here by
// the rooms that made them, any other name but 'random' is a bundled file.
import type { Provenance } from '../ui/badge';

export interface Weights {
    bytes: Uint8Array; // a safetensors file
    from: Provenance;
}

const kept = new Map<string, Weights>();

export function keepModel(name: 'trained' | 'file', weights: Weights): void {
    kept.set(name, weights);
}

/** What was kept under the name; undefined if nothing was since the page was loaded. */
export function keptModel(name: string): Weights | undefined {
    return kept.get(name);
}

/** The file of a bundled model. */
export async function bundledModel(name: string): Promise<Uint8Array> {
    const answer = await fetch(`./models/${encodeURIComponent(name)}.safetensors`);
    if (!answer.ok) throw new Error(`${name}.safetensors: ${answer.status} ${answer.statusText}`);
    return new Uint8Array(await answer.arrayBuffer());
}
