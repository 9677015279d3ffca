// worker.ts - runs the engine in a Worker: starts the module that it is sent, then answers requests
// in the order in which they arrive.
import { Core } from './core';
import { buffersOf, type FromWorker, type ToWorker } from './messages';

const send = (message: FromWorker, buffers: Iterable<ArrayBuffer> = []) =>
    (self as DedicatedWorkerGlobalScope).postMessage(message, [...buffers]);

async function start(wasm: ArrayBuffer): Promise<Core> {
    const { instance } = await WebAssembly.instantiate(wasm, {});
    const core = new Core(instance);
    core.warmUp();
    return core;
}

let core: Promise<Core> | undefined;

const words = (error: unknown) => (error instanceof Error ? error.message : String(error));

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
    if ('wasm' in data) {
        core = start(data.wasm);
        core.catch((error: unknown) => send({ id: 0, error: words(error) }));
        return;
    }
    try {
        const method = (await core!)[data.method] as (...args: unknown[]) => unknown;
        const result = method(...data.args);
        send({ id: data.id, result }, buffersOf(result));
    } catch (error) {
        send({ id: data.id, error: words(error) });
    }
};
