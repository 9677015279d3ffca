// sentence.tsx - one held-out example: the weight that the asking token gives to each token, and the
// model's answer.
import type { TaskExample } from '../../engine/types';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { Badge, type Provenance } from '../../ui/badge';
import { Choice } from '../../ui/controls';
import { meanRow, type Question, share } from './picture';
import type { Picture } from './trainer';

const LAST_EXAMPLE = 2047; // of those that every run is judged on

/** What the token at `j` is to the question. */
function roleOf(question: Question, j: number): string {
    if (j === question.at) return 'asks';
    if (question.right.includes(j)) return 'right';
    return question.rival.includes(j) ? 'rival' : '';
}

function Token(p: { word: string; role: string; weight: number; ask?: () => void }) {
    const word = <bdi>{p.word}</bdi>;
    return (
        <li class={p.role} style={{ '--weight': p.weight }}>
            <span class="bar" aria-hidden="true" />
            <span class="share">{Math.round(100 * p.weight)}</span>
            {p.ask ? (
                <button class="word" aria-pressed={p.role === 'asks'} title={t.train.sentence.asks(p.word)} onClick={p.ask}>
                    {word}
                </button>
            ) : (
                <span class="word">{word}</span>
            )}
        </li>
    );
}

function Answers({ question, picture }: { question: Question; picture: Picture }) {
    const found = picture.look.answers[question.at]!;
    return (
        <p>
            {t.train.sentence.answer}:{' '}
            {question.answer.map((word, slot) => {
                const best = found[slot]![0]!;
                const right = best.word === word;
                return (
                    <span key={slot} class={`answer ${right ? 'right' : 'wrong'}`}>
                        <strong>{best.word}</strong> {t.percent(best.probability)} {right ? '✓' : '✗'}{' '}
                        <span class="quiet">{right ? t.train.sentence.right : t.train.sentence.wrong(word)}</span>
                    </span>
                );
            })}
        </p>
    );
}

function Next({ number }: { number: number }) {
    const go = (to: number) => store.set((s) => void Object.assign(s.train, { example: to, question: 0 }));
    return (
        <span class="next">
            <button aria-label={t.train.sentence.previous} disabled={number <= 0} onClick={() => go(number - 1)}>
                ‹
            </button>
            <span>{t.train.sentence.number(number)}</span>
            <button aria-label={t.train.sentence.next} disabled={number >= LAST_EXAMPLE} onClick={() => go(number + 1)}>
                ›
            </button>
        </span>
    );
}

interface SentenceProps {
    state: State;
    example: TaskExample;
    question: Question;
    picture: Picture;
    layer: number;
    about: string; // the task
    from: Provenance;
}

export function Sentence(p: SentenceProps) {
    const { example, question, picture } = p;
    const row = meanRow(picture.look, p.layer, question.at);
    const at = example.words[question.at]!;
    const right = share(row, question.right);
    const rival = share(row, question.rival);
    const layers = Array.from({ length: picture.look.weights.shape[0]! }, (_, l) => [String(l), String(l + 1)] as const);
    return (
        <section class="panel sentence" data-right={right} data-rival={rival}>
            <div class="head">
                <h3>{t.train.sentence.title(at)}</h3>
                <Choice
                    label={t.train.sentence.layer}
                    value={String(p.layer)}
                    options={layers}
                    onChange={(l) => store.set((s) => void (s.layer = Number(l)))}
                />
                <Next number={p.state.train.example} />
            </div>
            <p class="quiet">{t.train.sentence.task(p.about)}</p>
            <ol class="tokens">
                {example.words.map((word, j) => {
                    const q = example.questions.findIndex(({ at }) => at === j);
                    const ask = q < 0 || example.questions.length < 2 ? undefined : () => store.set((s) => void (s.train.question = q));
                    return <Token key={j} word={word} role={roleOf(question, j)} weight={row[j]!} ask={ask} />;
                })}
            </ol>
            <p class="key">
                <span class="asks">{t.train.sentence.asking}</span> <span class="right">{t.train.sentence.decides}</span>{' '}
                <span class="rival">{t.train.sentence.rival}</span> <Badge from={p.from} />
            </p>
            <Answers question={question} picture={picture} />
            <p class="quiet">
                {t.train.sentence.shares(at, t.percent(right), t.percent(rival))} {t.train.sentence.about}
            </p>
        </section>
    );
}
