// train.browser.mjs - the journey through Train: whois is learnt in the page, "it" then looks at what it
// means, time can be turned back, and the URL keeps the settings.
import assert from 'node:assert/strict';

const BUDGET = 2000; // steps of whois, see docs/training.md
const PATIENCE = 240_000; // milliseconds; the machine may be busy

const run = (page) => page.locator('.train').evaluate((room) => ({ ...room.dataset }));
const shares = (page) => page.locator('.sentence').evaluate(({ dataset }) => [Number(dataset.right), Number(dataset.rival)]);
const figures = (page) => page.locator('.figure').evaluateAll((all) => all.map((one) => Number(one.dataset.value)));
const atRest = (page) => page.waitForSelector('.train[data-phase=paused]', { timeout: PATIENCE });

async function solves(page) {
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForSelector('.train[data-phase=paused][data-ended=solved]', { timeout: PATIENCE });
    const { step, speed } = await run(page);
    const [accuracy, selectivity, knockedOut] = await figures(page);
    console.log(`whois: ${step} steps, ${Number(speed).toFixed(0)} steps/s, accuracy ${accuracy}, selectivity ${selectivity}, knock-out ${knockedOut}`);
    assert.ok(Number(step) <= BUDGET);
    assert.ok(accuracy >= 0.99, `held-out accuracy ${accuracy}`);
    assert.ok(selectivity >= 0.9, `selectivity ${selectivity}`);
    assert.ok(knockedOut <= 0.2, `accuracy without what decides ${knockedOut}`);
}

async function looksAtTheReferent(page) {
    await page.getByLabel('Layer', { exact: true }).selectOption({ label: '2' });
    const [right, rival] = await shares(page);
    assert.ok(right > rival, `"it" looks ${right} at what decides, ${rival} at the other`);
    return right;
}

async function turnsBackTime(page, before) {
    const timeline = page.getByLabel('Timeline');
    await timeline.fill('0');
    await page.waitForSelector('text=Viewing step 0');
    await page.waitForFunction((share) => Number(document.querySelector('.sentence').dataset.right) !== share, before);
    const [accuracy] = await figures(page);
    assert.ok(accuracy < 0.2, `accuracy of step 0: ${accuracy}`);
    assert.match(await page.locator('.layers .badge').first().innerText(), /^random, seed/);
    await timeline.press('End');
    await page.waitForFunction((share) => Number(document.querySelector('.sentence').dataset.right) === share, before);
}

/** The same seed gives the same numbers; one step is one step. */
async function beginsAnew(page) {
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.waitForSelector('.train[data-phase=paused][data-step="0"]', { timeout: PATIENCE });
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await page.waitForSelector('.train[data-phase=paused][data-step="1"]', { timeout: PATIENCE });
    assert.match(await page.locator('.same').innerText(), /^All 1 losses/);
}

async function keepsSettings(page) {
    await page.getByLabel('Layers').fill('1');
    await page.getByLabel('Layers').press('Enter');
    await page.getByLabel('Scaling').selectOption('none');
    await page.getByLabel('Causal mask').check();
    await page.waitForFunction(() => location.hash.includes('train.causal=1'));
    const asSet = page.url();
    await page.reload();
    await atRest(page);
    assert.equal(page.url(), asSet);
    assert.equal(await page.getByLabel('Layers').inputValue(), '1');
    assert.equal(await page.getByLabel('Scaling').inputValue(), 'none');
    assert.ok(await page.getByLabel('Causal mask').isChecked());
}

/** What the engine refuses is said, and can be put right. */
async function saysWhatIsWrong(page) {
    await page.getByLabel('Heads').fill('5');
    await page.getByLabel('Heads').press('Enter');
    await page.waitForSelector('.train[data-phase=failed]');
    assert.match(await page.getByRole('alert').innerText(), /heads/);
    await page.getByRole('button', { name: 'Task defaults' }).click();
    await atRest(page);
}

/** `page` stands at the built page at `url`; the window is a desktop's. */
export async function journey({ page, base: url }) {
    await page.goto(`${url}#1?room=train`);
    await atRest(page);
    await page.waitForSelector('.sentence');
    await solves(page);
    const right = await looksAtTheReferent(page);
    await turnsBackTime(page, right);
    await beginsAnew(page);
    await keepsSettings(page);
    await saysWhatIsWrong(page);
}
