// shown.ts - the matrices on the page, by name, for tests that compare them with the command.
// Pictures call useShown(); without ?test in the URL nothing is kept. See src/hook.ts.
import { useEffect } from 'preact/hooks';

export interface Shown {
    rows: string[];
    columns: string[];
    cell: ArrayLike<number>; // (rows, columns), as displayed
    visible?: ArrayLike<number> | undefined; // (rows, columns); 0: masked
}

export const isTested = new URLSearchParams(location.search).has('test');
export const shown = new Map<string, Shown>();

export function useShown(name: string, matrix: Shown): void {
    useEffect(() => {
        if (!isTested) return undefined;
        shown.set(name, matrix);
        return () => void shown.delete(name);
    });
}
