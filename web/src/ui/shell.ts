// shell.ts - what commands that are copied have in common.
import type { Scale } from '../engine/types';

/** Options of `attn trace` and `attn train`. */
export const SCALE: Record<Scale, string[]> = { sqrt: [], none: ['--no-scale'], dk: ['--scale-by-dk'] };

/** For a POSIX shell. A sentence must not look like an option. */
export function quoted(text: string): string {
    const safe = text.startsWith('-') ? ` ${text}` : text;
    return `'${safe.replaceAll("'", "'\\''")}'`;
}
