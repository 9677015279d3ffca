// awaited.ts - how much the page still waits for: answers of the engine, files, rooms. Who tests the page must
// know when nothing more will come. See hook.ts.
let open = 0;

/** Counts the promise until it is settled. */
export function awaited<T>(work: Promise<T>): Promise<T> {
    open++;
    return work.finally(() => open--);
}

export const isAwaiting = (): boolean => open > 0;
