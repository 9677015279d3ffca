// run-wasm.mjs - runs a WASI program in node: node run-wasm.mjs PROGRAM.wasm [ARGUMENT...]
// CMake calls it as the emulator of the wasm preset. The program gets arguments, environment, the
// current directory and absolute paths (test data); its exit status is passed on, and a trap gives 134.
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';

// Fast calls from wasm into node:wasi leave V8 in a state where the next garbage collection, often in
// memory.grow, can crash node: one run of five here (see nodejs/node issues 46777 and 53087).
setFlagsFromString('--no-turbo-fast-api-calls');
process.removeAllListeners('warning'); // WASI announces itself as experimental on every start
const { WASI } = await import('node:wasi');

const [program, ...rest] = process.argv.slice(2);
if (!program) {
    console.error('usage: node run-wasm.mjs PROGRAM.wasm [ARGUMENT...]');
    process.exit(2);
}
const wasi = new WASI({
    version: 'preview1',
    args: [program, ...rest],
    env: process.env,
    preopens: { '.': process.cwd(), '/': '/' },
    returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
try {
    process.exitCode = wasi.start(instance);
} catch (error) {
    console.error(`${program}: ${error.stack}`);
    process.exitCode = 134;
}
