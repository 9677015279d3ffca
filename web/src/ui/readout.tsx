// readout.tsx - the line at the bottom that says in words what the picture shows; screen readers
// follow it. Rooms call say(); the last sentence wins, at most one in 300 ms is shown.
import { useEffect, useState } from 'preact/hooks';

const SLOWEST = 300; // milliseconds
let show: (text: string) => void = () => {};
let timer = 0;

export function say(text: string): void {
    clearTimeout(timer);
    timer = window.setTimeout(() => show(text), SLOWEST);
}

export function Readout() {
    const [text, setText] = useState('');
    useEffect(() => {
        show = setText;
        return () => void (show = () => {});
    }, []);
    return (
        <footer class="readout" aria-live="polite">
            {text}
        </footer>
    );
}
