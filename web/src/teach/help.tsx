// help.tsx - the dialogs Keys and Glossary.
import { useEffect, useRef, useState } from 'preact/hooks';
import glossary from '../../../docs/book/glossary.md?url';
import * as t from '../text/en';
import { Check } from '../ui/controls';
import { usePage } from './book';
import { singleKeys } from './keys';
import type { Topic } from './opened';

/** The rows of its table, without the head. */
const readWords = (text: string) => Array.from(text.matchAll(/^\| (.+?) \| (.+?) \|$/gm), ([, word, meaning]) => [word!, meaning!]).slice(1);

function Glossary() {
    return <List rows={usePage(glossary, readWords) ?? []} />;
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

export function Help({ topic, onEnd }: { topic: Topic; onEnd: () => void }) {
    const [single, setSingle] = useState(singleKeys.areOn);
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current!.showModal(), []);
    const change = (on: boolean) => {
        setSingle(on);
        singleKeys.turn(on);
    };
    return (
        <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={onEnd}>
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
