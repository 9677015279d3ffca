// messages.ts - the messages between the page and the Worker.
import type { Engine } from './types';

/** The first message is the module, every other one a question. */
export type ToWorker = { wasm: ArrayBuffer } | { id: number; method: keyof Engine; args: unknown[] };

/** An answer, or why there is none. id 0: the module did not start. */
export type FromWorker = { id: number; result: unknown } | { id: number; error: string };

/** The buffers of all arrays in a value: they are handed over, not copied. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
    if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
    else if (value !== null && typeof value === 'object') for (const part of Object.values(value)) buffersOf(part, found);
    return found;
}
