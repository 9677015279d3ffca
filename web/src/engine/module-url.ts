// module-url.ts - chooses between the two engines. The relaxed one uses the machine's fastest multiply-add: it trains
// a seventh faster, and its last bits depend on the machine. The single-file page contains only the other one, which
// runs in every browser.
import plain from '../../../build/web/engine.min.wasm?url';
import relaxed from '../../../build/web-relaxed/engine.min.wasm?url';

// () -> v128: f32x4.relaxed_madd of three zeros
const USES_RELAXED = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 17, 65, 0, 253, 17, 65, 0, 253, 17, 253, 133, 2, 11];

export const moduleUrl = !SINGLE_FILE && WebAssembly.validate(Uint8Array.from(USES_RELAXED)) ? relaxed : plain;
