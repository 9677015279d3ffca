// latest.ts - for sliders: while one request is being answered, only the newest of the others waits.

/** The question was overtaken by a newer one: its promise resolves to this. */
export const OVERTAKEN = Symbol('overtaken');

/**
 * A function that runs one question at a time and forgets all but the newest of those that wait:
 *
 *     const look = latest();
 *     const found = await look(() => engine.look(handle, input));
 *     if (found !== OVERTAKEN) show(found);
 */
export function latest() {
    let running: Promise<unknown> | undefined;
    let newest = 0;
    return async function run<T>(ask: () => Promise<T>): Promise<T | typeof OVERTAKEN> {
        const mine = ++newest;
        while (running) {
            await running.catch(() => undefined);
            if (mine !== newest) return OVERTAKEN;
        }
        const answer = ask();
        running = answer;
        try {
            const found = await answer;
            return mine === newest ? found : OVERTAKEN;
        } finally {
            if (running === answer) running = undefined;
        }
    };
}
