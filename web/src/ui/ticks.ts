// ticks.ts - round numbers along an axis.

export interface Axis {
    label: string;
    log?: 2 | 10;
    min?: number;
    max?: number;
}

export interface Scale {
    min: number;
    max: number;
    ticks: number[];
    /** Where a value lies, 0 .. 1. */
    at: (value: number) => number;
}

function linearTicks(min: number, max: number, most: number): number[] {
    const raw = (max - min) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw)!;
    const ticks = [];
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max + 1e-9 * step; i++) ticks.push(i * step);
    return ticks;
}

function logTicks(base: number, min: number, max: number, most: number): number[] {
    const from = Math.floor(Math.log(min) / Math.log(base) + 1e-9);
    const to = Math.ceil(Math.log(max) / Math.log(base) - 1e-9);
    const step = Math.max(1, Math.ceil((to - from) / most));
    const ticks = [];
    for (let k = from; k <= to; k += step) ticks.push(base ** k);
    return ticks;
}

export function scaleOf(axis: Axis, values: number[], most: number): Scale {
    const usable = values.filter((v) => Number.isFinite(v) && (!axis.log || v > 0));
    let min = axis.min ?? Math.min(...usable);
    let max = axis.max ?? Math.max(...usable);
    if (usable.length === 0 && (axis.min === undefined || axis.max === undefined)) [min, max] = axis.log ? [1, 10] : [0, 1];
    if (min === max) [min, max] = axis.log ? [min / 2, max * 2] : [min - 0.5, max + 0.5];
    const ticks = axis.log ? logTicks(axis.log, min, max, most) : linearTicks(min, max, most);
    if (axis.log) {
        min = axis.min ?? Math.min(min, ticks[0]!);
        max = axis.max ?? Math.max(max, ticks[ticks.length - 1]!);
    }
    const to = axis.log ? Math.log : (x: number) => x;
    const low = to(min);
    const high = to(max);
    return { min, max, ticks: ticks.filter((t) => t >= min * (1 - 1e-9) - 1e-300 && t <= max * (1 + 1e-9) + 1e-300), at: (v) => (to(v) - low) / (high - low) };
}

/** Short and exact enough for a tick. */
export function tickText(value: number): string {
    const size = Math.abs(value);
    if (value === 0) return '0';
    if (size >= 1e6 || size < 1e-3) return value.toExponential(0).replace('e+', 'e');
    return String(Number(value.toPrecision(4)));
}
