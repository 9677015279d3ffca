// try.tsx - a sentence for the selected model: its tokens, unknown words, and the model's answer.
import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../engine/answer';
import { engine } from '../../engine/client';
import type { Look, ModelInfo, Tokenized } from '../../engine/types';
import { modelOf, onModels, type OpenModel } from '../../state/models';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import type { Table } from '../../ui/export';
import { Foot } from '../../ui/foot';
import { say } from '../../ui/readout';
import { quoted } from '../../ui/shell';
import { questionOf } from './show';

const words = t.models.try;
const SHOWN = 3; // answers; the export has five

/** Counts the changes of the models that are kept. */
export function useVersion(): number {
    const [version, setVersion] = useState(0);
    useEffect(() => onModels(() => setVersion((v) => v + 1)), []);
    return version;
}

interface Tried extends Tokenized {
    model: OpenModel;
    asked: number;
    answers: Look['answers'][number]; // (slots) best five
    milliseconds: number; // that the look took, with the way to the engine and back
}

function problemOf(info: ModelInfo, { tokens, nearest }: Tokenized): string {
    if (tokens.length === 0) return words.empty;
    if (tokens.length > info.length) return words.long(tokens.length, info.length);
    if (tokens.includes(-1)) return words.unknown;
    return nearest === '' ? '' : words.otherSentence(nearest);
}

async function attempt({ model: name, sentence, token }: State): Promise<Tried> {
    const model = await modelOf(name);
    const { info } = model;
    const text = await engine.tokenize(info.handle, sentence);
    const asked = token >= 0 && token < text.tokens.length ? token : questionOf(text);
    const found: Tried = { model, ...text, asked, answers: [], milliseconds: 0 };
    if (problemOf(info, text)) return found;
    const { scale, temperature } = info;
    const start = performance.now();
    const look = await engine.look(info.handle, { tokens: text.tokens, mask: 'none', window: 0, padding: 0, scale, temperature, off: [], gradientAt: -1 });
    return { ...found, answers: look.answers[asked] ?? [], milliseconds: performance.now() - start };
}

/** "cat 99 %, red 100 %" */
function best(tried: Tried): string {
    return tried.answers.map(([first]) => `${first!.word} ${t.percent(first!.probability)}`).join(', ');
}

function tableOf({ answers }: Tried): Table {
    return { columns: ['slot', 'word', 'probability'], rows: answers.flatMap((slot, s) => slot.map((a) => [s + 1, a.word, a.probability])) };
}

function Tokens({ tried }: { tried: Tried }) {
    const pick = (token: number) => store.set((s) => void (s.token = token));
    return (
        <ol class="tokens" aria-label={words.tokens}>
            {tried.words.slice(0, 512).map((word, i) => (
                <li key={i}>
                    <button class={tried.tokens[i]! < 0 ? 'unknown' : ''} aria-pressed={i === tried.asked} onClick={() => pick(i)}>
                        <bdi>{word}</bdi>
                        {tried.tokens[i]! < 0 && <small> {words.notKnown}</small>}
                    </button>
                </li>
            ))}
        </ol>
    );
}

function Answers({ tried }: { tried: Tried }) {
    return (
        <div class="answers">
            {tried.answers.map((slot, s) => (
                <ol key={s} aria-label={words.answer(tried.words[tried.asked]!)}>
                    {slot.slice(0, SHOWN).map((a) => (
                        <li key={a.word}>
                            <span>{a.word}</span>
                            <span class="bar" aria-hidden="true">
                                <i style={{ width: `${100 * a.probability}%` }} />
                            </span>
                            <data value={a.probability}>{t.percent(a.probability)}</data>
                        </li>
                    ))}
                </ol>
            ))}
        </div>
    );
}

export function Try({ state }: { state: State }) {
    const version = useVersion();
    const { model: name, sentence, token } = state;
    const { found, error } = useAnswer(JSON.stringify([name, sentence, token, version]), () => attempt(state));
    const problem = found && problemOf(found.model.info, found);
    useEffect(() => {
        if (found) say(problem || words.says(found.words[found.asked]!, best(found)));
    }, [found]);
    const { info, from } = found?.model ?? {};
    const command = `attn attend ${name === 'file' && from?.kind === 'file' ? quoted(from.name) : `${name}.safetensors`} ${quoted(sentence)}`;
    return (
        <section class="panel" aria-labelledby="try-title" id="models-try">
            <h3 id="try-title">{words.title(t.models.names[name as keyof typeof t.models.names] ?? name)}</h3>
            {error && <p role="alert">{error}</p>}
            <label class="sentence">
                {words.sentence}
                <input
                    type="text"
                    value={sentence}
                    onInput={(e) => {
                        const text = e.currentTarget.value;
                        store.set((s) => void Object.assign(s, { sentence: text, token: -1 }), 'sentence');
                    }}
                />
            </label>
            {found && info && from && (
                <>
                    <p class="quiet">{words.count(found.tokens.length, info.length)} {!problem && words.speed(found.tokens.length, found.milliseconds)}</p>
                    <Tokens tried={found} />
                    {problem ? <p role="alert">{problem}</p> : <Answers tried={found} />}
                    <details>
                        <summary>{words.knows(info.words.length)}</summary>
                        <p class="vocabulary">{info.words.join(' ')}</p>
                    </details>
                    <Foot name="answers" from={from} table={() => tableOf(found)} command={command} showsCommand />
                </>
            )}
        </section>
    );
}
