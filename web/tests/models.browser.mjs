// models.browser.mjs - the room Models: the bundled models and where they come from, answers as those of
// `attn attend`, files of one's own, and files that are cut, hostile, foreign or too large.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAccessibleInBothThemes, assertNoOverflow, MODELS, show, state, TOLERANCE } from './support.mjs';

const WHOIS = join(MODELS, 'whois.safetensors');
const LARGEST = 300_000; // bytes of a bundled model
const CHOOSE = 'input[type=file]';

async function open(page, base, settings = '') {
    await show(page, base, 'models', settings);
    await page.waitForSelector('article[data-model=whois] .facts dd');
}

const opening = (page, at) => page.waitForSelector(`.opening[data-state=${at}]`);
const answers = (page) => page.$$eval('.answers ol', (slots) => slots.map((slot) => {
    const first = slot.querySelector('li');
    return { word: first.querySelector('span').textContent, probability: Number(first.querySelector('data').value) };
}));

/** The best answers that the command gives, at the first question. */
function attend(attn, file, sentence) {
    return JSON.parse(execFileSync(attn, ['attend', file, sentence, '--json'], { encoding: 'utf8' })).answers[0].answer;
}

function compare(found, expected) {
    assert.deepEqual(found.map((a) => a.word), expected.map((a) => a.word));
    found.forEach((a, i) => assert.ok(Math.abs(a.probability - expected[i].probability) <= TOLERANCE, `${a.probability}, expected ${expected[i].probability}`));
}

/** A safetensors file: a header, and room for its tensors, which a file of `size` bytes need not have. */
function safetensors(tensors, metadata, size) {
    let at = 0;
    const entries = Object.entries(tensors).map(([name, shape]) => {
        const bytes = 4 * shape.reduce((a, b) => a * b, 1);
        return [name, { dtype: 'F32', shape, data_offsets: [at, (at += bytes)] }];
    });
    const text = Buffer.from(JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) }));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    return { head: Buffer.concat([length, text]), size: size ?? 8 + text.length + at };
}

/** Calls back with the path of a file; large ones are holes on disk. */
async function withFile(name, { head, size }, use) {
    const folder = mkdtempSync(join(tmpdir(), 'attn-models-'));
    const path = join(folder, name);
    try {
        writeFileSync(path, head);
        truncateSync(path, size);
        return await use(path);
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const whole = (bytes) => ({ head: bytes, size: bytes.length });

export async function bundled_models_say_where_they_come_from({ page, base }) {
    await open(page, base);
    const list = JSON.parse(readFileSync(join(MODELS, 'models.json'), 'utf8'));
    assert.deepEqual(list.map(({ name }) => name), ['whois', 'sense', 'induction']);
    for (const { name, command } of list) {
        assert.ok(readFileSync(join(MODELS, `${name}.safetensors`)).length < LARGEST, name);
        const card = page.locator(`article[data-model=${name}]`);
        await card.locator('.facts dd').first().waitFor();
        const text = await card.innerText();
        assert.ok(text.includes(command), `${name}: ${text}`);
        assert.match(text, /steps, seed 42/);
    }
}

export async function answers_are_those_of_attn_attend({ page, base, attn }) {
    await open(page, base);
    await page.waitForSelector('.answers li');
    compare(await answers(page), attend(attn, WHOIS, (await state(page)).sentence));
    await page.locator('article[data-model=sense]').getByRole('button', { name: 'Try it' }).click();
    await page.waitForSelector('#models-try h3:has-text("sense")');
    await page.waitForFunction(() => document.querySelector('.answers li span').textContent === 'lender');
    compare(await answers(page), attend(attn, join(MODELS, 'sense.safetensors'), (await state(page)).sentence));
    assert.match(await page.locator('#models-try code').innerText(), /^attn attend sense\.safetensors 'the bank/);
}

export async function sentences_that_cannot_be_read_are_refused_in_words({ page, base }) {
    await open(page, base);
    const field = page.locator('#models-try input');
    const alert = page.locator('#models-try [role=alert]');
    const said = async (text, expected) => {
        await field.fill(text);
        await page.waitForFunction((pattern) => new RegExp(pattern).test(document.querySelector('#models-try [role=alert]')?.textContent ?? ''), expected);
        assert.ok((await alert.innerText()).length > 0);
    };
    await said('', 'empty');
    await said('The zebra sat 🙂', 'does not know');
    assert.equal(await page.locator('.tokens .unknown').count(), 2);
    await said('The cat was tired.', 'nearest it can read: “The cat sat on the mat because it was tired.”');
    await said('cat '.repeat(4000), '4,000 tokens');
    await field.fill('The red cat sat on the blue mat because it was dirty.');
    await page.waitForFunction(() => document.querySelector('.answers li span')?.textContent === 'mat');
}

export async function a_model_opens_in_explore({ page, base }) {
    await open(page, base);
    await page.locator('article[data-model=induction]').getByRole('button', { name: 'Open in Explore' }).click();
    await page.waitForSelector('#tab-explore[aria-selected=true]');
    const { model, layer, sentence } = await state(page);
    assert.deepEqual([model, layer], ['induction', 1]);
    assert.match(sentence, /^[a-z]( [a-z])+$/);
}

export async function own_file_header_first_then_weights({ page, base, attn }) {
    await open(page, base);
    await page.setInputFiles(CHOOSE, WHOIS);
    await opening(page, 'header');
    const text = await page.locator('.opening').innerText();
    for (const expected of ['attn transformer 1', '24,820', 'whois.safetensors', '38']) assert.ok(text.includes(expected), `${expected}: ${text}`);
    assert.equal(await page.locator('article[data-model=file]').count(), 0, 'weights are not open yet');
    await page.locator('.opening summary').first().click();
    assert.equal(await page.locator('.opening tbody tr').count(), 38);
    await page.getByRole('button', { name: 'Open this model' }).click();
    await opening(page, 'open');
    const hash = createHash('sha256').update(readFileSync(WHOIS)).digest('hex').slice(0, 8);
    await page.waitForFunction((name) => document.querySelector('#models-try .badge')?.textContent === name, `file whois.safetensors (sha256 ${hash})`);
    assert.equal((await state(page)).model, 'file');
    compare(await answers(page), attend(attn, WHOIS, (await state(page)).sentence));
    await page.locator('article[data-model=file]').getByRole('button', { name: 'Open in Explore' }).click();
    await page.waitForSelector('#tab-explore[aria-selected=true]');
    await page.waitForSelector(`.badge:has-text("${hash}")`);
    await page.click('#tab-models');
    await assertAccessibleInBothThemes(page, 'models with a file');
}

export async function a_file_can_be_dropped({ page, base }) {
    await open(page, base);
    const bytes = readFileSync(WHOIS).toString('base64');
    const transfer = await page.evaluateHandle((text) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], 'dropped.safetensors'));
        return data;
    }, bytes);
    await page.dispatchEvent('.drop', 'dragover', { dataTransfer: transfer });
    assert.match(await page.locator('.drop').getAttribute('class'), /over/);
    await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
    await opening(page, 'header');
    assert.match(await page.locator('.opening h4').innerText(), /dropped\.safetensors/);
}

/** Name, file, and what is said of it. */
function badFiles() {
    const good = readFileSync(WHOIS);
    const hostile = Buffer.from(good);
    hostile.writeBigUInt64LE(0xffffffffffffffffn);
    const bert = { 'bert.embeddings.word_embeddings.weight': [30522, 768], 'bert.encoder.layer.0.attention.self.query.weight': [768, 768] };
    return [
        ['cut.safetensors', whole(good.subarray(0, good.length - 7)), /the file may be truncated/],
        ['tail.safetensors', whole(Buffer.concat([good, Buffer.alloc(9)])), /file is cut or has a tail/],
        ['hostile.safetensors', whole(hostile), /18446744073709551615 bytes in a file/],
        ['empty.safetensors', whole(Buffer.alloc(0)), /0 bytes, expected at least 8/],
        ['picture.png', whole(Buffer.from('\x89PNG\r\n\x1a\n not a model', 'latin1')), /not a safetensors file/],
        ['json.safetensors', whole(Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('[]')])), /header byte/],
        ['bert.safetensors', safetensors(bert, { format: 'pt' }), /looks like a BERT model \(2 tensors, 91\.7 MiB\).*only attn’s own/],
        ['other.safetensors', safetensors({ '<b>🙂</b>': [2, 2] }, {}), /not an attn model \(1 tensors/],
        ['large.safetensors', safetensors({ 'embedding.words': [20_000_000, 1] }, { format: 'attn transformer 1' }), /up to 64\.0 MiB/],
        ['header.safetensors', { head: Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]), size: 40_000_000 }, /header is 32\.0 MiB/],
    ];
}

export async function bad_files_are_refused_in_words({ page, base }) {
    await open(page, base);
    for (const [name, file, expected] of badFiles()) {
        await withFile(name, file, async (path) => {
            await page.setInputFiles(CHOOSE, path);
            await page.waitForSelector(`.opening[data-state=problem] h4:has-text("${name}")`);
            const said = await page.locator('.opening [role=alert]').innerText();
            assert.match(said, expected, `${name}: ${said}`);
            assert.equal(await page.getByRole('button', { name: 'Open this model' }).count(), 0, name);
        });
    }
    assert.equal((await state(page)).model, 'whois', 'what was open stays');
    await assertNoOverflow(page, 'models with a bad file', [360]);
}

export async function weights_that_do_not_fit_are_refused({ page, base }) {
    await open(page, base);
    const text = readFileSync(WHOIS).toString('latin1').replace('"layers":"2"', '"layers":"3"');
    const changed = Buffer.from(text, 'latin1');
    assert.notDeepEqual(changed, readFileSync(WHOIS));
    await withFile('three.safetensors', whole(changed), async (path) => {
        await page.setInputFiles(CHOOSE, path);
        await opening(page, 'header');
        await page.getByRole('button', { name: 'Open this model' }).click();
        await opening(page, 'problem');
    });
    assert.match(await page.locator('.opening [role=alert]').innerText(), /layers\.2\..*missing/);
    assert.equal(await page.locator('article[data-model=file]').count(), 0);
}

export async function reading_can_be_cancelled({ page, base }) {
    await open(page, base);
    await page.evaluate(() => (File.prototype.stream = () => new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1000)) })));
    await page.setInputFiles(CHOOSE, WHOIS);
    await opening(page, 'header');
    await page.getByRole('button', { name: 'Open this model' }).click();
    await page.waitForFunction(() => document.querySelector('.opening progress')?.value === 1000);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForSelector('.opening', { state: 'detached' });
    assert.equal((await state(page)).model, 'whois');
}
