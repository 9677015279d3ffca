// typing.ts - whether a key press goes into a text field, so that no shortcut may take it.
export function isTyping(event: KeyboardEvent): boolean {
    const target = event.target as HTMLElement;
    return target.matches?.('input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]');
}
