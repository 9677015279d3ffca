// engine.mjs - the engine without a Worker, for tests in node: the marshalling code of the page, bundled
// at once, over build/web/engine.min.wasm, or with the argument `relaxed` over that of build/web-relaxed.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const RELAXED = process.argv.includes('relaxed');
export const WASM = join(root, RELAXED ? 'build/web-relaxed/engine.min.wasm' : 'build/web/engine.min.wasm');
export const ATTN = process.env.ATTN ?? join(root, 'build/release/cli/attn');

/** Why nothing can be tested here, or ''. */
export function whyNot() {
    if (!existsSync(WASM)) return `no ${WASM} (tools/build-explorer)`;
    if (RELAXED) setFlagsFromString('--experimental-wasm-relaxed-simd'); // of node 20; later ones have it
    if (!WebAssembly.validate(readFileSync(WASM))) return 'this node has no relaxed SIMD';
    if (!existsSync(ATTN)) return `no ${ATTN}`;
    if (!existsSync(join(root, 'web/node_modules/esbuild'))) return 'no esbuild (tools/build-explorer)';
    return '';
}

/** The class Core of web/src/engine/core.ts. */
async function bundle() {
    const { build } = await import('esbuild');
    const outfile = join(root, RELAXED ? 'build/web-relaxed/test-core.mjs' : 'build/web/test-core.mjs');
    mkdirSync(dirname(outfile), { recursive: true });
    await build({ entryPoints: [join(root, 'web/src/engine/core.ts')], bundle: true, format: 'esm', outfile, logLevel: 'error' });
    return (await import(pathToFileURL(outfile))).Core;
}

let Core;

/** A fresh engine. */
export async function newEngine() {
    Core ??= await bundle();
    const { instance } = await WebAssembly.instantiate(readFileSync(WASM), {});
    return new Core(instance);
}
