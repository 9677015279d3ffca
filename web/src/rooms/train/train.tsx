// train.tsx - the room Train.
import type { State } from '../../state/state';
import { en as t } from '../../text/en';

export function Train({ state }: { state: State }) {
    return <h2>{t.room[state.room].name}</h2>;
}
