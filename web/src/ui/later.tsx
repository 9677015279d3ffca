// later.tsx - a part of the page in a separate file. It is loaded when it is first shown, or earlier by load(),
// so that visitors of one room do not wait for the others.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { awaited } from '../awaited';
import * as t from '../text/en';

export function later<P extends object>(fetchPart: () => Promise<ComponentType<P>>) {
    let found: ComponentType<P> | undefined;
    const load = async () => void (found ??= await awaited(fetchPart()));
    function Later(props: P) {
        const [state, setState] = useState<'coming' | 'here' | 'lost'>('coming');
        useEffect(() => {
            if (!found) void load().then(() => setState('here'), () => setState('lost'));
        }, []);
        const Part = found;
        if (Part) return <Part {...props} />;
        return <p role={state === 'lost' ? 'alert' : 'status'}>{t.later[state]}</p>;
    }
    return Object.assign(Later, { load });
}
