// awaited.ts - counts what the page is still waiting for: answers of the engine, files, rooms. Tests need to know
// when nothing more will come. See hook.ts.
let open = 0;

/** Counts the promise until it is settled. */
export function awaited<T>(work: Promise<T>): Promise<T> {
    open++;
    return work.finally(() => open--);
}

export const isAwaiting = (): boolean => open > 0;
