// badge.tsx - says where the numbers of a picture come from. Every picture has one, so that random or
// hand-set weights are never mistaken for learned ones.
import * as t from '../text/en';

export type Provenance =
    | { kind: 'document'; name: string }
    | { kind: 'hand' }
    | { kind: 'random'; seed: number }
    | { kind: 'trained'; step: number; seed: number; task: string }
    | { kind: 'bundled'; command: string }
    | { kind: 'file'; name: string; hash: string }
    | { kind: 'formula' };

export function Badge({ from }: { from: Provenance }) {
    return <span class={`badge ${from.kind}`}>{t.provenance(from)}</span>;
}
