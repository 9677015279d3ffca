// hash.ts - the state as the hash of the URL and back: "#1?room=explore&explore.range=row". Only what
// differs from the defaults is written. Values that cannot be parsed become the default: a link may be
// old, truncated or handmade. Tests: web/tests/frame.browser.mjs
import { CHOICES, DEFAULTS, LIMITS, LONGEST_TEXT, type State } from './state';

const VERSION = '1';
type Plain = string | number | boolean;

/** ["room", "explore.range", ...] with their defaults. */
function settings(): [string, Plain][] {
    return Object.entries(DEFAULTS).flatMap(([name, value]) =>
        typeof value === 'object'
            ? Object.entries(value as Record<string, Plain>).map(([inner, v]): [string, Plain] => [`${name}.${inner}`, v])
            : [[name, value as Plain] as [string, Plain]],
    );
}

function read(state: State, path: string): Plain {
    return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], state) as Plain;
}

function write(state: State, path: string, value: Plain): void {
    const [outer, inner] = path.split('.') as [string, string | undefined];
    const target = state as unknown as Record<string, Record<string, Plain> | Plain>;
    if (inner === undefined) target[outer] = value;
    else (target[outer] as Record<string, Plain>)[inner] = value;
}

/** The value that the text means at this place, or undefined. */
function understand(path: string, text: string, usual: Plain): Plain | undefined {
    if (typeof usual === 'boolean') return text === '1' ? true : text === '0' ? false : undefined;
    if (typeof usual === 'number') {
        const limit = LIMITS[path];
        const value = text.trim() === '' ? NaN : Number(text);
        if (!Number.isFinite(value) || (limit?.whole && !Number.isInteger(value))) return undefined;
        return limit ? Math.min(Math.max(value, limit.min), limit.max) : value;
    }
    const allowed = CHOICES[path];
    if (allowed) return allowed.includes(text) ? text : undefined;
    return text.slice(0, LONGEST_TEXT);
}

export function copy(state: State): State {
    return structuredClone(state);
}

export function encode(state: State): string {
    const query = new URLSearchParams();
    for (const [path, usual] of settings()) {
        const value = read(state, path);
        if (value !== usual) query.set(path, typeof value === 'boolean' ? (value ? '1' : '0') : String(value));
    }
    const text = query.toString();
    return text ? `#${VERSION}?${text}` : '';
}

export function decode(hash: string): State {
    const state = copy(DEFAULTS);
    const start = `#${VERSION}?`;
    if (!hash.startsWith(start)) return state;
    const query = new URLSearchParams(hash.slice(start.length));
    for (const [path, usual] of settings()) {
        const text = query.get(path);
        const value = text === null ? undefined : understand(path, text, usual);
        if (value !== undefined) write(state, path, value);
    }
    return state;
}
