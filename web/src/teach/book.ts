// book.ts - pages of docs/book in the web page: fetched when first needed, so that the text exists only once and
// does not slow down the start.
import { useEffect, useState } from 'preact/hooks';
import { bytesOf } from '../engine/bytes';

const pages = new Map<string, Promise<string>>();

function load(url: string): Promise<string> {
    if (!pages.has(url)) pages.set(url, bytesOf(url).then((bytes) => new TextDecoder().decode(bytes)));
    return pages.get(url)!;
}

/** What `read` makes of the page; undefined until it is here, and where it cannot be had. */
export function usePage<T>(url: string, read: (text: string) => T): T | undefined {
    const [page, setPage] = useState<T>();
    useEffect(() => {
        load(url).then((text) => setPage(() => read(text)), () => undefined); // the page works without its book
    }, [url]);
    return page;
}
