// train.browser.mjs - Train: whois is learnt in the page, "it" then looks at what it means, its weights give the
// same numbers to attn attend and in Explore, time can be turned back, the same seed gives the same bits.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertDistributions, assertNear, download, matrices, native, settle, show } from './support.mjs';

const BUDGET = 2000; // steps of whois, see docs/training.md
const PATIENCE = 500_000; // milliseconds; the machine may be busy

const figures = (page) => page.locator('.figure').evaluateAll((all) => all.map((one) => Number(one.dataset.value)));
const shareOnRight = (page) => page.locator('.sentence').evaluate(({ dataset }) => Number(dataset.right));
const atRest = (page, more = '') => page.waitForSelector(`.train[data-phase=paused]${more}`, { timeout: PATIENCE });

async function solve(page) {
    await page.getByRole('button', { name: 'Play' }).click();
    await atRest(page, '[data-ended=solved]');
    const { step, speed } = await page.locator('.train').evaluate((room) => ({ ...room.dataset }));
    const [accuracy, selectivity, knockedOut] = await figures(page);
    console.log(`       whois: solved at step ${step}, ${Number(speed).toFixed(0)} steps/s, accuracy ${accuracy}, ` +
        `selectivity ${selectivity}, without what decides ${knockedOut.toFixed(4)}`);
    assert.ok(Number(step) <= BUDGET);
    assert.ok(accuracy >= 0.99, `held-out accuracy ${accuracy}`);
    assert.ok(selectivity >= 0.9, `selectivity ${selectivity}`);
    assert.ok(knockedOut <= 0.2, `accuracy without what decides ${knockedOut}`);
}

const heads = async (page, layer = '') => (await matrices(page)).filter(({ name }) => name.startsWith(`train.layer${layer}`));

async function assertAllDistributions(page) {
    const all = await heads(page);
    assert.ok(all.length > 0);
    all.forEach(assertDistributions);
}

/** The mean of the heads of the last layer, from the matrices on the page. */
async function assertLooksAtReferent(page) {
    await page.getByLabel('Layer', { exact: true }).selectOption({ label: '2' });
    const words = (await page.locator('.tokens li').allInnerTexts()).map((text) => text.split('\n').at(-1));
    const roles = await page.locator('.tokens li').evaluateAll((all) => all.map((token) => token.className));
    const last = await heads(page, 2);
    const at = words.indexOf('it');
    const share = (role) => roles.reduce((sum, r, j) => sum + (r === role ? last.reduce((s, h) => s + h.values[at][j], 0) / last.length : 0), 0);
    assert.ok(share('right') > share('rival'), `"it" looks ${share('right')} at what it means and ${share('rival')} at the other`);
    assert.ok(Math.abs(share('right') - (await shareOnRight(page))) < 1e-5);
}

/** The weights that the page saves: attn attend looks with them as the page does, and so does Explore. */
async function assertWeightsAreThose(page, attn) {
    const { name, bytes } = await download(page, page.getByRole('button', { name: 'Save weights' }));
    assert.match(name, /^whois-step-\d+\.safetensors$/);
    const displayed = await heads(page);
    const sentence = displayed[0].rows.join(' ');
    const folder = mkdtempSync(join(tmpdir(), 'attn-train-'));
    try {
        writeFileSync(join(folder, name), bytes);
        const { weights } = native(attn, 'attend', join(folder, name), sentence);
        for (const [l, layer] of weights.entries())
            layer.forEach((truth, h) => assertNear(displayed.find((m) => m.name === `train.layer${l + 1}.head${h + 1}`).values, truth, `layer ${l + 1}, head ${h + 1}`));
        await page.getByRole('button', { name: 'Open in Explore', exact: true }).click();
        await page.waitForSelector('.explore .badge:has-text("trained here: whois")');
        await page.getByLabel('Show').selectOption('head');
        await settle(page);
        assertNear((await matrices(page)).find((m) => m.rows.length === weights[1][0].length).values, weights[1][0], 'Explore');
    } finally {
        rmSync(folder, { recursive: true });
    }
    await page.click('#tab-train');
    await atRest(page);
    await settle(page);
}

async function turnBackTime(page) {
    const timeline = page.getByLabel('Timeline');
    const solved = await shareOnRight(page);
    await timeline.fill('0');
    await page.waitForSelector('text=Viewing step 0');
    await page.waitForFunction((share) => Number(document.querySelector('.sentence').dataset.right) !== share, solved);
    const [accuracy] = await figures(page);
    assert.ok(accuracy < 0.2, `accuracy of step 0: ${accuracy}`);
    await page.waitForFunction(() => Number.isFinite(Number.parseFloat(document.querySelectorAll('.figure')[2].dataset.value))); // knock-out of the snapshot
    assert.match(await page.locator('.layers .badge').first().innerText(), /^random numbers, seed/);
    await timeline.press('End');
    await page.waitForFunction((share) => Number(document.querySelector('.sentence').dataset.right) === share, solved);
}

async function beginAnew(page) {
    await page.getByRole('button', { name: 'Reset' }).click();
    await atRest(page, '[data-step="0"]');
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await atRest(page, '[data-step="1"]');
    assert.match(await page.locator('.same').innerText(), /^All 1 losses are bit-identical/);
}

export async function whois_is_learnt_and_it_looks_at_what_it_means({ page, base, attn }) {
    await show(page, base, 'train');
    await atRest(page);
    await solve(page);
    await assertAllDistributions(page);
    await assertLooksAtReferent(page);
    await assertWeightsAreThose(page, attn);
    await turnBackTime(page);
    await beginAnew(page);
}

export async function training_stops_at_a_loss({ page, base }) {
    await show(page, base, 'train', 'train.task=sense&train.stopAt=0&train.stopLoss=1');
    await atRest(page);
    await page.getByRole('button', { name: 'Play' }).click();
    await atRest(page, '[data-ended=loss]');
    assert.match(await page.locator('.status').innerText(), /^Held-out loss of 1 or less at step \d+\.$/);
}

export async function settings_survive_a_reload({ page, base }) {
    await show(page, base, 'train');
    await atRest(page);
    await page.getByLabel('Layers').fill('1');
    await page.getByLabel('Layers').press('Enter');
    await page.getByLabel('Scaling').selectOption('none');
    await page.getByLabel('Causal mask').check();
    await page.waitForFunction(() => location.hash.includes('train.causal=1'));
    const asSet = page.url();
    await page.reload();
    await atRest(page);
    await page.waitForSelector('.layers canvas');
    assert.equal(page.url(), asSet);
    assert.equal(await page.getByLabel('Layers').inputValue(), '1');
    assert.equal(await page.getByLabel('Scaling').inputValue(), 'none');
    assert.ok(await page.getByLabel('Causal mask').isChecked());
    await assertAllDistributions(page);
}

export async function what_the_engine_refuses_is_said({ page, base }) {
    await show(page, base, 'train');
    await atRest(page);
    await page.getByLabel('Heads').fill('5');
    await page.getByLabel('Heads').press('Enter');
    await page.waitForSelector('.train[data-phase=failed]');
    assert.match(await page.getByRole('alert').innerText(), /heads/);
    await page.getByRole('button', { name: 'Task defaults' }).click();
    await atRest(page);
}

/** 1/sqrt(16) / 0.25 = 1: the experiment of docs/studies.md, a few steps of it. */
export async function temperature_equals_no_scaling_to_the_bit({ page, base }) {
    await show(page, base, 'train');
    await atRest(page);
    await page.getByRole('button', { name: '▶ Temperature 0.25' }).click();
    await page.waitForFunction(() => Number(document.querySelector('.train').dataset.step) > 55, null, { timeout: PATIENCE });
    await page.locator('.experiments .panel').last().getByRole('button', { name: 'No scaling' }).click();
    await page.waitForFunction(() => /bit-identical .*previous run .*temperature 0.25/.test(document.querySelector('.same')?.textContent ?? ''), null, { timeout: PATIENCE });
    await page.getByRole('button', { name: 'Pause' }).click();
    await atRest(page);
}

export async function every_task_can_be_read({ page, base }) {
    for (const task of ['sense', 'induction', 'copy', 'sort', 'add']) {
        await show(page, base, 'train', `train.task=${task}`);
        await atRest(page);
        await page.waitForSelector('.sentence');
        await assertAllDistributions(page);
    }
}

/** Two layers find what came after the same letter before. */
export async function induction_is_learnt({ page, base }) {
    await show(page, base, 'train', 'train.task=induction');
    await atRest(page);
    await page.getByRole('button', { name: 'Play' }).click();
    await atRest(page, '[data-ended=solved]');
    const step = await page.locator('.train').getAttribute('data-step');
    const loss = Number(await page.locator('.counts dd').nth(2).innerText());
    console.log(`       induction: solved at step ${step}, loss ${loss}`);
    assert.ok(loss < 0.05, `loss ${loss}`);
}
