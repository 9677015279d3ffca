// support.mjs - what the tests in a browser share: `attn explore` on a free port, Chromium, pages whose
// errors count as failures, screenshots, axe, and a look at what stands on the page. See README.md.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const axe = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rooms of the page, in the order of the tabs. */
export const ROOMS = /ROOMS = \[(.*)\]/.exec(readFileSync(join(here, '../src/state/state.ts'), 'utf8'))[1].match(/\w+/g);
const WIDTHS = [360, 768, 1440, 3840];
const THEMES = ['light', 'dark'];
export const ATTN = process.env.ATTN ?? join(root, 'build/release/cli/attn');
export const DIST = join(root, 'web/dist');
export const MODELS = join(root, 'build/web/models');
export const RELAXED = join(root, 'build/web-relaxed/engine.min.wasm');
export const TOLERANCE = 1e-5; // of a displayed number
export const SINGLE = pathToFileURL(join(DIST, 'single/attention-lab.html')).href;
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell'; // Chromium without the windows: two thirds of the work
const PATIENCE = 30_000; // milliseconds for one thing to happen; the machine may be busy

/** Why nothing can be tested here, or ''. */
export function whyNot() {
    if (!existsSync(CHROMIUM)) return 'no Chromium (tools/setup test)';
    if (!existsSync(join(DIST, 'index.html'))) return 'the page is not built (tools/build-explorer)';
    if (!existsSync(ATTN)) return `no ${ATTN}`;
    if (!existsSync(join(here, '../node_modules/playwright-core'))) return 'no playwright-core (tools/build-explorer)';
    return '';
}

/** { url, stop() } of `attn explore` on a free port. */
export async function serve() {
    const server = spawn(ATTN, ['explore', '--port', '0', '--dir', DIST], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => server.on('exit', resolve));
    let said = '';
    const url = await new Promise((resolve, reject) => {
        server.stdout.on('data', (text) => {
            said += text;
            const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
            if (found) resolve(found[0]);
        });
        ended.then((code) => reject(new Error(`attn explore ended with ${code}: ${said}`)));
    });
    return { url, stop: () => (server.kill('SIGINT'), ended) };
}

export async function launch() {
    const { chromium } = await import('playwright-core');
    return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/** A page of its own whose errors are collected: { page, problems, close() }. Any request to another
 *  origin is refused and is a problem. */
export async function newPage(browser, origin, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
    const problems = [];
    await context.route((to) => !['data:', 'blob:', 'file:'].includes(to.protocol) && !to.href.startsWith(origin), (route) => {
        problems.push(`request to another origin: ${route.request().url()}`);
        return route.abort();
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && problems.push(`console: ${message.text()}`));
    page.on('requestfailed', (request) => !request.failure()?.errorText.includes('ABORTED') &&
        problems.push(`failed: ${request.url()} ${request.failure()?.errorText}`));
    return { page, problems, close: () => context.close() };
}

let loads = 0;

/** Loads the page with this hash and the test hook on; another query each time, or it would not be loaded again. */
export const load = (page, base, hash) => page.goto(`${base}?test=${++loads}${hash}`);

/** Changes the hash as a link would; back when the page has taken it. */
export const follow = (page, hash) => page.evaluate((to) => new Promise((taken) => {
    if (location.hash === to) return taken();
    addEventListener('hashchange', () => taken(), { once: true });
    location.hash = to;
}), hash);

/** Shows a room from scratch, with settings as in the URL ("steps.step=2&theme=dark"), and the test hook on. */
export async function show(page, base, room, settings = '') {
    await load(page, base, `#1?room=${room}${settings && `&${settings}`}`);
    await page.waitForSelector(`#tab-${room}[aria-selected=true]`, { state: 'attached' }); // hidden while presenting
    await settle(page);
}

/** Waits until the page has answered everything and drawn it; a room that trains never settles. */
export async function settle(page) {
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`not at rest after ${PATIENCE / 1000} s`)), PATIENCE)));
    await Promise.race([page.evaluate(() => window.attnTest.idle()), late]).finally(() => clearTimeout(timer));
}

/** The matrices on the page: [{ name, rows, columns, values, masked }], values and masked by rows. */
export const matrices = (page) => page.evaluate(() => window.attnTest.matrices());
/** The state of the page. */
export const state = (page) => page.evaluate(() => window.attnTest.state());

/** What the command prints with --json. */
export const native = (attn, ...args) => JSON.parse(execFileSync(attn, [...args, '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 }));

/** Two matrices are the same, to the tolerance. */
export function assertNear(found, expected, what, tolerance = TOLERANCE) {
    assert.deepEqual([found.length, found[0]?.length], [expected.length, expected[0].length], `${what}: shape`);
    found.forEach((row, r) => row.forEach((x, c) =>
        assert.ok(Math.abs(x - expected[r][c]) <= tolerance, `${what}[${r}, ${c}]: ${x}, expected ${expected[r][c]}`)));
}

/** Every row of weights sums to 1, and what is masked has exactly none. */
export function assertDistributions({ name, values, masked }) {
    values.forEach((row, r) => {
        const sum = row.reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < TOLERANCE, `${name}: row ${r} sums to ${sum}`);
        row.forEach((x, c) => masked[r][c] && assert.equal(x, 0, `${name}: masked cell ${r}, ${c}`));
    });
}

const BETWEEN_DOWNLOADS = 150; // milliseconds: Chromium drops, without a word, those beyond ten in a second
let lastDownload = 0;

/** What a click saves: { name, bytes }. */
export async function download(page, button) {
    await page.waitForTimeout(Math.max(0, lastDownload + BETWEEN_DOWNLOADS - Date.now()));
    lastDownload = Date.now();
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Fails if axe finds anything. */
export async function assertAccessible(page, where) {
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe()); // not a script of the page: its policy forbids those
    const violations = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations
        .flatMap(({ id, nodes }) => nodes.map((n) => `${id}: ${n.target.join(' ')}: ${n.failureSummary.replaceAll('\n', ' ')}`)));
    assert.equal(violations.join('\n'), '', where);
}

/** axe in both themes, as the page stands. */
export async function assertAccessibleInBothThemes(page, where) {
    for (const theme of THEMES) {
        const settings = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
        settings.set('theme', theme);
        await follow(page, `#1?${settings}`);
        await settle(page);
        await assertAccessible(page, `${where}, ${theme}`);
    }
}

/** Fails if the page must be scrolled sideways at any width. */
export async function assertNoOverflow(page, where, widths = WIDTHS) {
    const before = page.viewportSize();
    for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await settle(page);
        const wide = await page.evaluate(() => {
            const room = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= room) return '';
            const out = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > room + 1);
            return out.slice(-3).map((e) => `${e.tagName} ${e.getAttribute('class') ?? ''} ends at ${Math.round(e.getBoundingClientRect().right)}`).join('; ');
        });
        assert.equal(wide, '', `${where} at ${width} px`);
    }
    await page.setViewportSize(before);
}
