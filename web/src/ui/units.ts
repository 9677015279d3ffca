// units.ts - formats large numbers with three digits and a unit, as `attn cost` prints them.
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'];

function inUnits(value: number, base: number, unitOf: (prefix: string) => string): string {
    let power = 0;
    while (Math.round(value) >= base && power < PREFIXES.length - 1) {
        value /= base;
        power++;
    }
    const digits = power === 0 ? String(value) : value >= 999.5 ? value.toFixed(0) : value.toPrecision(3);
    return `${digits} ${unitOf(PREFIXES[power]!)}`;
}

/** "64.0 MiB" */
export function byteText(bytes: number): string {
    return inUnits(bytes, 1024, (prefix) => (prefix ? `${prefix.toUpperCase()}iB` : 'bytes'));
}

/** "4.29 GFLOP" */
export function flopText(flops: number): string {
    return inUnits(flops, 1000, (prefix) => `${prefix}FLOP`);
}

/** "16,777,216" */
export function countText(count: number): string {
    return count.toLocaleString('en');
}
