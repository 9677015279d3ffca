// access.browser.mjs - nobody is shut out: nothing that axe finds in any room, view and theme, no scrolling
// sideways at any width, and the whole journey by keyboard alone.
import assert from 'node:assert/strict';
import { assertAccessibleInBothThemes, assertNoOverflow, ROOMS, settle, show, state } from './support.mjs';

const visited = [];

/** Goes through the places of a room that differ in what is shown (settings of the URL), then fails with everything that was found. */
const inEveryPlace = (room, places) => {
    visited.push(room);
    return async ({ page, base }) => {
        const found = [];
        for (const settings of places) {
            await show(page, base, room, settings);
            for (const check of [assertAccessibleInBothThemes, assertNoOverflow])
                await check(page, `${room} ${settings}`).catch((error) => found.push(error.message));
        }
        assert.equal(found.join('\n'), '');
    };
};

export const steps_shuts_nobody_out = inEveryPlace('steps', [
    '', 'steps.step=4&steps.row=2&steps.column=3', 'steps.step=7&mask=causal', 'steps.example=002-scaling&steps.step=1',
    'steps.example=mine&steps.step=10&sentence=the+cat+saw+the+dog', 'present=1&slide=3&steps.example=002-scaling&steps.step=4']);
export const explore_shuts_nobody_out = inEveryPlace('explore', [
    '', 'compare=The+red+cat+sat+on+the+blue+mat+because+it+was+dirty.', 'explore.view=arcs', 'explore.view=heads&mask=causal',
    'explore.view=shift', 'explore.view=gradient', 'present=1&slide=0']);
export const train_shuts_nobody_out = inEveryPlace('train', ['', 'train.task=induction']);
export const models_shuts_nobody_out = inEveryPlace('models', ['']);
export const cost_shuts_nobody_out = inEveryPlace('cost', ['']);

export async function every_room_is_visited() {
    assert.deepEqual(visited, ROOMS);
}

const MOST_STOPS = 120;

/** Goes by Tab until the focus is there. */
async function tabTo(page, selector) {
    for (let i = 0; i < MOST_STOPS; i++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate((what) => document.activeElement.matches(what), selector)) return;
    }
    assert.fail(`${selector} is not reached by Tab`);
}

const press = async (page, ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
};

/** From the first stop of the page: a sentence, a pin, mask, scaling, temperature; a step, a number; an export. */
export async function the_whole_journey_by_keyboard({ page, base }) {
    await show(page, base, 'explore');
    await press(page, 'Tab', 'Enter'); // the skip link
    await tabTo(page, 'input[aria-label=Sentence]');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('The black dog stood near the white wall because it was hungry.');
    await tabTo(page, '.explore .chip');
    await press(page, 'Home', 'ArrowRight', 'ArrowRight', 'Enter');
    assert.equal((await state(page)).token, 2);
    for (const [label, setting, expected] of [['Mask', 'mask', 'causal'], ['Scaling', 'scale', 'none']]) {
        await tabTo(page, 'select');
        while (!(await page.evaluate((name) => document.activeElement.labels[0].textContent.startsWith(name), label))) await tabTo(page, 'select');
        await press(page, 'ArrowDown');
        assert.equal((await state(page))[setting], expected, label);
    }
    await tabTo(page, 'input[type=range]');
    await press(page, 'ArrowRight');
    assert.ok((await state(page)).temperature > 1);
    await tabTo(page, '[role=gridcell]');
    await press(page, 'ArrowDown', 'Control+End', 'Enter');
    assert.equal((await state(page)).token, 12, 'the last row is pinned');
    await tabTo(page, '.export summary');
    await press(page, 'Enter');
    await tabTo(page, '.export button');
    const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Enter')]);
    assert.match(file.suggestedFilename(), /^attention-a\.(png|svg|csv)$/);
    await stepsByKeyboard(page, base);
}

async function stepsByKeyboard(page, base) {
    await show(page, base, 'explore');
    await tabTo(page, '#tab-explore');
    await press(page, 'ArrowLeft');
    assert.equal((await state(page)).room, 'steps');
    await tabTo(page, '.ribbon button');
    await press(page, 'ArrowRight');
    assert.equal((await state(page)).steps.step, 1);
    await tabTo(page, 'td.editable');
    await press(page, 'Enter');
    await page.keyboard.type('0.5');
    await press(page, 'Enter');
    assert.match((await state(page)).steps.edits, /=0\.5$/);
    await press(page, 'Control+z');
    assert.equal((await state(page)).steps.edits, '');
}
