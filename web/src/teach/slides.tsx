// slides.tsx - present mode for lectures: a deck of states with one takeaway each, above the room, in large
// type. Arrow keys and the page keys of a clicker move through it, Escape ends it.
import { useLayoutEffect } from 'preact/hooks';
import type { State } from '../state/state';
import { store } from '../state/store';
import * as t from '../text/en';
import { isTyping } from '../ui/typing';
import { DECK, setPresent, turnTo } from './moves';

const KEYS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 1, PageUp: -1 };

/** Who has the focus keeps the arrows it needs; the page keys are the clicker's. */
function useDeckKeys(): void {
    useLayoutEffect(() => { // the keys work from the moment that the slide is seen
        const key = (event: KeyboardEvent) => {
            if (isTyping(event) || document.querySelector('dialog[open]')) return;
            const by = KEYS[event.key];
            const isNeeded = (event.target as Element).closest?.('input, td, [role=tab], [role=grid]');
            if (event.key === 'Escape' && !isNeeded) setPresent(false);
            else if (by && (event.key.startsWith('Page') || !isNeeded)) turnTo(store.get().slide + by);
            else return;
            event.preventDefault();
        };
        window.addEventListener('keydown', key, true); // before the room takes the arrows for itself
        return () => window.removeEventListener('keydown', key, true);
    }, []);
}

export function Slides({ state }: { state: State }) {
    useDeckKeys();
    const text = t.slides;
    const [title, takeaway] = text.deck[state.slide]!;
    return (
        <section class="slide" aria-label={text.of(state.slide + 1, DECK.length)}>
            <div aria-live="polite">
                <h2>{title}</h2>
                <p class="takeaway">
                    <b>{text.takeaway}</b> {takeaway}
                </p>
            </div>
            <nav aria-label={text.deckOf}>
                <button onClick={() => turnTo(state.slide - 1)} disabled={state.slide === 0} aria-label={text.back}>
                    ‹
                </button>
                <span>
                    {state.slide + 1} / {DECK.length}
                </span>
                <button onClick={() => turnTo(state.slide + 1)} disabled={state.slide === DECK.length - 1} aria-label={text.next}>
                    ›
                </button>
                <button onClick={() => setPresent(false)}>{text.end}</button>
            </nav>
        </section>
    );
}
