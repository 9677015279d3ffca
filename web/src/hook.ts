// hook.ts - window.attnTest, what tests in a browser ask of the page; only with ?test in the URL.
// Callers: web/tests/support.mjs.
import { engine } from './engine/client';
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

if (isTested)
    Object.assign(window, { attnTest: { matrices, state: () => store.get(), settings: { DEFAULTS, CHOICES, LIMITS }, engine } });
