// export.browser.mjs - what can be taken away: in every room every picture (PNG, SVG), table (CSV) and list (JSON) is saved
// and read again. The two pictures are one, heatmaps have the pixels of the page, and the numbers of Explore are those on it.
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

const urlOf = ({ name, bytes }) => `data:image/${name.endsWith('.svg') ? 'svg+xml' : 'png'};base64,${bytes.toString('base64')}`;

/** How wide a picture is and how many colours it has, by the browser. */
const lookAt = (page, file) => page.evaluate(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer);
    return { width: image.width, colors: new Set(pixels).size };
}, urlOf(file));

async function assertPicture(page, file) {
    const { name, bytes } = file;
    const isSvg = name.endsWith('.svg');
    assert.ok(isSvg || name.endsWith('.png'), name);
    if (isSvg) assert.ok(!/var\(|<script|href="(?!data:)/.test(bytes.toString()), `${name}: stands alone`);
    const { width, colors } = await lookAt(page, file);
    assert.ok(width > 50 && colors > 2, `${name}: ${width} pixels, ${colors} colours`);
}

/** The part of the pixels that are not the same in an SVG, and in a PNG or a canvas of the page on its ground; above the canvas
 *  the SVG may have more. */
const unlike = (page, svg, other, top = 0) => page.evaluate(async ([drawing, canvasOrUrl, y]) => {
    const NOT_SEEN = 4; // of 255
    const read = async (src) => {
        const image = Object.assign(new Image(), { src });
        await image.decode();
        return image;
    };
    const isFile = canvasOrUrl.startsWith('data:');
    const shown = isFile ? await read(canvasOrUrl) : document.querySelector(canvasOrUrl);
    const size = [shown.width, shown.height];
    const pen = new OffscreenCanvas(...size).getContext('2d', { willReadFrequently: true });
    const pixels = (ground, ...image) => {
        pen.clearRect(0, 0, ...size);
        pen.fillStyle = ground;
        pen.fillRect(0, 0, ...size);
        pen.drawImage(...image);
        return pen.getImageData(0, 0, ...size).data;
    };
    const a = pixels(isFile ? 'transparent' : getComputedStyle(document.body).backgroundColor, shown, 0, 0);
    const b = pixels('transparent', await read(drawing), 0, -y, ...(isFile ? size : [])); // charts have twice as many pixels in the file
    let differing = 0;
    for (let i = 0; i < a.length; i += 4) differing += [0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > NOT_SEEN);
    return differing / (a.length / 4);
}, [urlOf(svg), typeof other === 'string' ? other : urlOf(other), top]);

const NAMES_DIFFER = 0.001; // of the pixels, at most: letters that are turned or narrowed; less than a cell

async function assertSamePixels(page, svg, other, top) {
    const part = await unlike(page, svg, other, top);
    assert.ok(part <= NAMES_DIFFER, `${svg.name}: ${100 * part} % of the pixels differ`);
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
    assert.equal('svg' in pictures, 'png' in pictures, `${csv.name}: both pictures or none`);
    if (pictures.svg) await assertSamePixels(page, pictures.svg, pictures.png);
    return { table, kinds: Object.keys(files), svg: pictures.svg };
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

export const steps_can_be_taken_away = ({ page, base }) => readAll(page, base, 'steps', 'steps.step=7&mask=causal', ['svg', 'png', 'csv', 'json']);
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
    for (const view of ['arcs', 'heads', 'shift', 'gradient']) await readAll(page, base, 'explore', `explore.view=${view}`, ['svg', 'png', 'csv', 'json']);
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

/** Each heatmap that is a canvas on the page: room and settings, what holds canvas and box, pixels above it in the SVG. */
const HEATMAPS = [
    ['explore', 'mask=causal&explore.aggregate=head', '[data-map=a]'],
    ['explore', 'mask=causal&explore.view=heads&theme=dark', '[data-map=a]'],
    ['train', 'train.causal=1', '#train-layer-1'],
    ['cost', 'theme=dark', '#cost-maps', 34],
];

export async function saved_heatmaps_have_the_pixels_of_the_page({ page, base }) {
    for (const [room, settings, place, top] of HEATMAPS) {
        await show(page, base, room, settings);
        const { svg } = await readBox(page, page.locator(`${place} .export`));
        assert.ok(!/class=|style=/.test(svg.bytes.toString()), `${svg.name}: no rules of the page`);
        assert.equal(svg.bytes.includes('<clipPath'), settings.includes('causal'), `${svg.name}: hatched`);
        await assertSamePixels(page, svg, `${place} canvas:not(.color-bar)`, top);
    }
}

export async function cells_too_small_for_rectangles_are_an_image({ page, base }) {
    const sentence = Array.from({ length: 300 }, (_, i) => `w${i}`).join(' ');
    await show(page, base, 'explore', new URLSearchParams({ model: 'random', mask: 'causal', sentence }).toString());
    const { svg } = await readBox(page, page.locator('[data-map=a] .export'));
    assert.ok(svg.bytes.includes('<image') && svg.bytes.length < 300_000, `${svg.bytes.length} bytes`);
}

/** Steps has a table of cells where the others have a canvas. */
export async function saved_steps_have_the_colours_of_the_table({ page, base }) {
    await show(page, base, 'steps', 'steps.step=7&mask=causal');
    const colors = await page.$$eval('figure[data-part=weights] td[data-at]:not(.masked)', (all) => all.map((td) => td.style.background.replaceAll(' ', '')));
    const { svg } = await readBox(page, page.locator('.stage .export'));
    const found = [...svg.bytes.toString().matchAll(/ width="(\d+)" height="44" fill="(.*?)"/g)].flatMap(([, width, fill]) => Array(width / 44).fill(fill));
    assert.deepEqual(found, colors);
}
