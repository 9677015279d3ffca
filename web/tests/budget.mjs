// budget.mjs - what the page costs against its budgets: sizes when compressed, time to the first numbers,
// frames while the temperature is dragged at 128 tokens, training. Prints a table for docs/speed.md.
//   tools/with-node node web/tests/budget.mjs [--sizes]
// The exit code judges the sizes of the first load, of each room, and of the engine: 1 if one is over. The first
// load is every script and style that the browser asks for until it has nothing to do; the rooms that it
// fetches ahead after that are only in the size of all rooms, which is printed and not judged.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DIST, launch, newPage, ROOMS, serve, show, whyNot } from './support.mjs';

const ASSETS = join(DIST, 'assets');
const LEARN = 300_000; // milliseconds that training may take
const row = (what, budget, value) => console.log(`| ${what} | ${budget} | ${value} |`);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** kB, compressed each by itself, of these files of the page. */
const size = (files) => files.reduce((sum, name) => sum + gzipSync(readFileSync(join(ASSETS, name)), { level: 9 }).length, 0) / 1000;
const ofKind = (files, ...endings) => files.filter((name) => endings.some((ending) => name.endsWith(ending)));

/** The files that a room asks for before it has nothing to do. */
async function firstLoad(browser, base, room) {
    const { page, close } = await newPage(browser, base);
    const files = new Set();
    page.on('request', (request) => files.add(basename(new URL(request.url()).pathname)));
    await page.addInitScript(() => (window.requestIdleCallback = () => 0)); // so nothing is fetched ahead
    await show(page, base, room);
    await close();
    return ofKind([...files], '.js', '.css');
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

/** Steps a second while it plays, after a second of warming up. */
async function speed(browser, base, settings) {
    const { page, close } = await newPage(browser, base);
    await show(page, base, 'train', settings);
    await page.waitForSelector('.train[data-phase=paused]');
    await page.getByRole('button', { name: 'Play' }).click();
    const now = () => page.locator('.train').evaluate((room) => [performance.now(), Number(room.dataset.step)]);
    await page.waitForTimeout(1000);
    const [start, from] = await now();
    await page.waitForTimeout(2000);
    const [end, to] = await now();
    await close();
    return (1000 * (to - from)) / (end - start);
}

/** whois with the settings of the task: seconds until solved and examined, frames a second meanwhile. */
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
    await close();
    return { seconds, fps };
}

async function measure(browser, base) {
    for (const room of ['steps', 'explore']) row(`first numbers, ${room}`, '< 1000 ms', `${(await firstNumbers(browser, base, room)).toFixed(0)} ms`);
    row('temperature drag, 128 tokens', '>= 50 fps', `${(await drag(browser, base)).toFixed(0)} fps`);
    const { seconds, fps } = await learn(browser, base);
    row('`whois` (batch 64) solved in the page', '< 20 s', `${seconds.toFixed(1)} s`);
    row('frames while it trains', '60 fps', `${fps.toFixed(0)} fps`);
    row('steps a second, `whois` (batch 64, 13 tokens)', '>= 150', (await speed(browser, base, '')).toFixed(0));
    row('steps a second, `induction` (batch 16, 24 tokens)', '>= 150', (await speed(browser, base, 'train.task=induction&train.batch=16')).toFixed(0));
}

/** Whether the judged ones keep their budgets. */
async function sizesFit(browser, base) {
    const all = readdirSync(ASSETS);
    const first = [];
    for (const room of ROOMS) first.push(size(await firstLoad(browser, base, room)));
    const engines = ofKind(all, '.wasm').map((name) => size([name]));
    row('JS + CSS of the first load, gzip', '<= 60 kB', `${ROOMS.map((room, i) => `${room} ${first[i].toFixed(1)}`).join(', ')} kB`);
    row('JS + CSS of all rooms, gzip', 'not judged', `${size(ofKind(all, '.js', '.css')).toFixed(1)} kB`);
    row('engine.wasm, gzip: plain or relaxed', '<= 80 kB', `${engines.map((kB) => kB.toFixed(1)).join(', ')} kB`);
    return Math.max(...first) <= 60 && Math.max(...engines) <= 80;
}

const reason = whyNot();
if (reason) {
    console.log(`SKIP: ${reason}`);
    process.exit(77);
}
const server = await serve();
const browser = await launch();
try {
    console.log('| what | budget | measured |\n|---|---|---|');
    process.exitCode = (await sizesFit(browser, server.url)) ? 0 : 1;
    if (!process.argv.includes('--sizes')) await measure(browser, server.url);
} finally {
    await Promise.all([browser.close(), server.stop()]);
}
