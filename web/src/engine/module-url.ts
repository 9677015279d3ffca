// module-url.ts - which of the two engines this browser runs. The relaxed one multiplies and adds as the machine
// does it fastest: a seventh quicker in training, its last bits those of the machine. The page in one file
// carries the other alone, which every browser has.
import plain from '../../../build/web/engine.min.wasm?url';
import relaxed from '../../../build/web-relaxed/engine.min.wasm?url';

// () -> v128: f32x4.relaxed_madd of three zeros
const USES_RELAXED = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 17, 65, 0, 253, 17, 65, 0, 253, 17, 253, 133, 2, 11];

export const moduleUrl = !SINGLE_FILE && WebAssembly.validate(Uint8Array.from(USES_RELAXED)) ? relaxed : plain;
