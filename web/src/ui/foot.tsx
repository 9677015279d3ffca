// foot.tsx - the line below each picture: where its numbers come from, and how to save them.
import type { ComponentProps } from 'preact';
import { Badge, type Provenance } from './badge';
import { Export } from './export';

interface FootProps extends ComponentProps<typeof Export> {
    from: Provenance;
    showsCommand?: boolean; // in full, as well as to be copied
}

export function Foot({ from, showsCommand, ...saved }: FootProps) {
    return (
        <div class="foot">
            <Badge from={from} />
            {showsCommand && <code>{saved.command}</code>}
            <Export {...saved} />
        </div>
    );
}
