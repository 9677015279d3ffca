// engine.test.mjs - the engine of the page against the attn command and against what must hold of any
// attention: every method, in node. Exit code 77 where the module, the command or esbuild is missing.
//   tools/with-node node web/tests/engine.test.mjs [relaxed]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ATTN, newEngine, RELAXED, WASM, whyNot } from './engine.mjs';

const reason = whyNot();
if (reason) {
    console.log(`SKIP: ${reason}`);
    process.exit(77);
}

const engine = await newEngine();
const folder = mkdtempSync(join(tmpdir(), 'attn-engine-'));
after(() => rmSync(folder, { recursive: true }));

/** What the command says; ISA of our class of bits: no fused multiply-add. */
const attn = (...args) => JSON.parse(execFileSync(ATTN, [...args, '--json'], { env: { ...process.env, ATTN_ISA: 'sse2' }, maxBuffer: 1 << 28 }));

const flat = (value) => (Array.isArray(value) ? value.flatMap(flat) : [value === null ? -Infinity : value]);

/** Every number of a tensor is that of the other list, to a tolerance. */
function assertClose(found, expected, tolerance, what) {
    const list = flat(expected);
    assert.equal(found.length, list.length, what);
    for (let i = 0; i < list.length; i++) {
        const off = Math.abs(found[i] - list[i]);
        if (found[i] !== list[i] && !(off <= tolerance)) assert.fail(`${what}: element ${i}: ${found[i]}, expected ${list[i]}`);
    }
}

const INPUT = { tokens: [], mask: 'none', window: 2, padding: 0, scale: 'sqrt', temperature: 1, off: [], gradientAt: -1 };
const HOW = { layers: 2, heads: 2, d_model: 8, seed: 42 };
const WORDS = ['The', 'cat', 'sat', 'on', 'the', 'mat', '.'];

/** Options of training as `attn train TASK --seed N` has them. */
const trainInput = (task, changes = {}) => {
    const { defaults, causal } = engine.tasks().find((t) => t.name === task);
    return { task, ...defaults, d_k: 0, seed: 1, causal, scale: 'sqrt', temperature: 1, ...changes };
};

/** A model of the command, trained for a few steps. */
const trained = new Map();
function model(task, steps = 60) {
    const path = join(folder, `${task}.safetensors`);
    if (!trained.has(task)) trained.set(task, attn('train', task, '--seed', '1', '--steps', String(steps), '--threads', '1', '--save', path));
    return { path, report: trained.get(task), info: engine.openModel(readFileSync(path)) };
}

const rowSums = ({ shape, data }) => {
    const n = shape.at(-1);
    return Array.from({ length: data.length / n }, (_, r) => data.subarray(r * n, (r + 1) * n).reduce((a, b) => a + b, 0));
};

// ---- the module ----

test('the module imports nothing and fits its budget', () => {
    const bytes = readFileSync(WASM);
    const gz = gzipSync(bytes, { level: 9 }).length;
    console.log(`engine.wasm: ${bytes.length} bytes, ${gz} gzip`);
    assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
    assert.ok(gz <= 80_000, `${gz} bytes gzip`);
    assert.ok(bytes.length <= 200_000, `${bytes.length} bytes`);
});

test('the version is that of the command', () => {
    assert.deepEqual(engine.version(), { version: attn('info').version, isa: 'simd128' });
});

// ---- steps ----

function assertTrace(found, trace) {
    assert.deepEqual(Object.keys(found.step), trace.steps.map((step) => step.name));
    assert.equal(found.scale, trace.scale);
    assert.equal(found.d_k, trace.d_k);
    for (const step of trace.steps) {
        const ours = found.step[step.name];
        assertClose(ours.value.data, step.values, 1e-12, step.name);
        const { formula, sentence, flops } = ours;
        assert.deepEqual({ formula, sentence, flops }, { formula: step.formula, sentence: step.sentence, flops: step.flops });
        assert.deepEqual(ours.perHead ? ours.value.shape : ours.value.shape.slice(1), step.shape);
    }
}

for (const example of engine.examples()) {
    test(`example ${example.name} is what attn trace computes`, () => {
        const trace = attn('trace', '--example', example.name);
        assertTrace(engine.steps(example.problem), trace);
        assert.deepEqual([example.keys, example.queries, example.title], [trace.keys, trace.queries, trace.title]);
    });
    test(`example ${example.name}: what the document says holds where attn trace says so`, () => {
        const plain = attn('trace', '--example', example.name);
        const unscaled = attn('trace', '--example', example.name, '--no-scale');
        const said = (trace) => trace.steps.flatMap((step) => step.stated.map((s) => ({ part: step.name, row: s.row, holds: s.holds })));
        const ours = (is) => example.statements.filter((s) => s.unscaled === is).map(({ part, row, holds }) => ({ part, row, holds }));
        const sorted = (list) => list.map((x) => JSON.stringify(x)).sort();
        assert.deepEqual(sorted(ours(false)), sorted(said(plain)));
        assert.deepEqual(sorted(ours(true)), sorted(said(unscaled)));
    });
}

test('a sentence of one\'s own is what attn trace computes', () => {
    const text = 'I love ünïcode phones.';
    const { words, problem } = engine.sentence(text, { heads: 2, d_model: 8, d_k: 0, seed: 7 });
    assert.deepEqual(words, ['I', 'love', 'ünïcode', 'phones', '.']);
    assertTrace(engine.steps(problem), attn('trace', text, '--seed', '7', '--heads', '2', '--d-model', '8'));
});

test('causal steps with a temperature and no scale are what attn trace computes', () => {
    const { problem } = engine.sentence('one two three', { heads: 1, d_model: 6, d_k: 5, seed: 3 });
    const trace = attn('trace', 'one two three', '--seed', '3', '--heads', '1', '--d-model', '6', '--d-k', '5', '--causal', '--temperature', '0.5', '--no-scale');
    assertTrace(engine.steps({ ...problem, causal: true, temperature: 0.5, scale: 'none' }), trace);
});

test('scores divided by d_k are called that', () => {
    const { problem } = engine.sentence('a b', { heads: 1, d_model: 4, d_k: 0, seed: 1 });
    const { step, scale } = engine.steps({ ...problem, scale: 'dk' });
    assert.equal(scale, 0.25);
    assert.equal(step.scaled.formula, 'S / d_k');
    assert.match(step.scaled.sentence, /^Divided by d_k = 4/);
});

for (const [what, change, says] of [
    ['a matrix that does not fit', { given: { x: { shape: [2, 3], data: new Float64Array(6) }, w_q: { shape: [4, 2], data: new Float64Array(8) }, w_k: { shape: [3, 2], data: new Float64Array(6) }, w_v: { shape: [3, 2], data: new Float64Array(6) } } }, /w_q: 4 rows, expected 3, the columns of x/],
    ['a number that is not finite', { given: { x: { shape: [1, 1], data: new Float64Array([NaN]) } } }, /x: nan in row 1, expected finite numbers/],
    ['heads that do not divide', { heads: 3 }, /heads: 3 do not divide the 2 columns of w_q/],
    ['a temperature of 0', { temperature: 0 }, /temperature: 0, expected a finite number above 0/],
    ['nothing', { given: {} }, /q, k, v: 0 of 3 given/],
]) {
    test(`steps refuse ${what}`, () => {
        const { problem } = engine.examples().find((e) => e.name === '004');
        assert.throws(() => engine.steps({ ...problem, ...change }), says);
    });
}

test('an empty sentence is refused', () => {
    assert.throws(() => engine.sentence(' ', { heads: 1, d_model: 4, d_k: 0, seed: 1 }), /the sentence is empty/);
});

// ---- models and looks ----

for (const [task, text] of [['whois', 'The red cat sat on the blue mat because it was tired.'], ['induction', null]]) {
    test(`a look at ${task} is what attn attend sees`, () => {
        const { path, info } = model(task);
        const sentence = text ?? engine.taskExample(task, 1, 0).words.join(' ');
        const { words, tokens } = engine.tokenize(info.handle, sentence);
        const attend = attn('attend', path, sentence);
        const look = engine.look(info.handle, { ...INPUT, tokens });
        assert.deepEqual(words, attend.tokens);
        assertClose(look.weights.data, attend.weights, 1e-6, 'weights');
        for (const { at, answer } of attend.answers)
            answer.forEach(({ word, probability }, slot) => {
                assert.equal(look.answers[at][slot][0].word, word);
                assert.ok(Math.abs(look.answers[at][slot][0].probability - probability) < 1e-6);
            });
    });
}

test('a causal and sharper look is what attn attend sees', () => {
    const { path, info } = model('whois');
    const text = 'The red cat sat on the blue mat because it was tired.';
    const look = engine.look(info.handle, { ...INPUT, tokens: engine.tokenize(info.handle, text).tokens, mask: 'causal', temperature: 0.5 });
    assertClose(look.weights.data, attn('attend', path, text, '--causal', '--temperature', '0.5').weights, 1e-6, 'weights');
});

test('what is known of a model is what its file says', () => {
    const { info } = model('whois');
    const { handle, words, ...rest } = info;
    assert.ok(handle > 0);
    assert.deepEqual(words, engine.tasks()[0].words);
    assert.deepEqual(rest, { task: 'whois', layers: 2, heads: 2, d: 32, d_k: 16, length: 13, slots: 2, causal: false, scale: 'sqrt', temperature: 1, parameters: 24820, seed: 1, steps: 60 });
});

// The criterion of docs/training.md, on the file that comes with the page.
test('in the shipped model “it” looks at what it refers to', () => {
    const info = engine.openModel(readFileSync(new URL('../../build/web/models/whois.safetensors', import.meta.url)));
    assert.equal(info.seed, 42);
    for (const [adjective, noun, phrase] of [['tired', 'cat', [0, 1]], ['dirty', 'mat', [4, 5]]]) {
        const { words, tokens, question, nearest } = engine.tokenize(info.handle, `The cat sat on the mat because it was ${adjective}.`);
        const { mean, answers } = engine.look(info.handle, { ...INPUT, tokens });
        const n = words.length;
        const row = mean.data.slice(((info.layers - 1) * n + question) * n, ((info.layers - 1) * n + question + 1) * n);
        assert.deepEqual([words[question], nearest], ['it', '']);
        assert.equal(answers[question][0][0].word, noun);
        assert.ok(phrase.reduce((sum, j) => sum + row[j], 0) > 0.9, `${adjective}: ${row}`);
    }
});

test('a sentence outside the language has a nearest one', () => {
    const { info } = model('whois');
    const read = (text) => engine.tokenize(info.handle, text);
    assert.equal(read('The dragon sat on the mat because it was dirty').nearest, 'The cat sat on the mat because it was dirty');
    assert.equal(read('the fox lay near the blue car because it was rusty.').nearest, '');
    assert.deepEqual(engine.tokenize(model('induction').info.handle, 'a b c').nearest, '');
});

test('unknown words are -1 and stay as they were typed', () => {
    const { info } = model('whois');
    assert.deepEqual(engine.tokenize(info.handle, 'the Elephant').tokens.map((t) => t < 0), [false, true]);
    assert.equal(engine.tokenize(info.handle, 'the Elephant').words[1], 'Elephant');
});

const looks = {
    model: (input) => {
        const { info } = model('whois');
        return engine.look(info.handle, { ...input, tokens: engine.tokenize(info.handle, WORDS.join(' ')).tokens });
    },
    'the random layers': (input) => engine.lookRandom(WORDS, HOW, input),
};
const sees = {
    none: () => true,
    causal: (i, j) => j <= i,
    window: (i, j) => Math.abs(i - j) <= 2,
    padding: (i, j) => j < WORDS.length - 3,
};
for (const [who, look] of Object.entries(looks)) {
    for (const [mask, visible] of Object.entries(sees)) {
        test(`${who}, mask ${mask}: rows sum to 1, masked pairs are exactly 0`, () => {
            const found = look({ ...INPUT, mask, padding: 3 });
            const n = WORDS.length;
            assert.equal(found.n, n);
            assert.deepEqual(found.weights.shape, [2, 2, n, n]);
            for (const sum of rowSums(found.weights)) assert.ok(Math.abs(sum - 1) < 1e-6, `sum ${sum}`);
            for (const sum of rowSums(found.rollout)) assert.ok(Math.abs(sum - 1) < 1e-5, `sum of the rollout ${sum}`);
            found.weights.data.forEach((w, at) => {
                const seen = visible(Math.floor(at / n) % n, at % n);
                assert.equal(found.visible[at % (n * n)], Number(seen));
                assert.equal(w > 0, seen, `weight ${w}`);
                assert.equal(found.scores.data[at] === -Infinity, !seen);
            });
        });
    }
    test(`${who}: entropy is that of the weights, in nats`, () => {
        const found = look(INPUT);
        const n = WORDS.length;
        const entropy = rowSums({ ...found.weights, data: found.weights.data.map((w) => (w > 0 ? -w * Math.log(w) : 0)) });
        assert.deepEqual(found.entropy.shape, [2, 2, n]);
        assertClose(found.entropy.data, entropy, 1e-5, 'entropy');
    });
    test(`${who}: rollout is the product of half the mean of the heads and half the identity`, () => {
        const found = look(INPUT);
        const n = WORDS.length;
        const mixed = [0, 1].map((l) => Array.from({ length: n * n }, (_, at) => {
            const [a, b] = [0, 1].map((h) => found.weights.data[(l * 2 + h) * n * n + at]);
            return (a + b) / 4 + (at % (n + 1) === 0 ? 0.5 : 0);
        }));
        const product = Array.from({ length: n * n }, (_, at) => {
            let sum = 0;
            for (let k = 0; k < n; k++) sum += mixed[1][Math.floor(at / n) * n + k] * mixed[0][k * n + (at % n)];
            return sum;
        });
        assertClose(found.rollout.data, product, 1e-6, 'rollout');
    });
    test(`${who}: scores without scale are sqrt(d_k) times those with it in the first layer`, () => {
        const first = (scale) => look({ ...INPUT, scale }).scores.data.subarray(0, 2 * WORDS.length ** 2);
        const d_k = who === 'model' ? 16 : 4;
        assertClose(first('none'), Array.from(first('sqrt'), (s) => s * Math.sqrt(d_k)), 1e-4, 'none');
        assertClose(first('dk'), Array.from(first('sqrt'), (s) => s / Math.sqrt(d_k)), 1e-4, 'dk');
    });
    test(`${who}: a score is the product of its query and key, times the scale`, () => {
        const { q, k, scores, n } = look(INPUT);
        const d_k = q.shape[3];
        const dot = (h, i, j) => Array.from({ length: d_k }, (_, c) => q.data[(h * n + i) * d_k + c] * k.data[(h * n + j) * d_k + c]).reduce((x, y) => x + y);
        const all = Array.from(scores.data, (_, at) => dot(Math.floor(at / n / n), Math.floor(at / n) % n, at % n) / Math.sqrt(d_k));
        assertClose(scores.data, all, 1e-4, 'q k^T / sqrt(d_k)');
    });
    test(`${who}: principal axes are the longest, about the mean, the same each time`, () => {
        const { states, n } = look(INPUT);
        const rows = { shape: [2 * n, states.shape[2]], data: states.data };
        const found = engine.principal(rows);
        const points = (axis) => Array.from(found.data).filter((_, i) => i % 2 === axis);
        const [a, b] = [points(0), points(1)];
        const total = (list) => list.reduce((x, y) => x + y, 0);
        assert.ok(Math.abs(total(a)) < 1e-3 && Math.abs(total(b)) < 1e-3, 'centred');
        assert.ok(total(a.map((x) => x * x)) >= total(b.map((x) => x * x)), 'the longer one first');
        assert.ok(Math.abs(total(a.map((x, i) => x * b[i]))) < 1e-3, 'at right angles');
        assert.deepEqual(engine.principal(rows), found);
    });
    test(`${who}: a head that is switched off leaves the first layer's weights and changes what leaves`, () => {
        const [on, off] = [look(INPUT), look({ ...INPUT, off: [1] })];
        const first = 2 * WORDS.length ** 2;
        assert.deepEqual(off.weights.data.subarray(0, first), on.weights.data.subarray(0, first));
        assert.notDeepEqual(off.weights.data.subarray(first), on.weights.data.subarray(first));
    });
    test(`${who}: no token after the row that is asked has a gradient under a causal mask`, () => {
        const { byPosition } = look({ ...INPUT, mask: 'causal', gradientAt: 3 }).gradient;
        byPosition.data.forEach((norm, i) => assert.equal(norm > 0, i <= 3, `position ${i}: ${norm}`));
    });
    test(`${who}: weights times gradient are not negative, and 0 where the mask hides`, () => {
        const { gradient, visible } = look({ ...INPUT, mask: 'window', gradientAt: 3 });
        assert.ok(gradient.weighted.data.some((x) => x > 0));
        gradient.weighted.data.forEach((x, at) => assert.ok(x >= 0 && (visible[at % visible.length] || x === 0)));
        assert.ok(gradient.byParameter.every(({ name, norm }) => name && norm >= 0));
    });
    test(`${who} refuse a gradient of a row that is not there`, () => {
        assert.throws(() => look({ ...INPUT, gradientAt: WORDS.length }), /gradient at token 7 of 7/);
    });
}

test('the gradient of the random layers is that of finite differences', () => {
    // d (-|x_3|^2 / 2) / d A of one weight cannot be moved alone; the head's switch can: with W_O of a head
    // scaled by 1 + e the loss moves by e times the sum of A dA, which is the sum over its values.
    const { gradient } = engine.lookRandom(WORDS, { ...HOW, layers: 1 }, { ...INPUT, gradientAt: 3 });
    const names = gradient.byParameter.map(({ name }) => name);
    assert.deepEqual(names, ['layers.0.w_q', 'layers.0.w_k', 'layers.0.w_v', 'layers.0.w_o']);
    const row = (h) => gradient.weighted.data.subarray((h * 7 + 3) * 7, (h * 7 + 4) * 7);
    for (let i = 0; i < 2 * 49; i++) if (Math.floor(i / 7) % 7 !== 3) assert.equal(gradient.weighted.data[i], 0);
    assert.ok(row(0).some((x) => x > 0) || row(1).some((x) => x > 0));
});

test('the first random layer is what attn trace computes', () => {
    const { steps } = attn('trace', WORDS.join(' '), '--seed', '42', '--heads', '2', '--d-model', '8');
    const look = engine.lookRandom(WORDS, HOW, INPUT);
    const n = WORDS.length;
    assertClose(look.weights.data.subarray(0, 2 * n * n), steps.find((s) => s.name === 'weights').values, 1e-6, 'weights');
    assertClose(look.scores.data.subarray(0, 2 * n * n), steps.find((s) => s.name === 'scaled').values, 1e-5, 'scores');
});

test('random layers look at 512 words and refuse 513', () => {
    const words = Array.from({ length: 512 }, (_, i) => `word${i}`);
    assert.equal(engine.lookRandom(words, HOW, INPUT).weights.data.length, 4 * 512 * 512);
    assert.throws(() => engine.lookRandom([...words, 'more'], HOW, INPUT), /text: 513 words, expected 1 .. 512/);
});

// ---- files ----

test('the header of a model file is what is in it', () => {
    const bytes = readFileSync(model('whois').path);
    const header = engine.readHeader(bytes);
    assert.deepEqual(header.tensors[0], { name: 'embedding.words', dtype: 'F32', shape: [74, 32], bytes: 9472 });
    assert.equal(header.metadata.task, 'whois');
    assert.deepEqual([header.isModel, header.problem, header.bytes], [true, '', bytes.length]);
});

/** A safetensors file of one tensor with this header. */
function file(header, data = 4) {
    const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
    const bytes = new Uint8Array(8 + text.length + data);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
    bytes.set(text, 8);
    return bytes;
}

test('another safetensors file has a header, and a reason why it is no model', () => {
    const header = engine.readHeader(file({ weight: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } }));
    assert.deepEqual(header.tensors, [{ name: 'weight', dtype: 'F32', shape: [1], bytes: 4 }]);
    assert.equal(header.isModel, false);
    assert.match(header.problem, /metadata "format" is missing/);
});

test('a model from before positions had a choice opens', () => {
    const { task, parameters } = engine.openModel(readFileSync(new URL('../../tests/models/early_copy.safetensors', import.meta.url)));
    assert.deepEqual([task, parameters], ['copy', 225]);
});

test('a model whose positions this engine does not have is refused with those it has', () => {
    const path = join(folder, 'rope.safetensors');
    attn('train', 'copy', '--positions', 'rope', '--steps', '1', '--save', path);
    assert.throws(() => engine.openModel(readFileSync(path)), /positions: rope, expected one of none, learned$/);
});

const good = readFileSync(model('whois').path);
const text = new TextDecoder('latin1').decode(good);
for (const [what, bytes, says] of [
    ['nothing', new Uint8Array(0), /./],
    ['seven bytes', new Uint8Array(7), /./],
    ['noise', Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919) & 255), /./],
    ['a header longer than the file', file('{', 0).fill(255, 0, 8), /./],
    ['no JSON', file('hello'), /expected \{/],
    ['a tensor outside the data', file({ w: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }), /data_offsets/],
    ['a gap in the data', file({ w: { dtype: 'F32', shape: [0], data_offsets: [0, 0] } }), /./],
    ['a type that nobody knows', file({ w: { dtype: 'F13', shape: [1], data_offsets: [0, 4] } }), /dtype "F13" is not known/],
    ['a shape that overflows', file({ w: { dtype: 'F32', shape: [65536, 65536, 65536, 65536], data_offsets: [0, 4] } }), /./],
    ['half a model', good.subarray(0, good.length >> 1), /./],
]) {
    test(`${what} is refused with a message`, () => {
        assert.throws(() => engine.openModel(bytes), (error) => error.message.length > 10 && says.test(error.message));
        assert.throws(() => engine.readHeader(bytes), (error) => error.message.length > 10);
    });
}
for (const [what, from, to, says] of [
    ['a model with a layer too many', '"layers":"2"', '"layers":"3"', /layers\.2\.norm_1\.gain is missing/],
    ['a model with a huge width', '"d":"32"', '"d":"99"', /./],
    ['a model whose temperature is no number', '"temperature":"1"', '"temperature":"x"', /metadata "temperature" is x/],
]) {
    test(`${what} is refused with a message`, () => {
        assert.ok(text.includes(from));
        const bytes = Uint8Array.from(text.replace(from, to), (c) => c.charCodeAt(0));
        assert.throws(() => engine.openModel(bytes), says);
    });
}

test('a model that was closed, or never open, is refused', () => {
    const { info } = model('whois');
    engine.closeModel(info.handle);
    assert.throws(() => engine.look(info.handle, { ...INPUT, tokens: [0] }), /not open/);
    assert.throws(() => engine.closeModel(info.handle), /not open/);
    assert.throws(() => engine.tokenize(-5, 'a'), /not open/);
});

test('tokens that are no words, and none at all, are refused', () => {
    const { info } = model('whois');
    for (const tokens of [[74], [-1], [], Array(14).fill(0)]) assert.throws(() => engine.look(info.handle, { ...INPUT, tokens }), /./);
});

test('memory does not grow over 200 models opened and closed', async () => {
    const fresh = await newEngine();
    const cycle = () => {
        const { handle } = fresh.openModel(good);
        fresh.look(handle, { ...INPUT, tokens: [0, 6, 3], off: [0], gradientAt: 2 });
        assert.throws(() => fresh.openModel(good.subarray(0, 5000)));
        fresh.lookRandom(WORDS, HOW, { ...INPUT, mask: 'window', gradientAt: 0 });
        fresh.closeModel(handle);
    };
    for (let i = 0; i < 5; i++) cycle();
    const before = fresh.module.memoryBytes;
    for (let i = 0; i < 200; i++) cycle();
    assert.equal(fresh.module.memoryBytes, before);
});

// ---- training ----

// With relaxed SIMD the last bits are the machine's: sixty steps later some thousandths of what they move.
test(`training is that of attn train${RELAXED ? '' : ', bit for bit'}`, () => {
    const { report, path } = model('whois');
    const losses = [];
    engine.trainStart(trainInput('whois', { steps: 60 }));
    while (losses.length < 60) losses.push(...engine.trainSlice(100, 60 - losses.length).losses);
    assertClose([engine.evaluate(2048, true).loss], [report.held_out.loss], RELAXED ? 1e-3 : 0, 'loss');
    if (!RELAXED) assert.equal(Buffer.compare(Buffer.from(engine.trainPack()), readFileSync(path)), 0, 'the weights differ from the command\'s');
});

test('evaluation is that of attn train', () => {
    const { report } = model('whois');
    const found = engine.evaluate(2048, true);
    assert.equal(found.step, 60);
    const off = RELAXED ? 0.005 : 0; // ten examples
    assertClose([found.accuracy], [report.held_out.accuracy], off, 'accuracy');
    assertClose(found.selectivity.data, report.held_out.selectivity, off, 'selectivity');
    assertClose([found.withoutRight, found.withoutRival], [report.held_out.accuracy_without_right, report.held_out.accuracy_without_rival], off, 'knock-out');
    assert.ok(Number.isNaN(engine.evaluate(8, false).withoutRight));
    const packed = engine.openModel(engine.trainPack()).handle;
    const now = engine.evaluate(256, true);
    engine.trainSlice(0, 1);
    assert.deepEqual(engine.evaluate(256, true, packed), { ...now, step: now.step + 1 }, 'weights of before, judged');
    assert.notEqual(engine.evaluate(256, true).loss, now.loss, 'and those of now put back');
    engine.closeModel(packed);
});

test('a slice runs at least one step, and about as long or as many as it may', () => {
    engine.trainStart(trainInput('sort'));
    const one = engine.trainSlice(0, 5);
    assert.deepEqual([one.steps, one.last.step, one.losses.length], [1, 1, 1]);
    assert.equal(one.last.loss, one.losses[0]);
    const more = engine.trainSlice(200, Infinity);
    assert.equal(more.steps, more.losses.length);
    assert.equal(more.last.step, 1 + more.steps);
    assert.equal(engine.trainSlice(10_000, 3).steps, 3);
    assert.ok(more.last.gradientNorm > 0 && more.last.rate > 0);
});

test('gradient norms are those of the command, of all and of each layer', () => {
    const log = join(folder, 'norms.jsonl');
    attn('train', 'whois', '--seed', '1', '--steps', '3', '--threads', '1', '--log', log);
    const last = JSON.parse(readFileSync(log, 'utf8').trimEnd().split('\n').at(-1));
    engine.trainStart(trainInput('whois', { steps: 3 }));
    const { gradientNorm, layerNorms } = engine.trainSlice(10_000, 3).last;
    assertClose([gradientNorm, ...layerNorms], [last.gradient_norm, ...last.layer_gradient_norms], 1e-6, 'norms');
    assert.ok(layerNorms.length === 2 && Math.hypot(...layerNorms) < gradientNorm, 'the embeddings have the rest');
});

test('the model in training can be looked at, and saved and opened again', () => {
    const info = engine.trainStart(trainInput('sense'));
    engine.trainSlice(0, 1);
    const { tokens } = engine.taskExample('sense', 1, 0);
    const live = engine.look(info.handle, { ...INPUT, tokens });
    const saved = engine.openModel(engine.trainPack());
    assert.deepEqual([saved.task, saved.steps], ['sense', 1]);
    assert.deepEqual(engine.look(saved.handle, { ...INPUT, tokens }).weights, live.weights);
});

test('every task has examples whose answers are words of it', () => {
    for (const task of engine.tasks()) {
        const { tokens, words, questions } = engine.taskExample(task.name, 1, 5);
        assert.equal(tokens.length, task.n);
        assert.deepEqual(words, tokens.map((t) => task.words[t]));
        assert.ok(questions.length > 0);
        for (const { at, answer, right } of questions) {
            assert.ok(at < task.n && answer.every((word) => task.words.includes(word)) && right.every((j) => j < task.n));
        }
    }
});

test('who is it: the phrase that decides holds the answer', () => {
    const { words, questions: [{ at, answer, right, rival }] } = engine.taskExample('whois', 1, 0);
    assert.equal(words[at], 'it');
    for (const word of answer) assert.ok(right.some((j) => words[j] === word) && !rival.some((j) => words[j] === word));
});

for (const [what, change, says] of [
    ['a task of another name', { task: 'chess' }, /chess: no task of that name/],
    ['heads that do not divide', { heads: 3 }, /heads: 3 do not divide d = 32/],
    ['a batch of none', { batch: 0 }, /batch: 0, expected 1/],
    ['a learning rate of 0', { rate: 0 }, /learning rate: 0, expected more than 0/],
    ['a temperature below 0', { temperature: -1 }, /temperature/],
]) {
    test(`training refuses ${what}`, () => {
        assert.throws(() => engine.trainStart({ ...trainInput('whois'), ...change }), says);
    });
}

test('without training there is nothing to step, to judge or to save', async () => {
    const fresh = await newEngine();
    for (const ask of [() => fresh.trainSlice(1, 1), () => fresh.evaluate(8, false), () => fresh.trainPack()]) {
        assert.throws(ask, /nothing is in training/);
    }
});

// ---- cost ----

for (const [n, d, heads, causal] of [[4096, 64, 1, false], [1000, 80, 12, true], [1, 1, 1, false], [1048576, 128, 32, true]]) {
    test(`the cost of n ${n}, d ${d}, ${heads} heads${causal ? ', causal' : ''} is that of attn cost`, () => {
        const native = attn('cost', '--n', String(n), '--d', String(d), '--heads', String(heads), '--threads', '1', ...(causal ? ['--causal'] : []));
        const { pairs, visible_pairs, flops, flops_backward, bytes_io, bytes_dense, bytes_scratch } = native;
        const { scratchBytes, ...counts } = engine.cost(n, d, heads, causal);
        assert.deepEqual(counts, {
            pairs, visiblePairs: visible_pairs, flops, backwardFlops: flops_backward, bytes: bytes_io, denseBytes: bytes_dense,
        });
        // The page has no kernel for few queries, whose scratch is three addresses per key of a tile and two arrays of eight rows.
        // The other arrays are the same, but the few structs beside them hold pointers, which are half as long in wasm32.
        const few = n >= 32 ? 3 * 192 * 8 + 2 * 8 * d * 4 : 0;
        const structs = bytes_scratch - few - scratchBytes;
        assert.ok(structs >= 0 && structs <= 1024, `${scratchBytes} bytes, natively ${bytes_scratch}`);
    });
}

test('sharpness is that of figure F4, the maps those of F3', () => {
    const out = join(folder, 'report');
    execFileSync(ATTN, ['report', '--only', 'F3,F4', '--seed', '7', '--out', out], { stdio: 'ignore' });
    const table = (name) => readFileSync(join(out, 'data', name), 'utf8').trim().split('\n').map((line) => line.split(','));
    const names = { sqrt: 'scaled', none: 'unscaled', dk: 'by_d_k' };
    for (const [scale, name] of Object.entries(names)) {
        const [head, ...rows] = table(`F4-${name}.csv`);
        const row = rows.find((r) => Number(r[0]) === 64);
        const found = engine.sharpness(64, 16, 50, 7);
        assertClose([found.entropy[scale], found.largest[scale]], [Number(row[head.indexOf('entropy')]), Number(row[head.indexOf('max')])], 1e-12, name);
        const map = table(`F3-${name}.csv`).slice(1).filter((r) => r[0].startsWith('d_k=16 ')).map((r) => r.slice(1).map(Number));
        assertClose(engine.scalingMaps(16, 8, 7)[scale].data, map, 1e-12, name);
    }
});

test('sharpness refuses sizes that make no sense', () => {
    assert.throws(() => engine.sharpness(0, 16, 1, 1), /d_k: 0/);
    assert.throws(() => engine.scalingMaps(4, 5000, 1), /n: 5000/);
});
