// steps.tsx - the room Steps: attention as a sequence of small computations with every number visible and
// every input editable. Tests: web/tests/steps.browser.mjs
import { useEffect } from 'preact/hooks';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import { showStep } from '../../teach/place';
import * as t from '../../text/en';
import { useDark } from '../../ui/hooks';
import { type Page, pagesOf } from './pages';
import { goTo, Player } from './player';
import { Settings } from './settings';
import { Stage } from './stage';
import './steps.css';
import { useWork } from './work';

/** Left and right step, unless something that has the focus wants them. */
function useStepKeys(pages: Page[], step: number): void {
    useEffect(() => {
        const key = (event: KeyboardEvent) => {
            const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
            const isTaken = (event.target as HTMLElement).closest?.('input, select, textarea, td, [role=tab], [role=grid]');
            if (by === 0 || isTaken || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || pages.length === 0) return;
            goTo(pages, step, step + by);
            event.preventDefault();
        };
        window.addEventListener('keydown', key);
        return () => window.removeEventListener('keydown', key);
    }, [pages.length, step]);
}

function Heads({ heads, head }: { heads: number; head: number }) {
    if (heads < 2) return null;
    return (
        <div class="bar heads" role="group" aria-label={t.steps.head}>
            <span>{t.steps.head}</span>
            {Array.from({ length: heads }, (_, h) => (
                <button key={h} aria-pressed={h === head} onClick={() => store.set((s) => void (s.head = h))}>
                    {h + 1}
                </button>
            ))}
        </div>
    );
}

export function Steps({ state }: { state: State }) {
    const dark = useDark();
    const { work, error } = useWork(state);
    const pages = work ? pagesOf(work) : [];
    const step = Math.min(state.steps.step, Math.max(pages.length - 1, 0));
    useStepKeys(pages, step);
    const name = pages[step]?.name;
    useEffect(() => void (name && showStep(name)), [name]);
    const head = Math.min(state.head, (work?.steps.heads ?? 1) - 1);
    const show = work && { state, work, head, dark };
    return (
        <div class="steps">
            <Settings state={state} work={work} />
            {work?.example && <p class="quiet about">{t.steps.onPage(work.example.about)}</p>}
            {error && <p class="error" role="alert">{error}</p>}
            {show ? (
                <>
                    <Player {...show} pages={pages} step={step} />
                    <Heads heads={show.work.steps.heads} head={head} />
                    <Stage {...show} page={pages[step]!} />
                </>
            ) : (
                !error && <p>{t.steps.loading}</p>
            )}
        </div>
    );
}
