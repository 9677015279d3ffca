// module.ts - the wasm module as the rest of the engine sees it: arrays and texts go in by address,
// named results come out as copies, a status other than 0 becomes an Error with the engine's words.
// The layout of a result is that of web/engine/web_result.h. Used in the Worker and by the tests.
import type { Tensor } from './types';

type Numbers = Float32Array | Float64Array | Int32Array | Uint8Array;

interface Exports {
    memory: WebAssembly.Memory;
    take(bytes: number): number;
    give_back(address: number): void;
    error_text(): number;
    result_count(): number;
    result_list(): number;
    [call: string]: unknown;
}

/** What one call found. */
export class Results {
    private readonly found = new Map<string, { shape: number[]; data: Numbers } | string[]>();

    constructor(memory: ArrayBuffer, list: number, count: number) {
        const view = new DataView(memory);
        const bytes = new Uint8Array(memory);
        for (let i = 0; i < count; i++) {
            const at = list + RESULT_BYTES * i;
            const word = (n: number) => view.getInt32(at + 4 * n, true);
            const name = readText(bytes, word(0));
            const shape = Array.from({ length: word(2) }, (_, d) => word(3 + d));
            this.found.set(name, readValue(memory, word(1), shape, word(7)));
        }
    }

    has(name: string): boolean {
        return this.found.has(name);
    }

    texts(name: string): string[] {
        const value = this.found.get(name);
        if (!Array.isArray(value)) throw new Error(`engine: no texts ${name}`);
        return value;
    }

    text(name: string): string {
        return this.texts(name)[0]!;
    }

    private numbers(name: string): { shape: number[]; data: Numbers } {
        const value = this.found.get(name);
        if (value === undefined || Array.isArray(value)) throw new Error(`engine: no numbers ${name}`);
        return value;
    }

    tensor(name: string): Tensor {
        return this.numbers(name) as Tensor;
    }

    bytes(name: string): Uint8Array {
        return this.numbers(name).data as Uint8Array;
    }

    number(name: string): number {
        return this.numbers(name).data[0]!;
    }

    /** Rows of a matrix as plain lists. */
    rows(name: string): number[][] {
        const { shape, data } = this.numbers(name);
        const columns = shape[1]!;
        return Array.from({ length: shape[0]! }, (_, i) => Array.from(data.subarray(i * columns, (i + 1) * columns)));
    }
}

const RESULT_BYTES = 36; // name, kind, rank, four sides, address, and what is to be released
const TEXT = 4;
const KINDS = [Float32Array, Float64Array, Int32Array, Uint8Array] as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function readText(bytes: Uint8Array, at: number): string {
    return decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
}

function readValue(memory: ArrayBuffer, kind: number, shape: number[], at: number) {
    if (kind === TEXT) {
        const pieces = decoder.decode(new Uint8Array(memory, at, shape[1])).split('\0');
        return pieces.slice(0, shape[0]);
    }
    const count = shape.reduce((a, b) => a * b, 1);
    return { shape, data: new KINDS[kind]!(memory, at, count).slice() as Numbers };
}

/** Texts each ended by 0, as C wants them; a 0 inside would end one earlier, so it becomes a space. */
function textBytes(texts: string[]): Uint8Array {
    return encoder.encode(texts.map((text) => text.replaceAll('\0', ' ') + '\0').join(''));
}

export class Module {
    private readonly exports: Exports;
    private lent: number[] = [];

    constructor(instance: WebAssembly.Instance) {
        this.exports = instance.exports as Exports;
    }

    get memoryBytes(): number {
        return this.exports.memory.buffer.byteLength;
    }

    /** Puts an array into the engine's memory until the next call is over; its address. */
    lend(array: Numbers): number {
        const address = this.exports.take(array.byteLength) >>> 0;
        if (address === 0) throw new Error(`out of memory for ${array.byteLength} bytes`);
        this.lent.push(address);
        const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
        new Uint8Array(this.exports.memory.buffer).set(bytes, address);
        return address;
    }

    lendText(text: string): number {
        return this.lend(textBytes([text]));
    }

    /** One after another. */
    lendTexts(texts: string[]): number {
        return this.lend(textBytes(texts));
    }

    /** A number that has no results. */
    count(name: string): number {
        return (this.exports[name] as () => number)();
    }

    call(name: string, ...args: number[]): Results {
        const e = this.exports;
        try {
            const status = (e[name] as (...args: number[]) => number)(...args);
            if (status !== 0) throw new Error(readText(new Uint8Array(e.memory.buffer), e.error_text()));
            return new Results(e.memory.buffer, e.result_list(), e.result_count());
        } finally {
            for (const address of this.lent) e.give_back(address);
            this.lent = [];
        }
    }
}
