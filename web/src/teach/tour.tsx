// tour.tsx - two minutes through the rooms: a small window at the side that goes from stop to stop and frames
// what it describes. It does not block the page; Escape ends it and restores the focus.
import { useEffect, useRef, useState } from 'preact/hooks';
import { store } from '../state/store';
import * as t from '../text/en';
import { go, MOVES, type MoveName, setPresent } from './moves';

/** For each stop of the text: the state, and what is framed, the first of these that is there. */
const STOPS: { move: MoveName; frame: string }[] = [
    { move: 'tired', frame: '.story' },
    { move: 'tired', frame: '#room .heatmap' },
    { move: 'dirty', frame: '#room .heatmap' },
    { move: 'softmax', frame: '#room .equation' },
    { move: 'learn', frame: '#room .transport' },
    { move: 'models', frame: '#room' },
    { move: 'square', frame: '#room .chart' },
    { move: 'tired', frame: '.card' },
];

/** Keeps the frame around the element, which may arrive late, move or go. */
function useFrame(stop: number) {
    const frame = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
        let shown: Element | null = null;
        let request = 0;
        const follow = () => {
            if (!frame.current) return;
            request = requestAnimationFrame(follow);
            const target = document.querySelector(STOPS[stop]!.frame) ?? document.getElementById('room')!;
            if (target !== shown) target.scrollIntoView({ behavior: isCalm ? 'auto' : 'smooth', block: 'start' });
            shown = target;
            const { left, top, width, height } = target.getBoundingClientRect();
            Object.assign(frame.current.style, { left: `${left - 4}px`, top: `${top - 4}px`, width: `${width + 8}px`, height: `${height + 8}px` });
        };
        follow();
        return () => cancelAnimationFrame(request);
    }, [stop]);
    return frame;
}

export function Tour({ onEnd }: { onEnd: () => void }) {
    const [stop, setStop] = useState(0);
    const dialog = useRef<HTMLDialogElement>(null);
    const frame = useFrame(stop);
    const text = t.tour;
    const visit = (to: number) => {
        if (to >= STOPS.length) return onEnd();
        go(MOVES[STOPS[Math.max(to, 0)]!.move]);
        setStop(Math.max(to, 0));
    };
    useEffect(() => {
        const before = document.activeElement as HTMLElement | null;
        const key = (event: KeyboardEvent) => event.key === 'Escape' && !event.defaultPrevented && onEnd();
        if (store.get().present) setPresent(false);
        visit(0);
        dialog.current!.show();
        dialog.current!.querySelector<HTMLElement>('.primary')!.focus();
        window.addEventListener('keydown', key);
        return () => {
            window.removeEventListener('keydown', key);
            before?.focus();
        };
    }, []);
    const arrows = (event: KeyboardEvent) => {
        const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (by === 0) return;
        visit(stop + by);
        event.preventDefault();
    };
    return (
        <>
            <div class="frame" ref={frame} aria-hidden="true" />
            <dialog class="tour" ref={dialog} aria-labelledby="tour-title" onKeyDown={arrows}>
                <h2 id="tour-title">{text.title(stop + 1, STOPS.length)}</h2>
                <p aria-live="polite">{text.stops[stop]}</p>
                <button onClick={() => visit(stop - 1)} disabled={stop === 0}>
                    {text.back}
                </button>
                <button class="primary" onClick={() => visit(stop + 1)}>
                    {stop === STOPS.length - 1 ? text.done : text.next}
                </button>
                <button class="link" onClick={onEnd}>
                    {text.end}
                </button>
            </dialog>
        </>
    );
}
