// explore.browser.mjs - the journey through Explore: what is displayed is what `attn attend` and `attn trace`
// print, rows sum to 1, masked cells are exactly 0; pinning, comparing, bad sentences, links.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { assertDistributions, assertNear, assertNoOverflow, download, matrices, MODELS, native, settle, show, state } from './support.mjs';

const TIRED = 'The cat sat on the mat because it was tired.';
const DIRTY = TIRED.replace('tired', 'dirty');
const IT = 7;

const attend = (attn, sentence, ...options) => native(attn, 'attend', join(MODELS, 'whois.safetensors'), sentence, ...options);

/** The picture in sight whose label says so. */
async function displayed(page, label = /^Attention in percent/) {
    const found = (await matrices(page)).find(({ name }) => label.test(name));
    assert.ok(found, `a matrix with the label ${label}`);
    return found;
}

/** When the page is at rest, the displayed matrix is this one. */
async function becomes(page, truth, label) {
    await settle(page);
    assertNear((await displayed(page, label)).values, truth, String(label ?? 'attention'));
}

const view = (page, name) => page.getByRole('group', { name: 'View' }).getByRole('button', { name, exact: true }).click();
const chip = (page, n) => page.locator('.explore .chips').first().getByRole('button').nth(n);
const readout = (page, text) => page.waitForFunction((what) => document.querySelector('.readout').textContent.includes(what), text);

export async function explore_is_alive_at_once({ page, base }) {
    await show(page, base, 'explore');
    await page.waitForSelector('.explore .picture');
    assert.match(await page.locator('[data-answers]').innerText(), /“it”: cat \d+ %, no-colour \d+ %/);
    await readout(page, '“it” looks');
    assert.match(await page.locator('.explore .badge').first().innerText(), /attn train whois/);
}

/** The documents' sentence, however it ends: “it” looks at what it means, and the answer is right. */
export async function explore_understands_the_opening_sentence({ page, base }) {
    await show(page, base, 'explore');
    for (const end of ['.', '', ' .']) {
        for (const [adjective, noun, phrase] of [['tired', 'cat', [0, 1]], ['dirty', 'mat', [4, 5]]]) {
            await page.getByLabel('Sentence', { exact: true }).fill(`The cat sat on the mat because it was ${adjective}${end}`);
            await page.waitForFunction((said) => document.querySelector('[data-answers]').innerText.includes(`“it”: ${said}`), noun);
            await settle(page);
            const row = (await displayed(page)).values[IT];
            const share = phrase.reduce((sum, j) => sum + row[j], 0);
            assert.ok(share > 0.9, `${adjective}${end}: “it” looks ${share} at the phrase of ${noun}`);
        }
    }
}

export async function explore_displays_what_attend_prints({ page, base, attn }) {
    await show(page, base, 'explore');
    const sentence = 'The black dog stood near the white wall because it was hungry.';
    await page.getByLabel('Sentence', { exact: true }).fill(sentence);
    const mean = (layer) => layer[0].map((row, i) => row.map((_, j) => layer.reduce((sum, head) => sum + head[i][j], 0) / layer.length));
    await becomes(page, mean(attend(attn, sentence).weights[1]));

    await page.getByLabel('Show').selectOption('head');
    for (const [layer, head] of [[0, 1], [1, 0]]) {
        await page.getByRole('group', { name: 'Layer' }).getByRole('button', { name: String(layer + 1) }).click();
        await page.getByRole('group', { name: 'Head', exact: true }).getByRole('button', { name: String(head + 1) }).click();
        await becomes(page, attend(attn, sentence).weights[layer][head]);
    }
    await page.getByLabel('Mask').selectOption('causal');
    await becomes(page, attend(attn, sentence, '--causal').weights[1][0]);
    const causal = await displayed(page);
    assertDistributions(causal);
    assert.equal(causal.masked[0].filter(Boolean).length, 12);

    await page.getByLabel('Temperature').fill('0.7'); // along the logarithm
    const { temperature } = await state(page);
    assert.ok(Math.abs(temperature - Math.exp(0.7)) < 0.1);
    await becomes(page, attend(attn, sentence, '--causal', '--temperature', String(temperature)).weights[1][0]);
    await page.getByRole('button', { name: 'As trained' }).click();
    await page.getByLabel('Mask').selectOption('none');
    await page.getByLabel('Scaling').selectOption('none'); // d_k is 16: as a temperature of 1/4, and 1/16 as one of 4
    await becomes(page, attend(attn, sentence, '--temperature', '0.25').weights[1][0]);
    await page.getByLabel('Scaling').selectOption('dk');
    await becomes(page, attend(attn, sentence, '--temperature', '4').weights[1][0]);
    assertDistributions(await displayed(page));
}

export async function explore_displays_what_trace_prints({ page, base, attn }) {
    const sentence = 'Time flies like an arrow, but fruit flies like a banana.';
    const settings = { model: 'random', sentence, seed: '7', layer: '0', head: '2', mask: 'causal', 'explore.aggregate': 'head' };
    await show(page, base, 'explore', new URLSearchParams(settings).toString());
    const truth = native(attn, 'trace', sentence, '--heads', '4', '--d-model', '32', '--seed', '7', '--causal');
    const weights = truth.steps.find(({ name }) => name === 'weights');
    await becomes(page, weights.values[2]);
    assert.match(await page.locator('.explore .badge').first().innerText(), /random numbers, seed 7: real arithmetic, no meaning/);
    const command = await page.locator('[data-map=a] .export button').last().getAttribute('title');
    assert.equal(command, `attn attend '${sentence}' --random --seed 7 --layer 1 --head 3 --causal`);
    for (const [mask, count] of [['window', 110], ['padding', 26]]) { // of 13 x 13: all but 2 on each side; the last 2
        await page.getByLabel('Mask').selectOption(mask);
        await settle(page);
        const map = await displayed(page);
        assertDistributions(map);
        assert.equal(map.masked.flat().filter(Boolean).length, count, mask);
    }
}

export async function explore_pins_by_mouse_and_keyboard({ page, base }) {
    await show(page, base, 'explore');
    await chip(page, 1).click();
    await readout(page, '“cat” looks');
    assert.equal((await state(page)).token, 1);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await readout(page, '“sat” looks');
    await page.keyboard.press('Escape');
    assert.equal((await state(page)).token, -1);

    const grid = page.locator('[data-map=a] [role=grid]');
    await grid.locator('[tabindex="0"]').focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    assert.equal((await state(page)).token, 4);
    const box = await page.locator('[data-map=a] canvas').first().boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height - 12); // the last row
    assert.equal((await state(page)).token, 10);
    await page.getByRole('button', { name: 'Unpin' }).click();
    assert.equal((await state(page)).token, -1);
}

export async function explore_compares_two_sentences({ page, base, attn }) {
    await show(page, base, 'explore', new URLSearchParams({ 'explore.aggregate': 'head', head: '1' }).toString());
    await page.getByRole('button', { name: '+ compare' }).click();
    await page.getByLabel('Sentence B', { exact: true }).fill(DIRTY);
    const [a, b] = [TIRED, DIRTY].map((sentence) => attend(attn, sentence).weights[1][1]);
    await becomes(page, a);
    await becomes(page, b, /^Attention of sentence B/);
    await becomes(page, a.map((row, i) => row.map((x, j) => x - b[i][j])), /^A minus B/);
    const { rows } = await displayed(page, /^A minus B/);
    assert.equal(rows[9], 'tired | dirty');
    assert.match(await page.locator('[data-answers]').innerText(), /cat[^]*mat/);
    await page.getByLabel('Sentence B', { exact: true }).fill('The cat sat on the blue mat because it was dirty.'); // one word more
    await page.waitForFunction(() => window.attnTest.matrices().some(({ rows }) => rows[5] === '– | blue'));
    const longer = await displayed(page, /^A minus B/);
    assert.ok(longer.masked[5].every(Boolean));
}

export async function explore_switches_heads_off({ page, base }) {
    await show(page, base, 'explore');
    const switches = page.locator('#switches input');
    await switches.nth(2).uncheck();
    await switches.nth(3).uncheck();
    const effect = await page.locator('[data-effect]').innerText();
    assert.match(effect, /with all heads: cat \d+ %, no-colour \d+ %\. Without: cat/);
    assert.equal((await state(page)).explore.off, '1.0,1.1');
}

export async function explore_views_and_aggregates({ page, base }) {
    await show(page, base, 'explore');
    for (const how of ['max', 'rollout', 'gradient', 'mean']) {
        await page.getByLabel('Show').selectOption(how);
        await settle(page);
        const map = await displayed(page);
        if (how === 'rollout' || how === 'mean') assertDistributions(map);
        if (how === 'gradient') assert.ok(map.values.flat().some((x) => x > 0) && map.values.flat().every((x) => x >= 0));
    }
    await view(page, 'Arcs');
    assert.ok((await page.locator('.arcs .link.focus').count()) > 0);
    await view(page, 'Meaning shift');
    await page.locator('.shift .token').nth(10).waitFor();
    assert.equal(await page.locator('.shift .token').count(), 11);
    await view(page, 'Gradient');
    await page.waitForSelector('[data-map=parameters]');
    const after = await page.locator('[data-map=positions] tr').nth(IT + 1).locator('td').allInnerTexts();
    assert.match(after[1], / 0$/); // "was" cannot matter to "it" behind a causal mask
    await view(page, 'All heads');
    await page.getByRole('button', { name: 'layer 1, head 2' }).click();
    const now = await state(page);
    assert.deepEqual([now.layer, now.head, now.explore.aggregate, now.explore.view], [0, 1, 'head', 'heatmap']);
}

/** One word before, and where two sentences take it: one picture, the same axes. */
export async function explore_shows_how_apple_moves({ page, base }) {
    const sentences = { sentence: 'the apple near the tree and the chair .', compare: 'the apple near the stock and the chair .' };
    await show(page, base, 'explore', new URLSearchParams({ model: 'sense', 'explore.view': 'shift', ...sentences }).toString());
    const [a, b] = await page.locator('.shift .token.focus line').evaluateAll((lines) => lines.map((line) => ['x1', 'y1', 'x2', 'y2'].map((name) => Number(line.getAttribute(name)))));
    assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) < 1, `the same before: ${a}, ${b}`);
    assert.ok(Math.hypot(a[2] - b[2], a[3] - b[3]) > 100, `apart after: ${a}, ${b}`);
}

/** Query and key of the pinned pair, and the ten largest weights in words. */
export async function explore_says_why_and_how_much({ page, base, attn }) {
    await show(page, base, 'explore', 'explore.aggregate=head&head=1');
    const { weights } = attend(attn, TIRED);
    const product = page.locator('[data-map=product]');
    assert.match(await product.innerText(), /Score of “it” and “cat”/);
    const rows = await product.locator('tbody tr').evaluateAll((all) => all.map((tr) => [...tr.querySelectorAll('.number')].map((n) => Number(n.textContent.replace('−', '-')))));
    const score = Number((await product.locator('tfoot b').innerText()).replace('−', '-'));
    const sum = rows.reduce((total, [, , x]) => total + x, 0) / Math.sqrt(rows.length);
    assert.ok(rows.length === 16 && Math.abs(sum - score) < 0.05, `${sum} against ${score}`);

    await page.getByText('The ten largest weights as a table').click();
    await page.locator('.top td').first().waitFor();
    const values = await page.locator('.top td').allInnerTexts();
    const largest = weights[1][1].flat().sort((x, y) => y - x).slice(0, 10);
    assert.deepEqual(values, largest.map((x) => x.toFixed(4)));
}

/** What the command of a picture prints. Commands of two runs print two results. */
async function printed(page, attn, map) {
    const command = await page.locator(`[data-map=${map}] .export button`).last().getAttribute('title');
    assert.match(command, /^attn attend /);
    return command.split(' && ').map((one) =>
        JSON.parse(execFileSync('sh', ['-c', `"$ATTN" ${one.slice(5)} --json`], { cwd: MODELS, env: { ...process.env, ATTN: attn }, encoding: 'utf8', maxBuffer: 1 << 28 })));
}

const AGGREGATES = ['head', 'mean', 'max', 'rollout', 'gradient'];
const CHANGES = ['', 'scale=none', 'scale=dk', 'mask=causal', 'mask=window&window=1', 'mask=padding&padding=3', 'temperature=0.5',
    'explore.off=0.1,1.0', 'mask=window&explore.off=1.1&scale=none&temperature=2&token=2'];
const READERS = { model: 'head=1', 'random layers': 'model=random&seed=7&head=2&sentence=Time flies like an arrow, but fruit flies.' };

/** Every aggregate under every mask, scale, temperature and with heads off has its command, which prints what is displayed. */
export async function explore_commands_print_every_map({ page, base, attn }) {
    for (const [who, reader] of Object.entries(READERS)) {
        for (const change of CHANGES) {
            for (const aggregate of change === '' || change.includes('token') ? AGGREGATES : ['rollout', 'gradient']) {
                const settings = `${reader}&layer=${aggregate === 'max' ? 0 : 1}&explore.aggregate=${aggregate}${change && `&${change}`}`;
                await show(page, base, 'explore', settings);
                const [{ matrix }] = await printed(page, attn, 'a');
                assertNear((await displayed(page)).values, matrix, `${who}: ${settings}`);
            }
        }
    }
}

/** So have the difference of two sentences, of any length, and where both are moved. */
export async function explore_commands_print_both_sentences({ page, base, attn }) {
    const others = { 'head=1': ['The cat sat on the blue mat because it was dirty.', DIRTY], 'model=random&seed=3&sentence=a b c d': ['a c d e f'] };
    for (const [reader, sentences] of Object.entries(others)) {
        for (const compare of sentences) {
            for (const more of ['head&mask=window', 'mean', 'rollout']) {
                await show(page, base, 'explore', `${reader}&compare=${compare}&explore.aggregate=${more}`);
                const [{ difference }] = await printed(page, attn, 'difference');
                const { values, masked } = await displayed(page, /^A minus B/);
                assert.deepEqual(masked, difference.map((row) => row.map((x) => x === null)), `${compare}, ${more}`);
                assertNear(values, difference.map((row) => row.map((x) => x ?? 0)), `${compare}, ${more}`);
            }
            await view(page, 'Meaning shift');
            await page.locator('.shift .token').first().waitFor();
            const [both] = await printed(page, attn, 'shift');
            await page.locator('[data-map=shift] .export summary').click();
            const saved = JSON.parse((await download(page, page.locator('[data-map=shift] .export').getByRole('button', { name: 'JSON', exact: true }))).bytes);
            for (const [name, { shift: [before, after] }] of [['a', both], ['b', both.compare]]) {
                const rows = saved.filter(({ sentence }) => sentence === name);
                assertNear(rows.map((row) => [row.before_1, row.before_2, row.after_1, row.after_2]), before.map((point, i) => [...point, ...after[i]]), `shift of ${name}`, 1e-3);
            }
        }
    }
}

/** So have all heads, entropy, a product of query and key, and the gradients. */
export async function explore_commands_print_every_other_picture({ page, base, attn }) {
    const near = (found, expected, what) => assertNear([found], [expected], what);
    const shownNumbers = (rows) => rows.evaluateAll((all) => all.map((tr) => [...tr.querySelectorAll('td')].map((td) => Number(td.textContent.replace('−', '-').match(/[-\d.e+]+$/)[0]))));
    const closeTo = (x, y, what) => assert.ok(Math.abs(x - y) <= 0.006 * Math.abs(y) + 1e-12, `${what}: ${x}, expected ${y}`); // three digits are displayed
    for (const [who, reader] of Object.entries(READERS)) {
        await show(page, base, 'explore', `${reader}&layer=0&explore.aggregate=head&token=3&mask=window`);
        const [{ entropy }] = await printed(page, attn, 'entropy');
        const strip = (await matrices(page)).find(({ name }) => /^Entropy/.test(name));
        assertNear(strip.values, entropy.flat(), `${who}: entropy`);
        const [{ product }] = await printed(page, attn, 'product');
        const factors = await page.locator('[data-map=product] tbody tr').evaluateAll((all) => all.map((tr) => [...tr.querySelectorAll('.number')].map((n) => Number(n.textContent.replace('−', '-')))));
        assert.equal(product.query, 3);
        factors.forEach(([q, k], c) => assert.ok(Math.abs(q - product.q[c]) < 0.0051 && Math.abs(k - product.k[c]) < 0.0051, `${who}: product, place ${c}`));
        const [row] = await printed(page, attn, 'row');
        near((await displayed(page)).values[3], row.matrix[3], `${who}: row`);

        await view(page, 'All heads');
        await settle(page);
        const [{ weights }] = await printed(page, attn, 'a');
        assert.deepEqual([weights.length, weights[0].length], [2, who === 'model' ? 2 : 4]);

        await view(page, 'Gradient');
        await settle(page);
        const [full, causal] = await printed(page, attn, 'positions');
        const positions = await shownNumbers(page.locator('[data-map=positions] tbody tr'));
        positions.forEach(([x, y], i) => {
            closeTo(x, full.positions[i], `${who}: no mask, position ${i}`);
            closeTo(y, causal.positions[i], `${who}: causal, position ${i}`);
        });
        const [{ parameters }] = await printed(page, attn, 'parameters');
        const norms = await page.locator('[data-map=parameters] tbody tr').count();
        assert.equal(norms, parameters.length);
    }
}

export async function explore_links_give_the_same_picture({ page, base }) {
    await show(page, base, 'explore');
    await page.getByLabel('Examples').selectOption('pair');
    await view(page, 'Heatmap');
    await chip(page, 2).click();
    await page.getByLabel('Colour range').selectOption('log');
    await page.getByLabel('Temperature').fill('-1');
    await settle(page);
    const before = [await state(page), await matrices(page)];
    await page.reload();
    await page.waitForSelector('.explore .picture');
    await settle(page);
    assert.deepEqual([await state(page), await matrices(page)], before);

    const figure = page.locator('[data-map=a]');
    const command = await figure.locator('.export button').last().getAttribute('title');
    assert.match(command, /^attn attend whois\.safetensors 'The cat .*' --layer 2 --temperature 0\.\d+$/);
}

export async function explore_bad_inputs({ page, base }) {
    await show(page, base, 'explore');
    const input = page.getByLabel('Sentence', { exact: true });
    const alert = page.locator('.explore [role=alert]');
    await input.fill('');
    await alert.getByText('The sentence is empty').waitFor();
    await input.fill('The purple cat 😀');
    await alert.getByText('“purple”, “😀”: not known to this model').waitFor();
    await alert.getByText('The 74 words it knows').waitFor();
    assert.equal(await page.locator('.chip.unknown').count(), 2);
    assert.equal(await page.locator('.picture.stale').count(), 1);
    await input.fill('The dragon sat on the mat because it was dirty.');
    await alert.getByText('“dragon”: not known to this model').waitFor();
    await alert.getByRole('button', { name: 'The cat sat on the mat because it was dirty.' }).click();
    await page.waitForFunction(() => /“it”: mat/.test(document.querySelector('[data-answers]').innerText));
    assert.equal(await alert.count(), 0);
    await input.fill('The cat was tired.');
    await alert.getByText('has not learned to read sentences like this one').waitFor();
    assert.equal(await page.locator('.picture.stale').count(), 1, 'no answer to a sentence it cannot read');
    await input.fill(Array(10_000).fill('a').join(' ').slice(0, 19_999));
    await alert.getByText('not known to this model').waitFor();
    await alert.getByRole('button', { name: 'Use random weights' }).click();
    await alert.getByText('10,000 words; this page shows at most 512').waitFor();
    await input.fill(Array.from({ length: 512 }, (_, i) => `w${i % 50}`).join(' '));
    await page.waitForFunction(() => document.querySelector('[data-map=a] [role=grid]').getAttribute('aria-rowcount') === '512');
    assertDistributions(await displayed(page));
    await assertNoOverflow(page, '512 tokens', [360]);
    await view(page, 'Arcs');
    await page.getByText('at most 64 tokens').waitFor();
    await input.fill('😀 العربية e\u0301 <b> 😀');
    await page.waitForSelector('.arcs');
    assert.equal(await alert.count(), 0);
    for (const temperature of ['1e-6', '1e6']) {
        await show(page, base, 'explore', `temperature=${temperature}&explore.aggregate=head`);
        const map = await displayed(page);
        assertDistributions(map);
        const largest = Math.max(...map.values[IT]);
        assert.ok(temperature === '1e6' ? Math.abs(largest - 1 / 11) < 1e-3 : largest > 0.999, `largest weight ${largest} at ${temperature}`);
    }
    await show(page, base, 'explore', 'mask=padding&padding=11'); // nobody is seen
    await readout(page, 'sees no token');
    await show(page, base, 'explore', 'model=trained');
    await page.getByText('Nothing has been trained on this page').waitFor();
}
