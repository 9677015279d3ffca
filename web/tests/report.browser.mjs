// report.browser.mjs - `attn report --format html` in a browser: it fits desks and phones, follows the theme,
// loads nothing, and its links lead to its figures.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assertAccessible } from './support.mjs';

/** Opens a report of some figures, written now, and calls use(). */
async function withReport(page, attn, use) {
    const folder = mkdtempSync(join(tmpdir(), 'attn-report-'));
    try {
        execFileSync(attn, ['report', '--only', 'F1,F3,F7,E4,E6', '--format', 'html', '--out', folder], { stdio: 'ignore' });
        await page.goto(pathToFileURL(join(folder, 'attention.html')).href);
        await use();
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const shown = (page, id, kind) => page.locator(`#${id} svg.${kind}`).isVisible();

export const fits_desks_and_phones = ({ page, attn }) => withReport(page, attn, async () => {
    for (const width of [360, 768, 1440, 3840]) {
        await page.setViewportSize({ width, height: 900 });
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `sideways at ${width}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    assert.deepEqual([await shown(page, 'E6', 'wide'), await shown(page, 'E6', 'tall')], [false, true]);
    const box = await page.locator('#E6 svg.tall').boundingBox();
    const [, , width] = (await page.locator('#E6 svg.tall').getAttribute('viewBox')).split(' ').map(Number);
    assert.ok(8 * box.width / width >= 9, `the smallest type, 8 units, is ${8 * box.width / width} pixels high`);
    await page.setViewportSize({ width: 1280, height: 900 });
    assert.deepEqual([await shown(page, 'E6', 'wide'), await shown(page, 'E6', 'tall')], [true, false]);
});

export const is_accessible_in_both_themes = ({ page, attn }) => withReport(page, attn, async () => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    for (const [colorScheme, color] of [['light', 'rgb(255, 255, 255)'], ['dark', 'rgb(22, 24, 28)']]) {
        await page.emulateMedia({ colorScheme });
        assert.equal(await paper(), color);
        await assertAccessible(page, `report, ${colorScheme}`);
    }
});

export const links_lead_to_figures = ({ page, attn }) => withReport(page, attn, async () => {
    await page.locator('#findings a[href="#F7"]').first().click();
    const top = await page.locator('#F7').evaluate((e) => e.getBoundingClientRect().top);
    assert.ok(Math.abs(top) < 2, `F7 is at ${top}`);
});
