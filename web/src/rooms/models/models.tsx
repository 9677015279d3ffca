// models.tsx - the room Models.
import type { State } from '../../state/state';
import { en as t } from '../../text/en';

export function Models({ state }: { state: State }) {
    return <h2>{t.room[state.room].name}</h2>;
}
