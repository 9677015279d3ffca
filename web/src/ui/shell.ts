// shell.ts - what the commands that the page shows have in common.
import type { Scale } from '../engine/types';

/** An option of `attn trace` and `attn train`. */
export function scaleOption(scale: Scale): string[] {
    return scale === 'sqrt' ? [] : [`--scale ${scale}`];
}

/** For a POSIX shell. A sentence must not look like an option. */
export function quoted(text: string): string {
    const safe = text.startsWith('-') ? ` ${text}` : text;
    return `'${safe.replaceAll("'", "'\\''")}'`;
}
