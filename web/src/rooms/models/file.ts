// file.ts - reads the user's own file: first only the header at its beginning, then all of it in parts, so
// that reading can be cancelled; also hashes its bytes and guesses what a foreign file contains.
import { engine } from '../../engine/client';
import type { FileHeader } from '../../engine/types';
import * as t from '../../text/en';
import { byteText } from '../../ui/units';

export const LARGEST_FILE = 64 * 1024 * 1024;
const LARGEST_HEADER = 16 * 1024 * 1024;
const FORMAT = 'attn transformer'; // metadata "format" of our models begins so

async function part(file: File, end: number): Promise<Uint8Array> {
    return new Uint8Array(await file.slice(0, end).arrayBuffer());
}

/** The header; nothing after it is read. */
export async function readHead(file: File): Promise<FileHeader> {
    const start = await part(file, 8);
    const length = start.length < 8 ? 0 : Number(new DataView(start.buffer).getBigUint64(0, true));
    if (length > LARGEST_HEADER && length <= file.size - 8) throw new Error(t.models.file.largeHeader(byteText(length), byteText(LARGEST_HEADER)));
    const bytes = await part(file, length > file.size ? 8 : 8 + length);
    return engine.readHeader(bytes, file.size).catch((error: Error) => {
        throw new Error(t.models.file.unreadable(error.message));
    });
}

/** All bytes; told on the way how many there are already. */
export async function readAll(file: File, signal: AbortSignal, onProgress: (done: number) => void): Promise<Uint8Array> {
    const bytes = new Uint8Array(file.size);
    const reader = file.stream().getReader();
    signal.addEventListener('abort', () => void reader.cancel());
    let done = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
        bytes.set(next.value, done);
        done += next.value.length;
        onProgress(done);
    }
    signal.throwIfAborted();
    return bytes;
}

const hex = (numbers: Iterable<number>) => Array.from(numbers, (x) => x.toString(16).padStart(2, '0')).join('');

/** "sha256 1f2e3d4c"; a page that is not served securely has no SHA-256 and takes FNV-1a. */
export async function shortHash(bytes: Uint8Array): Promise<string> {
    if (globalThis.crypto?.subtle) {
        const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
        return `sha256 ${hex(new Uint8Array(digest, 0, 4))}`;
    }
    let hash = 0x811c9dc5;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    return `fnv1a ${hash.toString(16).padStart(8, '0')}`;
}

/** Names of tensors by which other programs' models are known. */
const FAMILIES: [RegExp, string][] = [
    [/^roberta\./, 'RoBERTa'],
    [/^bert\.|encoder\.layer\.\d+\.attention\.self\./, 'BERT'],
    [/(^|\.)h\.\d+\.attn\.c_attn/, 'GPT-2'],
    [/layers\.\d+\.self_attn\.q_proj/, 'Llama'],
    [/block\.\d+\.layer\.\d+\.SelfAttention/, 'T5'],
    [/lora_[AB]/, 'LoRA'],
];

/** What to say of a file that `attn train` has not made; '' if it has. */
export function foreignText(header: FileHeader): string {
    if (header.metadata.format?.startsWith(FORMAT)) return '';
    const family = FAMILIES.find(([pattern]) => header.tensors.some(({ name }) => pattern.test(name)))?.[1];
    return t.models.file.foreign(family, header.tensors.length, byteText(header.bytes));
}
