// pixels.browser.mjs - the colours mean what the legend says: its ends are the ends of the scale, every cell has
// the colour that the legend has at its value, and what is masked is hatched and has no colour of the scale.
import assert from 'node:assert/strict';
import { matrices, show } from './support.mjs';

/**
 * The colours of a map in Explore: ends and colours of its legend; of each cell the colour of a corner that no
 * numeral covers, and which parts of it are clear.
 */
const colorsOf = (page, id, names) => page.evaluate(([map, rows]) => {
    const figure = document.querySelector(`[data-map=${map}]`);
    const [canvas, strip] = [figure.querySelector('.heatmap canvas'), figure.querySelector('.scale canvas')];
    const pixels = (of) => new Uint32Array(of.getContext('2d').getImageData(0, 0, of.width, of.height).data.buffer);
    const pen = new OffscreenCanvas(1, 1).getContext('2d');
    pen.font = '12px system-ui, sans-serif'; // what stands left of the cells is as wide as the longest name
    const left = Math.ceil(Math.min(90, Math.max(...rows.map((name) => pen.measureText(name).width)))) + 10;
    const size = (canvas.width - 2 - left) / rows.length;
    const top = canvas.height - 2 - size * rows.length;
    const all = pixels(canvas);
    const at = (r, c, y, x) => all[(top + r * size + y) * canvas.width + left + c * size + x];
    const clearPart = (r, c) => {
        let clear = 0;
        for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) clear += at(r, c, y, x) === 0;
        return clear / size ** 2;
    };
    const table = (of) => rows.map((_, r) => rows.map((_, c) => of(r, c)));
    const ends = [...figure.querySelectorAll('.scale > span')].slice(0, 2).map((e) => Number(e.textContent.replace('−', '-')));
    return { ends, legend: [...pixels(strip)], corner: table((r, c) => at(r, c, 4, 4)), clear: table(clearPart) };
}, [id, names]);

/** Where a value lies on the scale, 0 to 1. */
const PLACES = {
    absolute: (x) => x,
    row: (x, row) => x / Math.max(...row),
    log: (x) => 1 + Math.log10(Math.max(x, 1e-4)) / 4,
};

function assertColors({ legend, corner, clear }, { values, masked }, place) {
    values.forEach((row, r) => row.forEach((x, c) => {
        const where = `cell ${r}, ${c} of ${x}`;
        if (masked[r][c]) assert.ok(clear[r][c] > 0.3 && clear[r][c] < 0.9, `${where}: hatched, ${clear[r][c]} of it is clear`);
        else assert.equal(corner[r][c], legend[Math.round(255 * place(x, row))], where);
    }));
}

export async function cells_have_the_colours_of_the_legend({ page, base }) {
    for (const [range, colors, theme] of [['absolute', 'cividis', 'light'], ['row', 'viridis', 'light'], ['log', 'ink', 'dark']]) {
        await show(page, base, 'explore', `mask=causal&explore.aggregate=head&explore.range=${range}&explore.colors=${colors}&theme=${theme}`);
        const [map] = await matrices(page);
        const found = await colorsOf(page, 'a', map.rows);
        assert.deepEqual(found.ends, range === 'log' ? [1e-4, 1] : [0, 1], range);
        assert.ok(new Set(found.legend).size > 200, 'a scale of many colours');
        assert.equal(map.masked.flat().filter(Boolean).length, 55, 'above the diagonal of 11 x 11');
        assertColors(found, map, PLACES[range]);
    }
}

export async function differences_are_signed_about_zero({ page, base }) {
    await show(page, base, 'explore', 'compare=The+red+cat+sat+on+the+blue+mat+because+it+was+dirty.&explore.range=row&token=0');
    const map = (await matrices(page)).find(({ name }) => name.startsWith('A minus B'));
    const found = await colorsOf(page, 'difference', map.rows);
    const most = Math.max(...map.values.flat().map(Math.abs));
    assert.deepEqual(found.ends, [-1, 1].map((sign) => sign * Number(most.toPrecision(2))));
    assertColors(found, map, (x) => 0.5 + x / (2 * most));
}

/** Hatching is a background of the cell there. */
export async function masked_cells_of_steps_are_hatched({ page, base }) {
    await show(page, base, 'steps', 'steps.step=7&mask=causal');
    const hatched = await page.$$eval('figure[data-part=weights] td[data-at]', (all) => all.map((td) => [td.dataset.at, getComputedStyle(td).backgroundImage.startsWith('repeating-linear-gradient')]));
    assert.equal(hatched.length, 16);
    for (const [at, isHatched] of hatched) assert.equal(isHatched, Number(at.split(',')[1]) > Number(at.split(',')[0]), at);
}
