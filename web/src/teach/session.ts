// session.ts - what is remembered until the tab is closed. If storage is forbidden, nothing is.
export function recall<T>(name: string, usual: T): T {
    try {
        const text = sessionStorage.getItem(`attn.${name}`);
        return text === null ? usual : (JSON.parse(text) as T);
    } catch {
        return usual;
    }
}

export function remember(name: string, value: unknown): void {
    try {
        sessionStorage.setItem(`attn.${name}`, JSON.stringify(value));
    } catch {
        // it lasts as long as the page
    }
}
