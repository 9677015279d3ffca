// help.tsx - the dialogs Keys and Glossary, and the single-key shortcuts, which can be switched off.
import { useEffect, useRef, useState } from 'preact/hooks';
import glossary from '../../../docs/book/glossary.md?url';
import { ROOMS } from '../state/state';
import { store } from '../state/store';
import * as t from '../text/en';
import { Check } from '../ui/controls';
import { isTyping } from '../ui/typing';
import { usePage } from './book';
import { recall, remember } from './session';
import { setPresent } from './slides';
import { startTour } from './tour';

type Topic = 'keys' | 'glossary';
let open: (topic: Topic) => void = () => {};
export const openHelp = (topic: Topic) => open(topic);

/** The rows of its table, without the head. */
const readWords = (text: string) => Array.from(text.matchAll(/^\| (.+?) \| (.+?) \|$/gm), ([, word, meaning]) => [word!, meaning!]).slice(1);

function Glossary() {
    return <List rows={usePage(glossary, readWords) ?? []} />;
}

function act(key: string): boolean {
    const room = ROOMS[Number(key) - 1];
    if (room) store.set((s) => void (s.room = room));
    else if (key === '?') openHelp('keys');
    else if (key === 'g') openHelp('glossary');
    else if (key === 't') startTour();
    else if (key === 'p') setPresent(!store.get().present);
    else return false;
    return true;
}

function useShortcuts(isOn: boolean): void {
    useEffect(() => {
        if (!isOn) return;
        const key = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event)) return;
            if (!document.querySelector('dialog:modal') && act(event.key.toLowerCase())) event.preventDefault();
        };
        window.addEventListener('keydown', key);
        return () => window.removeEventListener('keydown', key);
    }, [isOn]);
}

function List({ rows }: { rows: string[][] }) {
    return (
        <dl>
            {rows.map(([word, meaning]) => (
                <>
                    <dt>{word}</dt>
                    <dd>{meaning}</dd>
                </>
            ))}
        </dl>
    );
}

export function Help() {
    const [topic, setTopic] = useState<Topic>();
    const [single, setSingle] = useState(() => recall('singleKeys', true));
    const dialog = useRef<HTMLDialogElement>(null);
    open = setTopic;
    useShortcuts(single);
    useEffect(() => {
        if (topic) dialog.current!.showModal();
    }, [topic]);
    if (!topic) return null;
    const change = (on: boolean) => {
        setSingle(on);
        remember('singleKeys', on);
    };
    return (
        <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={() => setTopic(undefined)}>
            <form method="dialog">
                <h2 id="help-title">{t.teach[topic]}</h2>
                <button>{t.teach.close}</button>
            </form>
            {topic === 'glossary' ? (
                <Glossary />
            ) : (
                <>
                    <Check label={t.keys.single} checked={single} onChange={change} />
                    <List rows={single ? [...t.keys.rows, ...t.keys.others] : t.keys.others} />
                </>
            )}
        </dialog>
    );
}
