// client.ts - the page's side of the engine: starts the Worker, sends it the module, and turns every
// method of Engine into a request and its response. In the single file the module is a data URL.
import { awaited } from '../awaited';
import { bytesOf } from './bytes';
import type { FromWorker, ToWorker } from './messages';
import { moduleUrl } from './module-url';
import type { Engine } from './types';
import EngineWorker from '#worker';

interface Waiting {
    resolve(result: unknown): void;
    reject(error: Error): void;
}

const worker = new EngineWorker();
const waiting = new Map<number, Waiting>();
let asked = 0;
let broken: Error | undefined;

/** The engine is gone: whoever waits, and whoever asks from now on, is told why. */
function fail(error: Error): void {
    broken = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
}

worker.onerror = (event) => fail(new Error(`the engine stopped: ${event.message}`));
worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.id === 0 && 'error' in data) return fail(new Error(`the engine did not start: ${data.error}`));
    const { resolve, reject } = waiting.get(data.id)!;
    waiting.delete(data.id);
    if ('error' in data) reject(new Error(data.error));
    else resolve(data.result);
};

const started = bytesOf(moduleUrl).then(
    (wasm) => worker.postMessage({ wasm } satisfies ToWorker, [wasm]),
    (error: Error) => fail(new Error(`the engine did not load: ${error.message}`)),
);

async function ask(method: keyof Engine, args: unknown[]): Promise<unknown> {
    await started;
    if (broken) throw broken;
    return new Promise((resolve, reject) => {
        const id = ++asked;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, method, args } satisfies ToWorker);
    });
}

/** The one engine of the page. */
export const engine = new Proxy({} as Engine, {
    get: (_, method) => (...args: unknown[]) => awaited(ask(method as keyof Engine, args)),
});
