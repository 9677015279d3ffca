// sentence.tsx - the inputs: sentence, second sentence, examples, model; the tokens as chips that show
// their weights in the selected row; and what to do when a sentence cannot be read.
import { useEffect, useRef, useState } from 'preact/hooks';
import { BUNDLED, keptModel } from '../../state/models';
import { DEFAULTS, LIMITS, type State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Choice, NumberField } from '../../ui/controls';
import { canBeRead, type Reader, type Reading, type Text } from './look';
import { type ExampleName, EXAMPLES, partnerOf } from './words';

const MOST_CHIPS = 600;
const MOST_UNKNOWN = 5;
const MANY = 40; // chips from here on show only shares that stand out: a slider must not lay out hundreds of them anew
const STANDS_OUT = 0.02;
const SHADES = 20;

/** What belongs to one sentence only is let go with it. */
function begin(name: ExampleName): void {
    const { aggregate, view, ...start } = EXAMPLES[name];
    const { layer, head, token, mask, temperature, scale } = DEFAULTS;
    store.set((s) => {
        Object.assign(s, start, { layer, head, token, mask, temperature, scale });
        Object.assign(s.explore, { aggregate, view, off: '' });
        if (name === 'own') s.layer = 0;
    });
}

function exampleNow(state: State): string {
    const same = (name: ExampleName) => (['model', 'sentence', 'compare'] as const).every((key) => state[key] === EXAMPLES[name][key]);
    return (Object.keys(EXAMPLES) as ExampleName[]).find(same) ?? '';
}

function Examples({ state }: { state: State }) {
    const names = Object.keys(EXAMPLES) as ExampleName[];
    const options = [['', t.explore.noExample] as const, ...names.map((name) => [name, t.explore.examples[name]] as const)];
    return <Choice label={t.explore.example} value={exampleNow(state)} options={options} onChange={(name) => name && begin(name as ExampleName)} />;
}

function Model({ state }: { state: State }) {
    const kept = (['trained', 'file'] as const).filter((name) => keptModel(name) || state.model === name);
    const names = [...BUNDLED.map((b) => b.name), ...kept, 'random'];
    const all = names.includes(state.model) ? names : [state.model, ...names];
    const options = all.map((name) => [name, t.explore.models[name] ?? name] as const);
    return <Choice label={t.explore.model} value={state.model} options={options} onChange={(model) => store.set((s) => {
        s.model = model;
        s.explore.off = '';
        s.token = -1;
    })} />;
}

export function Inputs({ state }: { state: State }) {
    const [isComparing, setComparing] = useState(false); // the second sentence may still be empty
    const hasSecond = isComparing || state.compare !== '';
    const second = useRef<HTMLInputElement>(null);
    useEffect(() => void (isComparing && second.current?.focus()), [isComparing]);
    const compare = () => {
        setComparing(!hasSecond);
        store.set((s) => void (s.compare = hasSecond ? '' : partnerOf(s.sentence)));
    };
    return (
        <div class="inputs">
            <div class="line">
                <label class="control sentence">
                    <span>{hasSecond ? 'A' : t.explore.sentence}</span>
                    <input type="text" spellcheck={false} autocomplete="off" value={state.sentence} aria-label={t.explore.sentence}
                        onInput={(e) => store.set((s) => void (s.sentence = e.currentTarget.value), 'sentence')} />
                </label>
                <button aria-pressed={hasSecond} onClick={compare}>{hasSecond ? t.explore.compareEnd : t.explore.compare}</button>
            </div>
            {hasSecond && (
                <div class="line">
                    <label class="control sentence">
                        <span>B</span>
                        <input type="text" spellcheck={false} autocomplete="off" ref={second} value={state.compare} aria-label={t.explore.second}
                            onInput={(e) => store.set((s) => void (s.compare = e.currentTarget.value), 'compare')} />
                    </label>
                </div>
            )}
            <div class="line">
                <Examples state={state} />
                <Model state={state} />
                {state.model === 'random' && (
                    <NumberField label={t.explore.seed} value={state.seed} min={0} max={LIMITS.seed!.max} whole onChange={(x) => store.set((s) => void (s.seed = x))} />
                )}
            </div>
        </div>
    );
}

/** Arrows move along the chips; only one of them is in the tab order. */
function move(event: KeyboardEvent): void {
    const chips = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
    const here = chips.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: chips.length - 1 }[event.key];
    if (to === undefined || here < 0) return;
    chips[Math.min(Math.max(to, 0), chips.length - 1)]!.focus();
    event.preventDefault();
}

interface ChipsProps {
    name: string;
    text: Text;
    shares: number[] | null; // of the row in focus; null: not known for these words
    focus: number;
    pinned: number;
    onPin: (token: number) => void;
}

export function Chips(p: ChipsProps) {
    const shown = p.text.words.slice(0, MOST_CHIPS);
    const stop = Math.min(Math.max(p.focus, 0), shown.length - 1);
    const isMany = shown.length > MANY;
    return (
        <div class={isMany ? 'chips many' : 'chips'} role="toolbar" aria-label={p.name} onKeyDown={move}>
            {shown.map((word, i) => {
                const isUnknown = p.text.tokens[i]! < 0;
                const share = p.shares?.[i];
                const isSaid = share !== undefined && (!isMany || share >= STANDS_OUT);
                return (
                    <button key={i} class={`chip ${isUnknown ? 'unknown' : ''} ${i === p.focus ? 'focus' : ''}`} aria-pressed={i === p.pinned}
                        tabIndex={i === stop ? 0 : -1} style={{ '--share': Math.round(SHADES * (share ?? 0)) / SHADES }} title={isUnknown ? t.explore.unknown : undefined}
                        onClick={() => p.onPin(i === p.pinned ? -1 : i)}>
                        <bdi>{word}</bdi>
                        <small>{isUnknown ? '?' : isSaid ? t.explore.share(share) : ''}</small>
                    </button>
                );
            })}
            {p.text.words.length > MOST_CHIPS && <span class="quiet">… {t.explore.more(p.text.words.length - MOST_CHIPS)}</span>}
        </div>
    );
}

function troubleWith(text: Text, reader: Reader): string {
    const n = text.words.length;
    if (n === 0) return t.explore.empty;
    const unknown = [...new Set(text.words.filter((_, i) => text.tokens[i]! < 0))];
    if (unknown.length > 0) return t.explore.unknownWords(unknown.slice(0, MOST_UNKNOWN), unknown.length);
    return n > reader.longest ? t.explore.tooLong(n, reader.longest, !reader.info) : t.explore.otherSentence;
}

/** Takes the nearest sentence that the model can read in the place of the one it cannot. */
function Nearest({ text, isSecond }: { text: Text; isSecond: boolean }) {
    const take = () => store.set((s) => void Object.assign(s, isSecond ? { compare: text.nearest } : { sentence: text.nearest, token: -1 }));
    return <button class="nearest" onClick={take}>{t.explore.nearest(text.nearest)}</button>;
}

/** Why there is no new picture, and ways out. */
export function Trouble({ state, reading }: { state: State; reading: Reading }) {
    const { reader, texts, error } = reading;
    if (error) {
        const room = state.model === 'trained' ? 'train' : state.model === 'file' ? 'models' : null;
        return (
            <div class="trouble" role="alert">
                <p>{room ? t.explore.notHere[room] : error}</p>
                {room && <button onClick={() => store.set((s) => void (s.room = room))}>{t.explore.goTo(t.room[room].name)}</button>}
                <button onClick={() => begin('tired')}>{t.explore.startAgain}</button>
            </div>
        );
    }
    const bad = reader && texts.find((text) => !canBeRead(text, reader));
    if (!reader || !bad) return null;
    return (
        <div class="trouble" role="alert">
            <p>{troubleWith(bad, reader)} {reading.found && t.explore.lastStays}</p>
            {reader.info && bad.tokens.includes(-1) && (
                <details>
                    <summary>{t.explore.knows(reader.info.words.length)}</summary>
                    <p class="known">{reader.info.words.join(' ')}</p>
                </details>
            )}
            {bad.nearest !== '' && <Nearest text={bad} isSecond={bad === texts[1]} />}
            {reader.info && bad.words.length > 0 && (
                <button onClick={() => store.set((s) => void Object.assign(s, { model: 'random', token: -1 }))}>{t.explore.useRandom}</button>
            )}
            <button onClick={() => begin('tired')}>{t.explore.startAgain}</button>
        </div>
    );
}
