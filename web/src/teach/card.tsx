// card.tsx - the side card: what the room shows, its formula, a quiz, something to try.
import type { State } from '../state/state';
import { en as t } from '../text/en';

export function Card({ state }: { state: State }) {
    return (
        <aside class="card" aria-label={t.room[state.room].name}>
            <h2>{t.room[state.room].name}</h2>
        </aside>
    );
}
