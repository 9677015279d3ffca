// bytes.ts - the contents of a file of the build. A page opened from disk cannot fetch files; there the
// bytes are in the URL itself.
import { awaited } from '../awaited';

async function read(url: string): Promise<ArrayBuffer> {
    if (url.startsWith('data:')) {
        const text = atob(url.slice(url.indexOf(',') + 1));
        return Uint8Array.from(text, (c) => c.charCodeAt(0)).buffer;
    }
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
    return answer.arrayBuffer();
}

export const bytesOf = (url: string): Promise<ArrayBuffer> => awaited(read(url));
