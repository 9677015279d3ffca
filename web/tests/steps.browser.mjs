// steps.browser.mjs - the journey through the room Steps, in a real browser: every displayed matrix
// against `attn trace --json`, numbers changed by hand, bad ones refused, undo, links, keys.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matrices, settle, show, state, TOLERANCE } from './support.mjs';

const PARTS = { S: 'scores', 'S scaled': 'scaled', 'S masked': 'masked', A: 'weights', O: 'output' }; // others: in small letters

/** Every matrix on the page: its part, head and numbers, turned back where it is shown transposed. */
async function displayed(page) {
    return (await matrices(page)).map(({ name, values, masked }) => {
        const [, symbol, turned, head] = /^(.*?)(ᵀ?)(?:, head (\d+))?$/.exec(name);
        const matrix = turned ? values[0].map((_, c) => values.map((row) => row[c])) : values;
        return { part: PARTS[symbol] ?? symbol.toLowerCase(), head: Number(head ?? 1) - 1, matrix, masked };
    });
}

function trace(attn, args) {
    const found = JSON.parse(execFileSync(attn, ['trace', ...args, '--json'], { encoding: 'utf8' }));
    return Object.fromEntries(found.steps.map((step) => [step.name, step]));
}

const sum = (row) => row.reduce((a, b) => a + b);

function compare(shown, steps) {
    for (const { part, head, matrix, masked } of shown) {
        const step = steps[part];
        const truth = step.shape.length === 3 ? step.values[head] : step.values;
        assert.deepEqual([matrix.length, matrix[0].length], [truth.length, truth[0].length], `${part}: shape`);
        matrix.forEach((row, r) =>
            row.forEach((x, c) => {
                const expected = truth[r][c] ?? -Infinity; // JSON has no infinity
                assert.ok(x === expected || Math.abs(x - expected) <= TOLERANCE, `${part}[${r}, ${c}]: shown ${x}, attn trace ${expected}`);
                if (part === 'weights' && masked[r][c]) assert.equal(x, 0, 'a masked weight is exactly 0');
            }),
        );
        if (part === 'weights') matrix.forEach((row) => assert.ok(Math.abs(sum(row) - 1) < 1e-6, 'a row sums to 1'));
    }
}

/** Shows the room with these settings and waits for its numbers. */
async function open(page, base, settings = '') {
    await show(page, base, 'steps', settings);
    await page.waitForSelector('.stage');
}

const steps = (page) => page.locator('.ribbon button');
const matrix = (page, part) => page.locator(`figure[data-part=${part}]`).last();
const cell = (page, part, row, column) => matrix(page, part).locator(`td[data-at="${row},${column}"]`);

/** Goes through the steps; which parts were seen. */
async function everyStep(page, truth) {
    const seen = new Set();
    for (let i = 0; i < (await steps(page).count()); i++) {
        await steps(page).nth(i).click();
        await page.waitForSelector(`.ribbon li:nth-child(${i + 1}) [aria-current=step]`);
        await settle(page);
        const shown = await displayed(page);
        compare(shown, truth);
        shown.forEach(({ part }) => seen.add(part));
    }
    return seen;
}

async function everyStepOf(page, base, settings, truth) {
    await open(page, base, settings);
    return everyStep(page, truth);
}

export async function examples_are_those_of_attn_trace({ page, base, attn }) {
    const seen = await everyStepOf(page, base, 'steps.example=004', trace(attn, ['--example', '004']));
    assert.deepEqual([...seen].sort(), ['k', 'masked', 'output', 'q', 'scaled', 'scores', 'v', 'w_k', 'w_q', 'w_v', 'weights', 'x']);
    for (const name of ['001', '002', '002-plain', '002-scaling', '003', '003-scaling', '004-heads', '004-stated'])
        await everyStepOf(page, base, `steps.example=${name}`, trace(attn, ['--example', name]));
    await everyStepOf(page, base, 'steps.example=004&mask=causal&scale=none&temperature=0.5',
        trace(attn, ['--example', '004', '--causal', '--no-scale', '--temperature', '0.5']));
}

/** The numbers are compared with those of `attn verify` by tests/book/test_count.py. */
export async function wrong_numbers_lead_to_the_count_of_all({ page, base }) {
    await open(page, base, 'steps.example=004-heads&steps.step=8');
    await settle(page);
    const struck = page.locator('table.stated s');
    assert.equal(await struck.count(), 8); // both columns of head 1, four words
    await page.getByText(/^\d+ statements of the documents tested: \d+ are wrong/).waitFor();
    await open(page, base, 'steps.example=002-plain');
    await settle(page);
    assert.equal(await page.getByText(/statements of the documents tested/).count(), 0);
}

export async function sentences_of_ones_own({ page, base, attn }) {
    const own = trace(attn, ['the cat saw the dog', '--heads', '2', '--d-model', '4', '--seed', '7', '--causal']);
    const settings = 'steps.example=mine&sentence=the+cat+saw+the+dog&seed=7&mask=causal';
    for (const head of [0, 1]) {
        const seen = await everyStepOf(page, base, `${settings}&head=${head}`, own);
        assert.ok(seen.has('concat') && seen.has('y') && seen.has('w_o'));
    }
    const field = page.getByLabel('Sentence');
    await field.fill('');
    await page.getByRole('alert').waitFor();
    assert.match(await page.getByRole('alert').textContent(), /empty/);
    await field.fill('🙂 مرحبا <b>x</b>');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await steps(page).first().click();
    assert.equal(await matrix(page, 'x').locator('tbody tr').count(), 3);
    await field.fill('word '.repeat(600));
    await page.getByRole('alert').waitFor();
    await field.fill('word '.repeat(200)); // too many cells for a table
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await steps(page).nth(4).click();
    await matrix(page, 'scores').locator('canvas').waitFor();
}

/** A matrix of numbers as a .npy file. */
function writeNpy(path, rows) {
    const dict = `{'descr': '<f8', 'fortran_order': False, 'shape': (${rows.length}, ${rows[0].length}), }`;
    const header = dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11) + '\n';
    const start = Buffer.from([0x93, 78, 85, 77, 80, 89, 1, 0, header.length & 255, header.length >> 8]);
    writeFileSync(path, Buffer.concat([start, Buffer.from(header), Buffer.from(Float64Array.from(rows.flat()).buffer)]));
}

async function edit(page, part, row, column, text) {
    await cell(page, part, row, column).click();
    await page.locator('.matrix td input').fill(text);
    await page.keyboard.press('Enter');
}

export async function numbers_are_changed_by_hand({ page, base, attn }) {
    await open(page, base, 'steps.example=004&steps.step=1');
    const start = await cell(page, 'w_q', 1, 0).getAttribute('title');
    await edit(page, 'w_q', 1, 0, '-0.25');
    await page.locator('figure[data-part=w_q] td.edited').waitFor();
    const folder = mkdtempSync(join(tmpdir(), 'steps-'));
    try {
        const given = trace(attn, ['--example', '004']);
        const files = { x: 'x', w_q: 'wq', w_k: 'wk', w_v: 'wv' };
        given.w_q.values[1][0] = -0.25;
        for (const [part, name] of Object.entries(files)) writeNpy(join(folder, `${name}.npy`), given[part].values);
        const options = Object.values(files).flatMap((name) => [`--${name}`, join(folder, `${name}.npy`)]);
        const truth = trace(attn, options);
        await everyStep(page, truth);
    } finally {
        rmSync(folder, { recursive: true });
    }
    assert.match(page.url(), /steps\.edits=w_q/);
    assert.match(await page.locator('.stage .badge').textContent(), /by hand/);

    await steps(page).nth(1).click();
    await settle(page);
    const url = page.url();
    const before = await displayed(page);
    await page.goto('about:blank'); // away, and back by the link
    await page.goto(url);
    await page.waitForSelector('.stage');
    await settle(page);
    assert.deepEqual(await displayed(page), before);

    await cell(page, 'w_q', 0, 0).click();
    await page.locator('.matrix td input:focus').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => location.hash.includes('w_q%3A0%2C0%3D1.02'));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Undo' }).click(); // both presses at once, unless the machine was slow
    if ((await state(page)).steps.edits.includes('w_q:0,0')) await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction(() => !location.hash.includes('w_q%3A0%2C0'));
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.waitForFunction(() => !document.querySelector('td.edited'));
    assert.equal(await cell(page, 'w_q', 1, 0).getAttribute('title'), start);
}

export async function bad_numbers_are_refused({ page, base }) {
    await open(page, base, 'steps.example=004');
    for (const text of ['NaN', 'abc', '1e400', '', '1,5', '--1']) {
        await edit(page, 'x', 0, 0, text);
        await page.waitForFunction((t) => document.querySelector('.readout').textContent.includes(`“${t}” is not a number`), text);
        assert.equal(await cell(page, 'x', 0, 0).getAttribute('title'), '1');
    }
    await edit(page, 'x', 0, 0, '1e308'); // finite, but what follows is not
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
}

/** The command that is offered for the matrix gives its numbers. */
export async function commands_give_the_same_numbers({ page, base, attn }) {
    const mine = 'steps.example=mine&steps.step=7&sentence=it%27s+%24HOME&seed=3&steps.heads=1&mask=causal';
    const edited = 'steps.example=004&steps.step=7&scale=dk&steps.edits=x:0,0=2;w_q:3,1=-1e-7;w_q:0,0=0.30000000000000004';
    for (const settings of ['steps.example=004&steps.step=7&temperature=0.5&scale=none', mine, edited]) {
        await open(page, base, settings);
        await page.locator('.export summary').click();
        const command = await page.getByRole('button', { name: 'Copy as command' }).getAttribute('title');
        const text = execFileSync('sh', ['-c', command.replace(/^attn /, '"$0" ') + ' --json', attn], { encoding: 'utf8' });
        const found = JSON.parse(text).steps;
        assert.deepEqual(found.map((step) => step.name), ['weights']);
        compare((await displayed(page)).filter(({ part }) => part === 'weights'), { weights: found[0] });
    }
}

export async function a_cell_factor_by_factor({ page, base }) {
    await open(page, base, 'steps.example=004&steps.step=4');
    await cell(page, 'scores', 2, 3).click();
    await page.getByRole('heading', { name: 'S[apple, phones] = 1.67' }).waitFor();
    const numbers = await page.locator('.factors').first().locator('tbody .number').allTextContents();
    assert.deepEqual(numbers.map(Number), [1.1, 1.2, 1.32, 0.7, 0.5, 0.35]);
    assert.equal(await matrix(page, 'q').locator('td.marked').count(), 2);
    assert.equal(await matrix(page, 'k').locator('td.marked').count(), 2);
    await page.waitForFunction(() => /“apple” looks 25 % at “phones”/.test(document.querySelector('.readout').textContent));
    assert.match(await page.locator('.chain').textContent(), /1\.67.*1\.1809.*0\.2483/s);
    await steps(page).nth(7).click(); // the picked cell is the same one among the weights
    assert.equal(await matrix(page, 'weights').locator('td.marked').getAttribute('data-at'), '2,3');
    const note = await page.locator('.stated').textContent();
    assert.match(note, /stated 0\.278 correct 0\.2596/);
}

export async function keys_and_play({ page, base }) {
    await open(page, base, 'steps.example=004');
    const at = () => page.locator('.ribbon [aria-current=step]').textContent();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelector('.ribbon [aria-current]').textContent.startsWith('2'));
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => document.querySelector('.ribbon [aria-current]').textContent.startsWith('1'));
    await cell(page, 'x', 0, 0).focus(); // in a table arrows move in it
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.at), '1,1');
    await page.keyboard.press('Enter');
    await page.locator('.matrix td input:focus').waitFor(); // all of it selected: typing replaces it
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('x%3A1%2C1%3D2'));
    assert.match(await at(), /^1/);
    await open(page, base, 'steps.example=003&steps.speed=4');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForFunction(() => document.querySelector('.where').textContent === 'step 6 of 6');
    await page.getByRole('button', { name: 'Play' }).waitFor(); // it stops by itself
}

export async function extreme_settings({ page, base }) {
    for (const temperature of ['1e-6', '1e6', '1e300', 'NaN']) {
        await open(page, base, `steps.example=004&steps.step=7&temperature=${temperature}`);
        const weights = (await displayed(page)).find(({ part }) => part === 'weights');
        weights.matrix.forEach((row) => assert.ok(Math.abs(sum(row) - 1) < 1e-6));
    }
    await open(page, base, 'steps.example=none&steps.step=15&steps.edits=x:99,99=1;q:0,0=5;w_q:0,0=zz;;&steps.row=200&steps.column=200');
    assert.match(await page.locator('.stage .badge').textContent(), /004/);
}
