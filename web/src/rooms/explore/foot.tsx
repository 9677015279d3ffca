// foot.tsx - below each picture: where its numbers come from, and how to take them away.
import type { ComponentProps } from 'preact';
import { Badge, type Provenance } from '../../ui/badge';
import { Export } from '../../ui/export';

export function Foot({ from, ...rest }: ComponentProps<typeof Export> & { from: Provenance }) {
    return (
        <div class="foot">
            <Badge from={from} />
            <Export {...rest} />
        </div>
    );
}
