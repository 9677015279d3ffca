// numerals.ts - formats the numbers in cells with as few decimals as the matrix needs, at most four,
// as `attn trace` does; and parses typed numbers.

const MOST_DECIMALS = 4;

export interface Form {
    decimals: number;
    exponent: boolean;
}

function decimalsOf(x: number, least: number): number {
    let decimals = least;
    for (; decimals < MOST_DECIMALS; decimals++) {
        const scaled = Math.abs(x) * 10 ** decimals;
        if (Math.abs(scaled - Math.round(scaled)) <= 1e-9 * Math.max(1, scaled)) break;
    }
    return decimals;
}

/** One form for all cells, so that the points stand below each other. */
export function formOf(cells: ArrayLike<number>, least = 0): Form {
    let decimals = least;
    let largest = 0;
    for (let i = 0; i < cells.length; i++) {
        const x = cells[i]!;
        if (!Number.isFinite(x)) continue;
        decimals = decimalsOf(x, decimals);
        largest = Math.max(largest, Math.abs(x));
    }
    return { decimals, exponent: largest >= 1e5 || (largest > 0 && largest < 1e-3) };
}

export function show(x: number, form: Form = formOf([x])): string {
    if (x === -Infinity) return '−∞';
    const small = Math.abs(x) < 0.5 * 10 ** -form.decimals;
    if (x !== 0 && small) return x.toExponential(0).replace('-', x < 0 ? '−' : '-');
    if (form.exponent) return x.toExponential(3);
    return (small ? 0 : x).toFixed(form.decimals).replace('-', '−');
}

/** A typed number; undefined if it is none, or too large to be one. */
export function readNumber(text: string): number | undefined {
    const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
    const plain = text.trim().replace('−', '-');
    const value = Number(plain);
    return decimal.test(plain) && Number.isFinite(value) ? value : undefined;
}

/** Without the dust of binary fractions: 0.1 + 0.01 is 0.11. */
export function tidy(x: number): number {
    return Number(x.toPrecision(12));
}
