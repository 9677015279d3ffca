// cost.browser.mjs - the room Cost: the same counts as `attn cost`, the same figures as `attn report`, the
// lengths that matter, sliders by keyboard.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matrices, settle, show, state } from './support.mjs';

const FIELDS = { pairs: 'pairs', flops: 'flops', backwardFlops: 'flops_backward', denseBytes: 'bytes_dense', bytes: 'bytes_io' };
const NAMES = { sqrt: ['scaled', 'divided by √d_k'], none: ['unscaled', 'not scaled'], dk: ['by_d_k', 'divided by d_k'] };

const near = (found, expected, what, tolerance = 1e-9) =>
    assert.ok(Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${what}: ${found}, expected ${expected}`);

async function open(page, base, settings = '') {
    await show(page, base, 'cost', settings);
    await page.waitForSelector('#cost-growth');
}

/** What the button CSV of a picture saves, as rows of numbers or words. */
async function exported(page, id) {
    const box = page.locator(`#${id} .export`);
    await box.locator('summary').click();
    const [download] = await Promise.all([page.waitForEvent('download'), box.getByRole('button', { name: 'CSV' }).click()]);
    const [, ...lines] = readFileSync(await download.path(), 'utf8').trim().split('\n');
    return lines.map((line) => line.split(',').map((x) => (x === '' || Number.isNaN(Number(x)) ? x : Number(x))));
}

/** The tables of experiments, measured now. */
function report(attn, ids) {
    const folder = mkdtempSync(join(tmpdir(), 'attn-cost-'));
    try {
        execFileSync(attn, ['report', '--only', ids.join(','), '--format', 'svg', '--out', folder], { stdio: 'ignore' });
        return Object.fromEntries(ids.map((id) => [id, JSON.parse(readFileSync(join(folder, `data/${id}.json`), 'utf8')).tables]));
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const column = (table, name) => table.rows.map((row) => row[table.columns.indexOf(name)]);

export async function counts_are_those_of_attn_cost({ page, base, attn }) {
    for (const [n, d, heads, causal] of [[4096, 64, 1, false], [512, 64, 8, false], [16384, 128, 32, true], [32, 4, 1, true]]) {
        await open(page, base, `cost.n=${n}&cost.d=${d}&cost.heads=${heads}&cost.causal=${Number(causal)}`);
        const command = await page.locator('#cost-growth code').innerText();
        const truth = JSON.parse(execFileSync(attn, [...command.split(' ').slice(1), '--json'], { encoding: 'utf8' }));
        assert.deepEqual([truth.n_q, truth.d_k, truth.H], [n, d, heads], command);
        const shown = await page.$$eval('[data-count]', (all) => Object.fromEntries(all.map((e) => [e.dataset.count, Number(e.value)])));
        for (const [name, field] of Object.entries(FIELDS)) assert.equal(shown[name], truth[field], `${command}: ${field}`);
        assert.equal(shown.visiblePairs, causal ? truth.visible_pairs : undefined, command);
    }
}

export async function memory_and_operations_are_those_of_the_report({ page, base, attn }) {
    const { F5, F6 } = report(attn, ['F5', 'F6']);
    await open(page, base);
    const [memory, share, work] = [await exported(page, 'cost-memory'), await exported(page, 'cost-share'), await exported(page, 'cost-work')];
    column(F5.model, 'n').forEach((n, i) => {
        assert.equal(memory[i][0], n);
        near(memory[i][1], column(F5.model, 'f32_mib')[i], `memory at ${n}`);
        near(share[i][1], column(F5.model, 'share_percent')[i], `share at ${n}`);
    });
    column(F6.flops, 'n').forEach((n, i) => {
        const expected = ['total_gflop', 'core_gflop', 'projections_gflop'].map((name) => column(F6.flops, name)[i]);
        expected.forEach((x, k) => near(work[i][1 + k], x, `operations at ${n}`));
    });
    const labels = await page.locator('.rules text').allTextContents();
    assert.ok(labels.includes(`98 %: n = ${column(F5.limit, 'n')[0]}`), String(labels));
    assert.ok(labels.includes(`equal at n = ${column(F6.crossover, 'n')[0].toFixed(2)}`), String(labels));
    assert.match(await page.locator('.readout').innerText(), /94\.1 %/);
}

export async function sharpness_is_that_of_the_report({ page, base, attn }) {
    const { F3, F4 } = report(attn, ['F3', 'F4']);
    await open(page, base);
    await page.waitForSelector('.group[data-done=true]');
    const rows = await exported(page, 'cost-entropy');
    for (const [scale, [table]] of Object.entries(NAMES)) {
        const mine = rows.filter((row) => row[0] === scale);
        assert.deepEqual(mine.map((row) => row[1]), column(F4[table], 'd_k'));
        column(F4[table], 'entropy').forEach((x, i) => near(mine[i][2], x, `${table}: entropy`, 1e-6));
        column(F4[table], 'max').forEach((x, i) => near(mine[i][3], x, `${table}: largest`, 1e-6));
    }
    const maps = (await matrices(page)).filter(({ name }) => name.startsWith('Weights, scores'));
    assert.equal(maps.length, 12);
    for (const { name, values } of maps) {
        const [, scaling, d_k] = /scores (.*), d_k = (\d+)/.exec(name);
        const table = F3[Object.values(NAMES).find(([, text]) => text === scaling)[0]];
        const first = 8 * [4, 16, 64, 256].indexOf(Number(d_k));
        values.forEach((row, r) => {
            near(row.reduce((a, b) => a + b), 1, `${name}: sum of row ${r}`, 1e-6);
            const truth = table.rows[first + r].filter((x) => typeof x === 'number');
            row.forEach((x, c) => near(x, truth[c], `${name}: ${r}, ${c}`, 1e-6));
        });
    }
}

export async function words_make_pairs({ page, base }) {
    await open(page, base);
    const table = await page.locator('#cost-words tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 2).map((c) => c.innerText)));
    assert.deepEqual(table, [['1,000', '1e6'], ['10,000', '1e8'], ['100,000', '1e10']]);
}

export async function sliders_by_keyboard({ page, base }) {
    await open(page, base);
    await page.getByLabel('Tokens n').focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight'); // four parts of a doubling
    await page.waitForFunction(() => document.querySelector('[data-count=pairs]').value === String(8192 ** 2));
    assert.equal((await state(page)).cost.n, 8192);
    await settle(page); // the URL follows at most ten times a second
    assert.match(page.url(), /cost\.n=8192/);
    await page.getByLabel('Causal mask').check();
    await page.waitForSelector('[data-count=visiblePairs]');
    await page.getByLabel('Head size d_k').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.querySelector('#cost-here caption').textContent === 'At d_k = 512');
    const undo = page.getByRole('button', { name: 'Undo' });
    while (await undo.isEnabled()) await undo.click();
    await page.waitForFunction(() => document.querySelector('[data-count=pairs]').value === String(4096 ** 2));
    assert.equal((await state(page)).cost.causal, false);
}

/** Whatever a link asks for is answered, or refused in words. */
export async function extremes_are_answered({ page, base }) {
    for (const settings of ['cost.n=1048576&cost.d=4096&cost.heads=256', 'cost.n=1&cost.d=1&cost.d_k=1', 'cost.n=1048576&cost.causal=1&cost.d_k=1024&seed=4294967295']) {
        await show(page, base, 'cost', settings);
        await page.waitForSelector('.group[data-done=true]');
        const text = await page.locator('.cost').innerText();
        assert.ok(!/NaN|Infinity|undefined/.test(text), settings);
        assert.ok((await page.locator('#cost-growth, .cost [role=alert]').count()) > 0, settings);
    }
}
