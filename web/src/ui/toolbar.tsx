// toolbar.tsx - what concerns the whole page: undo, theme, sharing, presenting.
import { useEffect } from 'preact/hooks';
import type { State } from '../state/state';
import { store } from '../state/store';
import { setPresent } from '../teach/moves';
import { help, startTour } from '../teach/opened';
import * as t from '../text/en';
import { Copy } from './copy';
import { isTyping } from './typing';

function useUndoKeys() {
    useEffect(() => {
        const key = (event: KeyboardEvent) => {
            if (!(event.ctrlKey || event.metaKey) || isTyping(event)) return;
            if (event.key === 'z' && !event.shiftKey) store.undo();
            else if (event.key === 'y' || (event.key === 'Z' && event.shiftKey)) store.redo();
            else return;
            event.preventDefault();
        };
        window.addEventListener('keydown', key);
        return () => window.removeEventListener('keydown', key);
    }, []);
}

export function Toolbar({ state }: { state: State }) {
    useUndoKeys();
    const themes = ['auto', 'light', 'dark'] as const;
    return (
        <div class="toolbar">
            <button onClick={() => store.undo()} disabled={!store.canUndo()} title="Ctrl+Z">
                {t.toolbar.undo}
            </button>
            <button onClick={() => store.redo()} disabled={!store.canRedo()} title="Ctrl+Y">
                {t.toolbar.redo}
            </button>
            <label>
                <span class="quiet">{t.toolbar.theme}</span>{' '}
                <select value={state.theme} onChange={(e) => store.set((s) => void (s.theme = e.currentTarget.value as State['theme']))}>
                    {themes.map((name) => (
                        <option key={name} value={name}>
                            {t.toolbar.themes[name]}
                        </option>
                    ))}
                </select>
            </label>
            <button aria-pressed={state.present} onClick={() => setPresent(!state.present)}>
                {t.toolbar.present}
            </button>
            <Copy text={() => location.href} label={t.toolbar.share} done={t.toolbar.shared} />
            <button onClick={startTour}>{t.teach.tour}</button>
            <button title="?" onClick={() => help.open('keys')}>
                {t.teach.keys}
            </button>
        </div>
    );
}
