// hook.ts - window.attnTest, the page's interface for browser tests; present only with ?test in the URL.
// Callers: web/tests/support.mjs.
import { isAwaiting } from './awaited';
import { engine } from './engine/client';
import { decode, encode } from './state/hash';
import { CHOICES, DEFAULTS, LIMITS } from './state/state';
import { store } from './state/store';
import { isTested, shown } from './ui/shown';

/** As plain arrays: a row for each row; masked cells are true in `masked`. */
function matrices() {
    return [...shown].map(([name, { rows, columns, cell, visible }]) => {
        const table = <T>(of: (i: number) => T) => rows.map((_, r) => columns.map((_, c) => of(r * columns.length + c)));
        return { name, rows, columns, values: table((i) => cell[i]!), masked: table((i) => !!visible && !visible[i]) };
    });
}

const QUIET_FRAMES = 3; // an answer is drawn in the first of them, its effects and their questions come in the second
const nextFrame = () => new Promise(requestAnimationFrame);

/** Resolves when nothing is awaited, the URL is written, and frames have been drawn in which nothing changed. */
async function idle(): Promise<void> {
    let quiet = 0;
    const observer = new MutationObserver(() => (quiet = 0));
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    while (quiet < QUIET_FRAMES) {
        await nextFrame();
        const isStill = !isAwaiting() && encode(decode(location.hash)) === encode(store.get());
        quiet = isStill ? quiet + 1 : 0;
    }
    observer.disconnect();
}

if (isTested)
    Object.assign(window, { attnTest: { idle, matrices, state: () => store.get(), settings: { DEFAULTS, CHOICES, LIMITS }, engine } });
