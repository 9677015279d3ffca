// answer.ts - the engine's answer to a request that depends on settings: the last answer stays until the
// next one arrives.
import { useEffect, useState } from 'preact/hooks';
import { latest, OVERTAKEN } from './latest';

export interface Answer<T> {
    found: T | null;
    error: string; // '' if none
}

/** Asks whenever the key changes; of many changes the newest wins. */
export function useAnswer<T>(key: string, ask: () => Promise<T>): Answer<T> {
    const [run] = useState(latest);
    const [answer, setAnswer] = useState<Answer<T>>({ found: null, error: '' });
    useEffect(() => {
        run(ask).then(
            (found) => found !== OVERTAKEN && setAnswer({ found, error: '' }),
            (error: Error) => setAnswer((before) => ({ ...before, error: error.message })),
        );
    }, [key]);
    return answer;
}
