// card.tsx - the side card: what the room shows, in Steps the step; its formula, something to try, a quiz.
import type { State } from '../state/state';
import * as t from '../text/en';
import { openHelp } from './help';
import { Formula } from './math';
import { go, MOVES, type MoveName } from './moves';
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

export function Card({ state }: { state: State }) {
    const at = usePlace(state);
    const { see, formulas } = t.teach.card[at];
    return (
        <aside class="card" aria-label={t.teach.about}>
            <h2>{state.room === 'steps' ? t.steps.page[at as keyof typeof t.steps.page] : t.room[state.room].name}</h2>
            <p>{see}</p>
            {formulas.map((text) => (
                <Formula key={text} text={text} />
            ))}
            <TryThis at={at} />
            <Quiz at={at} />
            <button class="link" onClick={() => openHelp('glossary')}>
                {t.teach.glossary}
            </button>
        </aside>
    );
}
