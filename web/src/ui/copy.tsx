// copy.tsx - a button that copies a text, and says so for a moment.
import { useState } from 'preact/hooks';

export function Copy(p: { text: () => string; label: string; done: string; title?: string | undefined }) {
    const [isDone, setDone] = useState(false);
    const copy = async () => {
        await navigator.clipboard?.writeText(p.text());
        setDone(true);
        setTimeout(() => setDone(false), 2000);
    };
    return (
        <button onClick={copy} title={p.title}>
            {isDone ? p.done : p.label}
        </button>
    );
}
