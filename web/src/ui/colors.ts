// colors.ts - numbers as colours. Weights: cividis by default, which loses nothing for colour-blind
// readers. Signed values: orange - neutral - blue about 0, by theme. The same points as the report.
import type { Colors, Range } from '../state/state';

export type Rgb = [number, number, number];

const points = (hex: string): Rgb[] =>
    hex.split(' ').map((h) => [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)) as Rgb);

const CIVIDIS = points('00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838');
const VIRIDIS = points('440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725');
const INK_LIGHT = points('ffffff c9d3e2 8fa6c6 5878a4 2c4a78 16181d');
const INK_DARK = points('14161a 2c3c55 45648f 6d92c4 a9c6ea eceef2');
const SIGNED_LIGHT = points('8a4200 d9761a f5c48e f5f4f1 a9cfe8 3b8bc4 0b4a84');
const SIGNED_DARK = points('ffc98a d9822b 7a4a18 262626 1c4a70 2f86c6 9ad6ff');

/** The colour at 0 .. 1 along the points. */
function along(scale: Rgb[], at: number): Rgb {
    const place = Math.min(Math.max(at, 0), 1) * (scale.length - 1);
    const i = Math.min(Math.floor(place), scale.length - 2);
    const part = place - i;
    return scale[i]!.map((low, c) => Math.round(low + (scale[i + 1]![c]! - low) * part)) as Rgb;
}

const made = new Map<Rgb[], Rgb[]>(); // heatmaps that live ask for theirs many times a second

/** 256 colours from the low end to the high one. */
export function palette(kind: 'weights' | 'signed', colors: Colors, dark: boolean): Rgb[] {
    const scale =
        kind === 'signed'
            ? dark ? SIGNED_DARK : SIGNED_LIGHT
            : colors === 'viridis' ? VIRIDIS : colors === 'cividis' ? CIVIDIS : dark ? INK_DARK : INK_LIGHT;
    if (!made.has(scale)) made.set(scale, Array.from({ length: 256 }, (_, i) => along(scale, i / 255)));
    return made.get(scale)!;
}

/** Black or white, whichever reads better on the colour. */
export function numeralOn([r, g, b]: Rgb): string {
    const linear = (v: number) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    return luminance > 0.179 ? '#000' : '#fff';
}

export const LEAST_LOG = 1e-4; // weights below it are the low end of the scale "log"

/** Where 0 .. 1 of the scale lie, row by row: returns the place of each value. */
export function placing(
    cell: ArrayLike<number>,
    columns: number,
    kind: 'weights' | 'signed',
    range: Range,
    max?: number,
): (row: number, column: number) => number {
    const at = (r: number, c: number) => cell[r * columns + c]!;
    if (kind === 'signed') {
        let size = max ?? 0;
        if (max === undefined) {
            for (let i = 0; i < cell.length; i++) if (Number.isFinite(cell[i])) size = Math.max(size, Math.abs(cell[i]!));
        }
        return (r, c) => (size === 0 ? 0.5 : 0.5 + at(r, c) / (2 * size));
    }
    if (range === 'log') return (r, c) => 1 + Math.log10(Math.max(at(r, c), LEAST_LOG)) / -Math.log10(LEAST_LOG);
    if (range === 'row') {
        const largest = new Float64Array(Math.ceil(cell.length / columns));
        for (let i = 0; i < cell.length; i++) {
            const row = Math.floor(i / columns);
            largest[row] = Math.max(largest[row]!, cell[i]!);
        }
        return (r, c) => (largest[r] ? at(r, c) / largest[r]! : 0);
    }
    return (r, c) => at(r, c) / (max ?? 1);
}

/** Whether the page is dark now. */
export function isDark(): boolean {
    const theme = document.documentElement.dataset.theme;
    return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}
