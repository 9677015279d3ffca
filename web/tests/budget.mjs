// budget.mjs - what the page costs against its budgets: sizes when compressed, time to the first numbers,
// frames while the temperature is dragged at 128 tokens, training. Prints a table for docs/speed.md.
//   tools/with-node node web/tests/budget.mjs [--sizes]      exit code 1 if a size is over its budget
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DIST, launch, newPage, serve, show, whyNot } from './support.mjs';

const LEARN = 300_000; // milliseconds that training may take
const row = (what, budget, value) => console.log(`| ${what} | ${budget} | ${value} |`);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** kB, compressed, of the files with these endings. */
function size(...endings) {
    const folder = join(DIST, 'assets');
    const files = readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
    return files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0) / 1000;
}

/** Milliseconds from the request of the page to the first matrix on it, nothing cached. */
async function firstNumbers(browser, base, room) {
    const times = [];
    for (let i = 0; i < 5; i++) {
        const { page, close } = await newPage(browser, base);
        await page.goto(`${base}?test#1?room=${room}`);
        await page.waitForFunction(() => window.attnTest?.matrices().length > 0, null, { polling: 'raf' });
        times.push(await page.evaluate(() => performance.now()));
        await close();
    }
    return median(times);
}

/** Frames a second while `act` is called in each of them for some seconds. */
const frames = (page, act, seconds = 3) => page.evaluate(([source, most]) => new Promise((resolve) => {
    const each = new Function('frame', source);
    const start = performance.now();
    let n = 0;
    const next = () => {
        each(n++);
        const passed = (performance.now() - start) / 1000;
        if (passed < most) requestAnimationFrame(next);
        else resolve(n / passed);
    };
    requestAnimationFrame(next);
}), [act, seconds]);

/** The slider is moved in each frame, and the picture follows. */
async function drag(browser, base) {
    const { page, close } = await newPage(browser, base);
    const sentence = Array.from({ length: 128 }, (_, i) => `w${i}`).join(' ');
    await show(page, base, 'explore', new URLSearchParams({ model: 'random', sentence }).toString());
    await page.getByLabel('Temperature').evaluate((slider) => (window.slider = slider));
    const fps = await frames(page, `
        const { slider } = window, [min, max] = [Number(slider.min), Number(slider.max)];
        slider.value = min + (max - min) * (0.5 + 0.4 * Math.sin(frame / 20));
        slider.dispatchEvent(new Event('input', { bubbles: true }));`);
    await close();
    return fps;
}

/** whois with the settings of the task: seconds until solved, steps a second, frames a second meanwhile. */
async function learn(browser, base) {
    const { page, close } = await newPage(browser, base);
    page.setDefaultTimeout(LEARN);
    await show(page, base, 'train');
    await page.waitForSelector('.train[data-phase=paused]');
    const start = Date.now();
    await page.getByRole('button', { name: 'Play' }).click();
    const fps = await frames(page, '', 3);
    await page.waitForSelector('.train[data-phase=paused][data-ended=solved]');
    const seconds = (Date.now() - start) / 1000;
    const { step } = await page.locator('.train').evaluate((room) => ({ ...room.dataset }));
    await close();
    return { seconds, speed: Number(step) / seconds, fps };
}

async function measure(browser, base) {
    for (const room of ['steps', 'explore']) row(`first numbers, ${room}`, '< 1000 ms', `${(await firstNumbers(browser, base, room)).toFixed(0)} ms`);
    row('temperature drag, 128 tokens', '>= 50 fps', `${(await drag(browser, base)).toFixed(0)} fps`);
    const { seconds, speed, fps } = await learn(browser, base);
    row('whois solved in the page', '< 20 s', `${seconds.toFixed(1)} s`);
    row('its steps a second, judging included', '>= 150', speed.toFixed(0));
    row('frames while it trains', '60 fps', `${fps.toFixed(0)} fps`);
}

const reason = whyNot();
if (reason) {
    console.log(`SKIP: ${reason}`);
    process.exit(77);
}
console.log('| what | budget | measured |\n|---|---|---|');
const [page, engine] = [size('.js', '.css'), size('.wasm')];
row('JS + CSS, gzip', '<= 60 kB', `${page.toFixed(1)} kB`);
row('engine.wasm, gzip', '<= 80 kB', `${engine.toFixed(1)} kB`);
if (!process.argv.includes('--sizes')) {
    const server = await serve();
    const browser = await launch();
    await measure(browser, server.url).finally(() => Promise.all([browser.close(), server.stop()]));
}
process.exitCode = page <= 60 && engine <= 80 ? 0 : 1;
