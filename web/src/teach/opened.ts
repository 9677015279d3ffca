// opened.ts - what is open above the page: the tour, or a dialog. Buttons and keys all over the page open them; the
// frame shows them.
import { useState } from 'preact/hooks';

export type Topic = 'keys' | 'glossary';

/** Something that is open as long as it is not undefined. */
function opener<T>() {
    let set: (value: T | undefined) => void = () => {};
    const use = () => {
        const [value, setValue] = useState<T>();
        set = setValue;
        return value;
    };
    return { use, open: (value: T) => set(value), close: () => set(undefined) };
}

export const help = opener<Topic>();
export const tour = opener<number>(); // its number: another one begins again

let tours = 0;
export const startTour = () => tour.open(++tours);
