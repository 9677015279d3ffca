// card.tsx - the side card: what the room shows, in Steps the step; its formula, something to try, a quiz.
import type { State } from '../state/state';
import * as t from '../text/en';
import { Formula } from './math';
import { go, MOVES, type MoveName } from './moves';
import { help } from './opened';
import { type Place, usePlace } from './place';
import { Quiz } from './quiz';
import './teach.css';

function TryThis({ at }: { at: Place }) {
    return (
        <>
            <h3>{t.teach.tryThis}</h3>
            <ul class="try">
                {Object.entries(t.teach.card[at].try).map(([name, label]) => (
                    <li key={name}>
                        <button class="link" onClick={() => go(MOVES[name as MoveName])}>
                            {label}
                        </button>
                    </li>
                ))}
            </ul>
        </>
    );
}

/** Two arrows of one length, turned by a quarter each time. */
function Directions() {
    const arrow = (name: string, degrees: number) => (
        <g class={name} transform={`rotate(${-degrees})`}>
            <path d="M0 0H26M20 -5L27 0L20 5" />
        </g>
    );
    return (
        <div class="directions">
            {t.teach.directions.map((label, i) => (
                <figure key={i}>
                    <svg viewBox="-32 -32 64 48" aria-hidden="true">
                        {arrow('k', i === 0 ? -8 : 90 * i)}
                        {arrow('q', i === 0 ? 8 : 0)}
                    </svg>
                    <figcaption>{label}</figcaption>
                </figure>
            ))}
        </div>
    );
}

function More({ at }: { at: Place }) {
    const more = t.teach.more[at];
    if (!more) return null;
    return (
        <details class="more">
            <summary>{more.title}</summary>
            {more.lines.map((line) => (line.startsWith('$') ? <Formula key={line} text={line.slice(1)} /> : <p key={line}>{line}</p>))}
        </details>
    );
}

export function Card({ state }: { state: State }) {
    const at = usePlace(state);
    const { see, formulas } = t.teach.card[at];
    return (
        <aside class="card" aria-label={t.teach.about}>
            <h2>{state.room === 'steps' ? t.pages[at as keyof typeof t.pages] : t.room[state.room].name}</h2>
            <p>{see}</p>
            {formulas.map((text) => (
                <Formula key={text} text={text} />
            ))}
            {at === 'scores' && <Directions />}
            <More key={at} at={at} />
            <TryThis at={at} />
            <Quiz at={at} />
            <button class="link" onClick={() => help.open('glossary')}>
                {t.teach.glossary}
            </button>
        </aside>
    );
}
