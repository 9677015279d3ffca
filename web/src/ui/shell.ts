// shell.ts - texts in commands that are copied.

/** For a POSIX shell. A sentence must not look like an option. */
export function quoted(text: string): string {
    const safe = text.startsWith('-') ? ` ${text}` : text;
    return `'${safe.replaceAll("'", "'\\''")}'`;
}
