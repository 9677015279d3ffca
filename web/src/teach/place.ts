// place.ts - where the reader is, for the side card: the room, and in Steps the step, which depends on
// what the example gives.
import { useEffect, useState } from 'preact/hooks';
import type { PageName } from '../rooms/steps/pages';
import type { State } from '../state/state';
import type { teach } from '../text/en';

export type Place = keyof typeof teach.card;

let step: PageName = 'tokens';
const listeners = new Set<() => void>();

/** The room Steps says which step it shows. */
export function showStep(name: PageName): void {
    if (name === step) return;
    step = name;
    listeners.forEach((listener) => listener());
}

export function usePlace({ room }: State): Place {
    const [name, setName] = useState(step);
    useEffect(() => {
        const tell = () => setName(step);
        listeners.add(tell);
        tell();
        return () => void listeners.delete(tell);
    }, []);
    return room === 'steps' ? name : room;
}
