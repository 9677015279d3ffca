// pictures.mjs - the pictures of the documentation, by `run.mjs --shots`: every room at 1440 x 900, light and
// dark, and on a phone; the story and a slide. Each is looked at by its size only; people look at the rest.
import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newPage, settle, show } from './support.mjs';

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../docs/img');
const MOST_BYTES = 250_000;
const LEARN = 500_000; // milliseconds that training may take

/** Trains to the end. Speed is the machine's, not the page's: it is left out. */
async function learn(page) {
    await page.waitForSelector('.train[data-phase=paused]');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForSelector('.train[data-phase=paused][data-ended=solved]', { timeout: LEARN });
    await page.locator('.counts dd').nth(1).evaluate(({ style }) => (style.visibility = 'hidden'));
}

/** Name, room, settings, and what is done before. The story is folded away where the room itself is meant. */
const foldStory = (page) => page.locator('.story > summary').click();
const PICTURES = [
    ['steps', 'steps', 'steps.step=4&steps.row=2&steps.column=3'],
    ['explore', 'explore', 'token=7', foldStory],
    ['train', 'train', '', learn],
    ['models', 'models', ''],
    ['cost', 'cost', ''],
    ['story', 'explore', ''],
    ['present', 'steps', 'present=1&slide=2&steps.step=4&steps.row=2&steps.column=3'],
];
const SIZES = [
    ['', 'light', { viewport: { width: 1440, height: 900 } }],
    ['-dark', 'dark', { viewport: { width: 1440, height: 900 } }],
    ['-phone', 'light', { viewport: { width: 360, height: 780 }, deviceScaleFactor: 2 }],
];

/** Of a smaller window if the file would be too large; its bytes. */
async function shoot(page, path) {
    for (const part of [1, 8 / 9, 7 / 8]) {
        const { width, height } = page.viewportSize();
        if (part < 1) await page.setViewportSize({ width: Math.round(width * part), height: Math.round(height * part) });
        await settle(page);
        await page.screenshot({ path, animations: 'disabled' });
        const { size } = statSync(path);
        if (size <= MOST_BYTES) return size;
    }
    return assert.fail(`${path}: more than ${MOST_BYTES} bytes`);
}

async function take(browser, base, [name, room, settings, prepare], [suffix, theme, options]) {
    const { page, problems, close } = await newPage(browser, base, options);
    try {
        await show(page, base, room, `${settings}&theme=${theme}`);
        await prepare?.(page);
        await settle(page);
        await page.evaluate(() => (document.activeElement.blur(), scrollTo(0, 0)));
        await page.waitForSelector('.readout:not(:empty)'); // comes a moment after the picture
        const path = join(FOLDER, `${name}${suffix}.png`);
        const size = await shoot(page, path);
        assert.deepEqual(problems, [], path);
        console.log(`       ${name}${suffix}.png: ${page.viewportSize().width} px, ${Math.round(size / 1000)} kB`);
    } finally {
        await close();
    }
}

export async function pictures({ browser, base }) {
    mkdirSync(FOLDER, { recursive: true });
    for (const picture of PICTURES) for (const size of SIZES) await take(browser, base, picture, size);
}
