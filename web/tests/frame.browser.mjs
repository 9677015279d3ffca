// frame.browser.mjs - what holds in every room: tabs, the URL, undo, themes, sharing, the skip link, isolation,
// memory over many changes of the model, and the page in one file without a network.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { follow, load, matrices, newPage, RELAXED, ROOMS, settle, show, SINGLE, state } from './support.mjs';

const roomOf = async (page) => (await state(page)).room;

export async function tabs_by_keyboard({ page, base }) {
    await show(page, base, 'steps');
    await page.focus('#tab-steps');
    for (const room of [...ROOMS.slice(1), 'steps']) {
        await page.keyboard.press('ArrowRight');
        await page.waitForFunction((id) => document.activeElement.id === id, `tab-${room}`);
        assert.equal(await roomOf(page), room);
        assert.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1, 'one tab stop');
        assert.equal(await page.locator('[role=tabpanel]').getAttribute('aria-labelledby'), `tab-${room}`);
    }
    await page.keyboard.press('ArrowLeft');
    assert.equal(await roomOf(page), ROOMS.at(-1), 'goes round');
}

/** A part of each room that is there when it works. */
const SIGNS = { steps: '.matrix td', train: '.train[data-phase=paused] canvas', cost: '#cost-memory path' };

export async function rooms_come_ahead_and_open_offline({ page, base }) {
    const files = [];
    page.on('requestfinished', (request) => files.push(request.url()));
    await show(page, base, 'explore');
    for (const name of [...ROOMS, 'guide'])
        for (let tries = 0; !files.some((url) => url.includes(`/${name}-`) && url.endsWith('.js')); tries++) {
            assert.ok(tries < 100, `${name} has come`);
            await page.waitForTimeout(100);
        }
    await settle(page);
    await page.context().setOffline(true);
    for (const [room, sign] of Object.entries(SIGNS)) {
        await page.click(`#tab-${room}`);
        await page.waitForSelector(`#room ${sign}`);
    }
    await page.keyboard.press('?');
    await page.waitForSelector('dialog.help');
}

/** Chromium can run the relaxed one, and needs no other. */
export async function the_fastest_engine_that_runs_is_loaded({ page, base }) {
    const engines = [];
    page.on('response', (answer) => answer.url().endsWith('.wasm') && engines.push(answer.body()));
    await show(page, base, 'steps');
    assert.equal(engines.length, 1);
    assert.ok((await engines[0]).equals(readFileSync(RELAXED)), 'the relaxed engine');
}

export async function a_lost_room_is_told({ base, browser }) {
    const { page, close } = await newPage(browser, base); // its failed request is wanted
    await page.route(/\/train-.*\.js$/, (route) => route.abort());
    await show(page, base, 'explore');
    await page.click('#tab-train');
    await page.locator('#room [role=alert]', { hasText: 'Reload the page' }).waitFor();
    await page.unroute(/\/train-.*\.js$/);
    await page.reload();
    await page.waitForSelector('#room .train');
    await page.click('#tab-cost');
    await page.waitForSelector(`#room ${SIGNS.cost}`);
    await close();
}

/** Another value than the default for every setting, as text of the URL. */
const everySetting = (page) => page.evaluate(() => {
    const { DEFAULTS, CHOICES, LIMITS } = window.attnTest.settings;
    const other = (path, usual) => {
        if (typeof usual === 'boolean') return usual ? '0' : '1';
        if (CHOICES[path]) return CHOICES[path].find((word) => word !== usual);
        if (typeof usual === 'string') return `${usual} & other=ü`;
        const { min, max, whole } = LIMITS[path];
        const next = whole ? usual + 1 : (usual + (Number.isFinite(max) ? Math.min(max, 10 * usual + 1) : usual + 1)) / 2;
        return String(Math.min(Math.max(next, min), max));
    };
    const paths = Object.entries(DEFAULTS).flatMap(([name, value]) =>
        value !== null && typeof value === 'object' ? Object.entries(value).map(([inner, v]) => [`${name}.${inner}`, v]) : [[name, value]]);
    return paths.filter(([path]) => path !== 'room' && path !== 'present').map(([path, usual]) => [path, other(path, usual)]);
});

export async function url_holds_every_setting({ page, base }) {
    await show(page, base, 'steps');
    const settings = await everySetting(page);
    for (const [path, text] of settings) {
        await follow(page, `#1?${new URLSearchParams({ room: 'cost', [path]: text })}`);
        const found = path.split('.').reduce((at, name) => at[name], await state(page));
        assert.equal(typeof found === 'boolean' ? (found ? '1' : '0') : String(found), text, path);
    }
}

/** For each room: settings that are not the defaults, on which what it shows depends; an element that is there only when
 *  the engine has answered; and whether it shows matrices. */
const IN_ROOM = {
    steps: {
        settings: 'steps.example=004&steps.step=7&steps.edits=x:0,0=2&mask=causal&temperature=0.5',
        alive: '.stage',
        matrices: true,
    },
    explore: {
        settings: 'explore.view=heatmap&explore.aggregate=head&head=1&token=2&explore.range=log&compare=The+red+cat+sat+on+the+blue+mat+because+it+was+dirty.',
        alive: '.explore .picture',
        matrices: true,
    },
    train: {
        settings: 'seed=7&train.layers=1&train.causal=1&train.scale=none&train.example=3',
        alive: '.train[data-phase=paused] canvas',
        matrices: true,
    },
    models: { settings: 'model=sense&sentence=the+bank+near+the+water+.', alive: '.answers li', matrices: false },
    cost: { settings: 'cost.n=1024&cost.causal=1&seed=7', alive: '.group[data-done=true]', matrices: true },
};

export async function every_room_has_its_row() {
    assert.deepEqual(Object.keys(IN_ROOM), ROOMS);
}

export async function reload_gives_the_same_page({ page, base }) {
    for (const room of ROOMS) {
        await show(page, base, room, `theme=dark&${IN_ROOM[room].settings}`);
        const before = [page.url(), await state(page), await matrices(page)];
        assert.equal(before[2].length > 0, IN_ROOM[room].matrices, room);
        await page.reload();
        await page.waitForSelector(`#tab-${room}[aria-selected=true]`);
        await settle(page);
        assert.deepEqual([page.url(), await state(page), await matrices(page)], before, room);
    }
}

export async function bad_links_fall_back_to_defaults({ page, base }) {
    await show(page, base, 'cost');
    const usual = (await page.evaluate(() => window.attnTest.settings)).DEFAULTS;
    for (const hash of ['#1?room=nowhere&seed=x&temperature=NaN&mask=<b>&layer=1.5&token=', '#2?room=cost', '#%%%', '#1?', '#1?__proto__=1&constructor=1']) {
        await load(page, base, hash);
        await page.waitForSelector('[role=tab]');
        assert.deepEqual(await state(page), usual, hash);
    }
    await show(page, base, 'cost', 'temperature=1e999&seed=-5&layer=1e9');
    const { temperature, seed, layer } = await state(page);
    assert.deepEqual([temperature, seed, layer], [usual.temperature, 0, 63], 'out of range is brought back');
}

export async function a_link_changed_by_hand_is_followed({ page, base }) {
    await show(page, base, 'steps');
    await follow(page, '#1?room=cost');
    await page.waitForSelector('#tab-cost[aria-selected=true]');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForSelector('#tab-steps[aria-selected=true]');
}

export async function undo_and_redo({ page, base }) {
    await show(page, base, 'steps');
    const undo = page.getByRole('button', { name: 'Undo' });
    const redo = page.getByRole('button', { name: 'Redo' });
    assert.ok(await undo.isDisabled());
    const before = await state(page);
    await page.click('#tab-cost');
    await page.click('#tab-models');
    await settle(page);
    const after = await state(page);
    assert.ok(await redo.isDisabled());
    await undo.click();
    assert.equal(await roomOf(page), 'cost');
    await page.keyboard.press('Control+z');
    assert.deepEqual(await state(page), before);
    await page.keyboard.press('Control+y');
    await redo.click();
    await settle(page); // the URL follows at most ten times a second
    assert.deepEqual(await state(page), after);
    assert.match(page.url(), /room=models/);
}

const ground = async (page) => {
    await settle(page);
    return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
};

export async function themes({ page, base }) {
    await show(page, base, 'cost', 'theme=light');
    const light = await ground(page);
    const choice = page.locator('header select').first();
    await choice.selectOption('dark');
    const dark = await ground(page);
    assert.notEqual(dark, light);
    await page.reload();
    await page.waitForSelector('[role=tab]');
    assert.equal(await ground(page), dark, 'after a reload');
    await choice.selectOption('auto');
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await ground(page), light, 'as the system: light');
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await ground(page), dark, 'as the system: dark');
}

export async function share_copies_the_link({ page, base }) {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(base).origin });
    await show(page, base, 'cost', 'seed=7');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: 'Link copied' }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, page.url());
    assert.match(link, /seed=7/);
}

export async function skip_link_leads_to_the_room({ page, base }) {
    await show(page, base, 'cost');
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement.matches('a.skip')), 'the first stop is the skip link');
    await page.keyboard.press('Enter');
    assert.ok(await page.evaluate(() => document.activeElement.id === 'room'));
}

export async function page_is_isolated({ page, base }) {
    await show(page, base, 'cost');
    assert.ok(await page.evaluate(() => window.crossOriginIsolated));
}

export async function hook_is_absent_without_test({ page, base }) {
    await page.goto(base);
    await page.waitForSelector('[role=tab]');
    assert.equal(await page.evaluate(() => typeof window.attnTest), 'undefined');
}

/** Bytes of the page's heap after a collection. */
async function heapOf(page, session) {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize').value;
}

/** Chooses a model in Explore again and again; the engine's own memory is in engine.test.mjs. */
const swapModels = (page, times) => page.evaluate(async (n) => {
    const choice = [...document.querySelectorAll('.inputs select')].find(({ labels }) => labels[0].textContent.startsWith('Model'));
    for (let i = 0; i < n; i++) {
        choice.value = ['random', 'whois'][i % 2];
        choice.dispatchEvent(new Event('change', { bubbles: true }));
        await window.attnTest.idle();
    }
}, times);

export async function memory_does_not_grow_over_200_models({ page, base }) {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await show(page, base, 'explore');
    await swapModels(page, 60);
    const early = await heapOf(page, session);
    await swapModels(page, 140); // undo keeps the last hundred states, small ones
    const late = await heapOf(page, session);
    assert.equal((await state(page)).model, 'whois');
    assert.ok(late < early + 1e6, `${(late / 1e6).toFixed(1)} MB after 200, ${(early / 1e6).toFixed(1)} MB after 60`);
}

/** Opened from disk, with every request but those to the disk refused. */
export async function single_file_works_offline({ browser }) {
    const { page, problems, close } = await newPage(browser, 'file:');
    try {
        await page.context().setOffline(true);
        for (const room of ROOMS) {
            await show(page, SINGLE, room);
            await page.waitForSelector(IN_ROOM[room].alive);
            assert.equal((await matrices(page)).length > 0, IN_ROOM[room].matrices, room);
        }
        await show(page, SINGLE, 'explore');
        for (const room of ROOMS) await page.click(`#tab-${room}`).then(() => page.waitForSelector(IN_ROOM[room].alive));
        assert.deepEqual(problems, []);
    } finally {
        await close();
    }
}
