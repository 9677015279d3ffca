// story.tsx - the opening of the page: what does "it" mean? One word of the sentence is turned by a click,
// and the room below shows where "it" looks then. Folded away it stays so for the session.
import { useState } from 'preact/hooks';
import type { State } from '../state/state';
import * as t from '../text/en';
import { DIRTY, go, MOVES, TIRED } from './moves';
import { recall, remember } from './session';

export function Story({ state }: { state: State }) {
    const [isOpen] = useState(() => recall('story', true));
    const text = t.teach.story;
    const isTold = state.model === 'whois';
    const now = isTold && state.sentence === TIRED ? 'tired' : isTold && state.sentence === DIRTY ? 'dirty' : 'other';
    const adjective = (name: 'tired' | 'dirty') => (
        <button class={name} aria-pressed={now === name} onClick={() => go(MOVES[name])}>
            {text[name]}
        </button>
    );
    const fold = (event: Event) => {
        if (event.target === event.currentTarget) remember('story', (event.target as HTMLDetailsElement).open);
    };
    return (
        <details class="story" open={isOpen} onToggle={fold}>
            <summary>
                <h2>{text.title}</h2>
            </summary>
            <p class="told">
                {text.before}
                <b>{text.it}</b>
                {text.was}
                <span role="group" aria-label={text.flip}>
                    {adjective('tired')} {adjective('dirty')}
                </span>
                {text.after}
            </p>
            <p role="status">{text.look[now]}</p>
            <details class="quiet">
                <summary>{text.trained}</summary>
                {text.how[0]}
                <code>{text.how[1]}</code>
                {text.how[2]}
            </details>
        </details>
    );
}
