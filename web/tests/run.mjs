// run.mjs - runs the journeys in a browser: every exported function of every *.browser.mjs, each in a page
// of its own. Ends with 'N passed, N failed'; exit code 77 where there is no browser or no built page.
//   tools/with-node node web/tests/run.mjs [WORD...]      only files whose name has a WORD
//   tools/with-node node web/tests/run.mjs --shots        makes docs/img instead
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ATTN, launch, newPage, serve, whyNot } from './support.mjs';

const LONGEST = 600_000; // milliseconds for a journey

const reason = whyNot();
if (reason) {
    console.log(`SKIP: ${reason}`);
    process.exit(77);
}

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith('.browser.mjs')).sort();
const isChosen = (name) => words.length === 0 || words.some((word) => name.includes(word));
const chosen = words.includes('--shots') ? ['pictures.mjs'] : files.filter(isChosen);

const inTime = (promise) => {
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`not done after ${LONGEST / 1000} s`)), LONGEST)));
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** What went wrong, as lines; none if all is well. */
async function troublesOf(journey, browser, base) {
    const { page, problems, close } = await newPage(browser, base);
    try {
        await inTime(journey({ page, base, attn: ATTN, browser }));
        return problems;
    } catch (error) {
        return [error.stack ?? String(error), ...new Set(problems)];
    } finally {
        await close();
    }
}

const server = await serve();
const browser = await launch();
let passed = 0;
let failed = 0;
for (const file of chosen) {
    for (const [name, journey] of Object.entries(await import(join(here, file)))) {
        if (typeof journey !== 'function') continue;
        const start = Date.now();
        const troubles = await troublesOf(journey, browser, server.url);
        const title = `${file.replace(/(\.browser)?\.mjs$/, '')}: ${name}`;
        if (troubles.length === 0) passed++;
        else failed++;
        console.log(`${troubles.length ? 'FAILED' : 'ok    '} ${title} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
        for (const line of troubles) console.log(line.replace(/^/gm, '    '));
    }
}
await browser.close();
await server.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || passed === 0 ? 1 : 0;
