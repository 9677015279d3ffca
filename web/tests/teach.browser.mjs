// teach.browser.mjs - what teaches on the page, in a real browser and mostly by keyboard: the story turns
// attention, wrong answers show what they promise, tour, slides and dialogs, and none of it shuts anybody out.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertAccessible, assertAccessibleInBothThemes, load, settle } from './support.mjs';

const BOOK = readFileSync(new URL('../../docs/book/12-quiz.md', import.meta.url), 'utf8');

/** "#1?room=steps" as a map, when the URL is written. */
const stateOf = async (page) => (await settle(page), page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? ''))));
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? '');

async function open(page, base, hash = '') {
    await load(page, base, hash);
    await page.waitForSelector('.quiz');
    await settle(page);
}

/** Percent on the chip of a word, from the pinned "it"; a very small one is "<0.1 %". */
const share = async (page, word) =>
    parseFloat((await page.locator('.chip', { hasText: new RegExp(`^${word}<?[\\d.]+ %$`) }).locator('small').innerText()).replace('<', ''));

/** Three directions beside the scores, with a problem that has them; the derivation unfolds beside the scale. */
export async function the_card_shows_directions_and_derives({ page, base }) {
    await open(page, base, '#1?room=steps&steps.step=4');
    await page.locator('.directions figure').nth(2).waitFor();
    await page.getByRole('button', { name: 'One query, three keys' }).click();
    await page.waitForSelector('.badge.hand');
    const scores = await page.locator('[data-part=scores] tbody tr').first().locator('td').allInnerTexts();
    assert.deepEqual(scores.map((x) => Number(x.replace('−', '-'))), [1, 0, -1]);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Why the variance is d_k').click();
    await page.locator('.more math').nth(2).waitFor();
    await assertAccessible(page, 'derivation');
}

export async function the_story_turns_attention({ page, base }) {
    await open(page, base);
    await page.waitForSelector('.chip.focus');
    const { bottom } = await page.locator('.story').evaluate((e) => e.getBoundingClientRect());
    assert.ok(bottom < 300, `the story ends at ${bottom}: the room is on the first screen`);
    assert.ok((await share(page, 'cat')) > (await share(page, 'mat')), 'tired: the cat');
    await page.locator('.story button.dirty').focus();
    await page.keyboard.press('Enter');
    await page.locator('.chip', { hasText: /^dirty.*%$/ }).waitFor();
    assert.ok((await share(page, 'mat')) > (await share(page, 'cat')), 'dirty: the mat');
    assert.match((await stateOf(page)).sentence, /dirty/);
    await page.locator('.story > summary').click();
    await settle(page); // the browser tells of the fold a little later
    await page.reload();
    await page.waitForSelector('.quiz');
    assert.equal(await page.locator('.story').getAttribute('open'), null, 'stays folded for the session');
    await page.locator('.story > summary').click();
}

/** Places, a question there, a wrong choice, and what the room then shows. */
const WRONG = [
    ['#1?room=steps', 'Three projections', 'a', { room: 'steps', 'steps.example': '002-plain', 'steps.step': '2' }, 'Scores'],
    ['#1?room=steps&steps.step=5', 'Large heads without scaling', 'd', { scale: 'none', 'steps.example': '002-scaling' }, 'Softmax'],
    ['#1?room=steps&steps.step=7', 'Where softmax runs', 'b', { room: 'steps', 'steps.step': '7' }, 'Softmax'],
    ['#1?room=explore', 'A row that sees nothing', 'a', { mask: 'padding', padding: '10' }, ''],
    ['#1?room=explore', 'Shuffled tokens', 'a', { room: 'steps', 'steps.example': 'mine', sentence: 'man bites dog' }, 'Weighted values'],
    ['#1?room=explore', 'Ties at temperature zero', 'c', { room: 'steps', 'steps.example': '001', temperature: '0.001' }, 'Softmax'],
    ['#1?room=train', 'The zero gradient', 'd', { room: 'steps', 'steps.example': '001' }, 'Softmax'],
    ['#1?room=train', 'Gradients under a causal mask', 'b', { room: 'steps', 'steps.example': '003' }, 'Softmax'],
    ['#1?room=cost', 'Twice the text', 'a', { room: 'cost', 'cost.n': '512' }, ''],
    ['#1?room=cost&cost.n=512', 'A share of the memory', 'a', { room: 'cost' }, ''],
    ['#1?room=cost', 'Tiles', 'a', { room: 'cost', 'cost.n': '16384' }, ''],
    ['#1?room=steps&steps.step=4', 'Unit vectors', 'b', { room: 'steps', 'steps.example': '002-scaling' }, 'Queries, keys, values'],
    ['#1?room=steps&steps.step=6', 'Mask and softmax', 'a', { room: 'steps', 'steps.example': '003', 'steps.step': '4' }, 'Softmax'],
];

async function askFor(page, title) {
    for (let i = 0; i < 6; i++) {
        const now = await page.locator('.quiz h3').innerText();
        if (now.endsWith(title)) return;
        await page.getByRole('button', { name: 'Another question' }).click();
        await page.waitForFunction((before) => document.querySelector('.quiz h3').innerText !== before, now);
    }
    assert.fail(`no question "${title}" here`);
}

export async function wrong_answers_show_what_they_promise({ page, base }) {
    for (const [hash, title, letter, promised, heading] of WRONG) {
        await open(page, base, hash);
        if (hash.includes('steps')) await page.waitForSelector('.stage');
        await askFor(page, title);
        await page.locator(`.quiz input[value=${letter}]`).focus();
        await page.keyboard.press('Space');
        await page.keyboard.press('Enter');
        await page.waitForSelector('.quiz .wrong');
        const state = await stateOf(page);
        for (const [name, value] of Object.entries(promised)) assert.equal(state[name] ?? (name === 'room' ? 'explore' : ''), value, `${title}: ${name}`);
        if (heading) await page.locator('.stage h2', { hasText: heading }).first().waitFor();
        assert.ok((await page.locator('.quiz h3').innerText()).endsWith(title), 'the question stays beside its counter-example');
        assert.ok((await page.locator('.quiz .wrong').innerText()).length > 60);
    }
}

/** The numbers that wrong answers point at are on the page. */
export async function the_promised_numbers_are_there({ page, base }) {
    const weights = (row) => page.$$eval(`figure.matrix[data-part=weights] tbody tr:nth-child(${row}) td[data-at]`, (all) => all.map((td) => Number(td.title).toFixed(3)));
    const shown = async (hash, row) => {
        await open(page, base, hash);
        await page.waitForSelector('figure.matrix[data-part=weights]');
        return weights(row);
    };
    const edits = encodeURIComponent('k:0,0=2;k:0,1=1;k:1,0=2;k:1,1=2;k:2,0=1;k:2,1=2');
    assert.deepEqual(await shown('#1?room=steps&steps.example=001&steps.step=4&temperature=0.001', 1), ['0.500', '0.500', '0.000']);
    assert.deepEqual(await shown(`#1?room=steps&steps.example=001&steps.step=4&steps.edits=${edits}`, 1), ['0.401', '0.401', '0.198']);
    assert.deepEqual((await shown('#1?room=steps&steps.example=002-scaling&steps.step=4&scale=none', 1)).slice(0, 2), ['0.993', '0.007']);
    assert.deepEqual((await shown('#1?room=steps&steps.example=002-scaling&steps.step=4', 1)).slice(0, 2), ['0.631', '0.338']);
}

export async function right_answers_count_for_the_session({ page, base }) {
    await open(page, base, '#1?room=steps&steps.step=6');
    await page.waitForSelector('.stage');
    await askFor(page, 'Fill in the causal mask');
    await page.getByRole('button', { name: 'Check' }).click();
    assert.match(await page.locator('.quiz [role=status]').innerText(), /first/, 'nothing filled in: said so');
    await page.getByLabel('blank 1').fill(' I ');
    await page.getByLabel('blank 2').fill('Later');
    await page.keyboard.press('Enter');
    assert.match(await page.locator('.quiz .right').innerText(), /^Right\./);
    assert.equal((await stateOf(page))['steps.example'], undefined, 'a right answer leaves the room as it is');
    await askFor(page, 'Mask and softmax');
    await page.getByLabel('Before softmax: set its score to minus infinity.').check();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.waitForSelector('.quiz .right');
    assert.match(await page.locator('.quiz').innerText(), /2 of 2 answered \(14 in total\)/);
    await page.reload();
    await page.waitForSelector('.quiz');
    assert.match(await page.locator('.quiz').innerText(), /2 of 2 answered/, 'the score lasts for the session');
    assert.equal(BOOK.match(/^## /gm).length, 14);
}

export async function the_tour_goes_by_keyboard_and_gives_the_focus_back({ page, base }) {
    await open(page, base);
    const button = page.getByRole('button', { name: 'Tour' });
    await button.focus();
    await page.keyboard.press('Enter');
    const rooms = [];
    for (let stop = 1; stop <= 8; stop++) {
        await page.locator('dialog.tour h2', { hasText: `Tour, ${stop} of 8` }).waitFor();
        assert.ok((await focused(page)) === (stop < 8 ? 'Next' : 'Done'), 'the focus stays on the way on');
        if (stop === 2) await assertAccessible(page, 'tour');
        rooms.push((await stateOf(page)).room ?? 'explore');
        if (stop < 8) await page.keyboard.press(stop % 2 ? 'Enter' : 'ArrowRight');
    }
    assert.deepEqual([...new Set(rooms)], ['explore', 'steps', 'train', 'models', 'cost']);
    const framed = await page.locator('.frame').boundingBox();
    const card = await page.locator('.card').boundingBox();
    assert.ok(Math.abs(framed.x - card.x) < 8 && Math.abs(framed.width - card.width) < 16, 'the frame is around the card');
    await page.keyboard.press('Escape');
    await page.locator('dialog.tour').waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'Tour', 'the focus is where it was');
}

export async function slides_follow_arrows_and_clicker({ page, base }) {
    await open(page, base);
    await page.locator('#room').focus();
    await page.keyboard.press('p');
    const number = async (k) => page.locator('.slide nav', { hasText: `${k} / 10` }).waitFor();
    await number(1);
    await page.waitForFunction(() => parseFloat(getComputedStyle(document.body).fontSize) >= 20); // large type
    const titles = new Set();
    for (let k = 1; k <= 10; k++) {
        await number(k);
        titles.add(await page.locator('.slide h2').innerText());
        assert.match(await page.locator('.takeaway').innerText(), /^Key takeaway ./);
        if (k < 10) await page.keyboard.press(k % 2 ? 'PageDown' : 'ArrowRight');
    }
    assert.equal(titles.size, 10);
    await page.keyboard.press('PageDown');
    await number(10);
    await page.keyboard.press('PageUp');
    await page.keyboard.press('ArrowLeft');
    await number(8);
    await page.waitForURL(/room=train/); // the address follows the state, at most ten times a second
    await page.reload();
    await number(8);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.card');
    assert.equal(await page.locator('.slide').count(), 0);
}

export async function single_keys_and_dialogs({ page, base }) {
    await open(page, base);
    await page.locator('#room').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await assertAccessible(page, 'keys');
    await page.getByLabel('Enable single-key shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('3');
    assert.equal((await stateOf(page)).room, undefined, 'single keys are off');
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByLabel('Enable single-key shortcuts').check();
    await page.keyboard.press('Escape');
    assert.equal(await focused(page), 'Keys', 'the focus is where it was');
    await page.keyboard.press('3');
    assert.equal((await stateOf(page)).room, 'train');
    await page.keyboard.press('g');
    await page.locator('dialog dt', { hasText: /^softmax$/ }).waitFor();
    await assertAccessible(page, 'glossary');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
}

export async function formulas_are_laid_out({ page, base }) {
    await open(page, base, '#1?room=cost');
    assert.ok((await page.locator('.card math mfrac').count()) >= 2);
    for (const math of await page.locator('.card math').all()) assert.ok((await math.boundingBox()).height > 15, 'laid out');
}

export async function a_wrong_answer_shuts_nobody_out({ page, base }) {
    await open(page, base, '#1?room=steps&steps.step=5');
    await askFor(page, 'Large heads without scaling');
    await page.locator('.quiz input[value=a]').check();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.waitForSelector('.quiz .wrong');
    await assertAccessibleInBothThemes(page, 'a wrong answer');
}
