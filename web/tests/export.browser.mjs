// export.browser.mjs - what can be taken away: in every room every picture (PNG, and SVG where it is one), table (CSV) and list
// (JSON) is saved and read again, and the numbers of Explore are those on the page.
import assert from 'node:assert/strict';
import { download, matrices, settle, show } from './support.mjs';

const fields = (line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, -1).map(([, x]) => (x.startsWith('"') ? x.slice(1, -1).replaceAll('""', '"') : x));

/** Columns and rows of a CSV file without line breaks in its fields. */
function readCsv(bytes, name) {
    const [columns, ...rows] = bytes.toString('utf8').trimEnd().split('\n').map((line) => fields(`${line},`));
    assert.ok(rows.length > 0 && columns.length > 1, `${name}: ${rows.length} rows`);
    rows.forEach((row, i) => assert.equal(row.length, columns.length, `${name}: row ${i}`));
    return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
}

/** The same names and values; JSON has no infinity. */
function assertSame(json, csv, name) {
    assert.equal(json.length, csv.length, name);
    json.forEach((row, i) => {
        assert.deepEqual(Object.keys(row), Object.keys(csv[i]), name);
        for (const [key, value] of Object.entries(row)) assert.ok(value === null ? !Number.isFinite(Number(csv[i][key])) : String(value) === csv[i][key], `${name}: ${key}`);
    });
}

/** How wide a picture is and how many colours it has, by the browser. */
const lookAt = (page, bytes, type) => page.evaluate(async ([text, mime]) => {
    const image = new Image();
    image.src = `data:${mime};base64,${text}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer);
    return { width: image.width, colors: new Set(pixels).size };
}, [bytes.toString('base64'), type]);

async function assertPicture(page, { name, bytes }) {
    const isSvg = name.endsWith('.svg');
    assert.ok(isSvg || name.endsWith('.png'), name);
    if (isSvg) assert.ok(!/class="[^"]*"[^>]*fill="var|<script/.test(bytes.toString()), `${name}: stands alone`);
    const { width, colors } = await lookAt(page, bytes, isSvg ? 'image/svg+xml' : 'image/png');
    assert.ok(width > 50 && colors > 2, `${name}: ${width} pixels, ${colors} colours`);
}

/** Saves all that a box offers; the table. */
async function readBox(page, box) {
    await box.locator('summary').click();
    const files = {};
    for (const button of await box.getByRole('button').all()) {
        const name = await button.innerText();
        if (/command/i.test(name)) continue;
        const file = await download(page, button).catch((error) => assert.fail(`${page.url()} ${name}: ${error.message}`));
        files[file.name.split('.').at(-1)] = file;
    }
    const { csv, json, ...pictures } = files;
    const table = JSON.parse(json.bytes.toString());
    assertSame(table, readCsv(csv.bytes, csv.name), csv.name);
    for (const file of Object.values(pictures)) await assertPicture(page, file);
    return { table, kinds: Object.keys(files) };
}

async function readRoom(page, room, expected) {
    const kinds = new Set();
    for (const box of await page.locator('#room .export').all()) (await readBox(page, box)).kinds.forEach((kind) => kinds.add(kind));
    for (const kind of expected) assert.ok(kinds.has(kind), `${room}: ${kind}`);
}

async function readAll(page, base, room, settings, expected) {
    await show(page, base, room, settings);
    await readRoom(page, room, expected);
}

export const steps_can_be_taken_away = ({ page, base }) => readAll(page, base, 'steps', 'steps.step=7&mask=causal', ['png', 'csv', 'json']);
export const cost_can_be_taken_away = ({ page, base }) => readAll(page, base, 'cost', '', ['svg', 'png', 'csv', 'json']);
export const models_can_be_taken_away = ({ page, base }) => readAll(page, base, 'models', '', ['csv', 'json']);

export async function train_can_be_taken_away({ page, base }) {
    await show(page, base, 'train');
    for (const step of [1, 2]) {
        await page.getByRole('button', { name: 'Step', exact: true }).click();
        await page.waitForSelector(`.train[data-phase=paused][data-step="${step}"]`);
    }
    await readRoom(page, 'train', ['svg', 'png', 'csv', 'json']);
}

export async function explore_can_be_taken_away({ page, base }) {
    for (const [view, kinds] of [['arcs', ['svg', 'png']], ['heads', ['png']], ['shift', ['svg', 'png']], ['gradient', ['svg']]])
        await readAll(page, base, 'explore', `explore.view=${view}`, [...kinds, 'csv', 'json']);
    await show(page, base, 'explore', 'mask=causal&explore.aggregate=head');
    await settle(page);
    const [{ values, masked, rows }] = await matrices(page);
    const { table } = await readBox(page, page.locator('[data-map=a] .export'));
    assert.equal(table.length, rows.length ** 2);
    for (const row of table) {
        assert.deepEqual([row.value, row.masked], [values[row.query][row.key], Number(masked[row.query][row.key])]);
        assert.equal(row.query_word, rows[row.query]);
    }
}
