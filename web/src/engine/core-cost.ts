// core-cost.ts - costs and sharpness: see web/engine/web_cost.c.
import type { Module } from './module';
import { SCALES, type Cost as CostFound, type Scale, type Sharpness, type Tensor } from './types';

function byScale<T>(make: (scale: number) => T): Record<Scale, T> {
    return Object.fromEntries(SCALES.map((name, i) => [name, make(i)])) as Record<Scale, T>;
}

export class Cost {
    constructor(private readonly module: Module) {}

    cost(n: number, d: number, heads: number, causal: boolean): CostFound {
        const r = this.module.call('cost', n, d, heads, Number(causal));
        return {
            pairs: r.number('pairs'),
            visiblePairs: r.number('visible_pairs'),
            flops: r.number('flops'),
            backwardFlops: r.number('flops_backward'),
            bytes: r.number('bytes_io'),
            denseBytes: r.number('bytes_dense'),
            scratchBytes: r.number('bytes_scratch'),
        };
    }

    sharpness(d_k: number, n: number, trials: number, seed: number): Sharpness {
        const found = this.module.call('sharpness', d_k, n, trials, seed).rows('found');
        return { d_k, entropy: byScale((i) => found[i]![0]!), largest: byScale((i) => found[i]![1]!) };
    }

    scalingMaps(d_k: number, n: number, seed: number): Record<Scale, Tensor> {
        const maps = this.module.call('scaling_maps', d_k, n, seed).tensor('maps').data;
        return byScale((i) => ({ shape: [n, n], data: maps.slice(i * n * n, (i + 1) * n * n) }));
    }
}
