// picture.tsx - the line below every picture of the room: where its numbers come from, the command that
// prints the same numbers, and the ways to save them.
import type { ComponentChildren } from 'preact';
import type { Provenance } from '../../ui/badge';
import type { Drawing } from '../../ui/drawing';
import type { Table } from '../../ui/export';
import { Foot } from '../../ui/foot';

interface PictureProps {
    id: string;
    from: Provenance;
    command: string;
    table: () => Table;
    /** The chart in it, unless another is made. */
    picture?: () => Drawing;
    children: ComponentChildren;
}

export function Picture(p: PictureProps) {
    const chart = () => document.querySelector<SVGSVGElement>(`#${p.id} figure > svg`);
    return (
        <section id={p.id} class="panel">
            {p.children}
            <Foot name={p.id} from={p.from} table={p.table} picture={p.picture ?? chart} command={p.command} showsCommand />
        </section>
    );
}
