// coverage.browser.mjs - docs/coverage.md against the page: every link of it is understood as it stands, and what
// the row names can be read there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { follow, settle, show, state } from './support.mjs';

const ROW = /^\| (S\d+-\d+) .*page `#1\?([^`]*)`(?:: (.*))? \|$/;
const NAMED = /“([^”]+)”/g;
const LATEST = 10_000; // milliseconds until all of it is there

/** As the URL writes it. */
const written = (value) => (typeof value === 'boolean' ? String(Number(value)) : String(value));

/** What is not as it should be: settings that are not understood, names that cannot be read. */
async function missingOn(page, settings, names) {
    const now = await state(page);
    const wrong = [...new URLSearchParams(settings)].filter(([name, value]) => written(name.split('.').reduce((at, part) => at[part], now)) !== value);
    const text = await page.evaluate(() => document.body.textContent); // to the eye or to a screen reader
    return [...wrong.map(String), ...names.filter((name) => !text.includes(name))];
}

export async function every_link_of_the_coverage_shows_what_it_names({ page, base }) {
    const rows = readFileSync(new URL('../../docs/coverage.md', import.meta.url), 'utf8').split('\n').map((line) => ROW.exec(line)).filter(Boolean);
    assert.ok(rows.length > 50, `${rows.length} links`);
    await show(page, base, 'steps');
    const missing = {};
    for (const [, id, settings, named = ''] of rows) {
        await follow(page, `#1?${settings}`);
        const names = Array.from(named.matchAll(NAMED), ([, name]) => name);
        const start = Date.now();
        do {
            await settle(page);
            missing[id] = await missingOn(page, settings, names);
        } while (missing[id].length > 0 && Date.now() - start < LATEST);
    }
    assert.deepEqual(Object.entries(missing).filter(([, what]) => what.length > 0), []);
}
