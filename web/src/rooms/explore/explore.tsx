// explore.tsx - the room Explore.
import type { State } from '../../state/state';
import { en as t } from '../../text/en';

export function Explore({ state }: { state: State }) {
    return <h2>{t.room[state.room].name}</h2>;
}
