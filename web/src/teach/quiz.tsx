// quiz.tsx - a question of the book that belongs to where the reader is. A wrong answer sets the state of a
// room that shows why it is wrong; the question stays until the reader asks for another.
import { useEffect, useState } from 'preact/hooks';
import book from '../../../docs/book/12-quiz.md?url';
import * as t from '../text/en';
import { usePage } from './book';
import { Inline } from './inline';
import { go, MOVES, type MoveName } from './moves';
import type { Place } from './place';
import { fills, type Question, readQuestions } from './quiz-book';
import { recall, remember } from './session';

/** Where each question is asked, and what answers its wrong choices. */
const ASKED: Record<number, { at: Place[]; move: MoveName }> = {
    1: { at: ['tokens', 'queries', 'keys', 'values', 'given'], move: 'symmetric' },
    2: { at: ['scaled', 'cost'], move: 'unscaled' },
    3: { at: ['masked'], move: 'mask' },
    4: { at: ['weights', 'concat', 'result'], move: 'softmax' },
    5: { at: ['masked', 'weights'], move: 'masked' },
    6: { at: ['explore', 'masked'], move: 'oneSeen' },
    7: { at: ['cost'], move: 'twice' },
    8: { at: ['cost'], move: 'square' },
    9: { at: ['train', 'given'], move: 'biasOfKeys' },
    10: { at: ['train', 'masked'], move: 'masked' },
    11: { at: ['explore', 'output', 'models'], move: 'noOrder' },
    12: { at: ['cost', 'output'], move: 'tiles' },
    13: { at: ['scaled', 'scores'], move: 'ones' },
    14: { at: ['weights', 'explore'], move: 'ties' },
};

/** Right at the first try, by number. */
type Score = Record<number, boolean>;

/** Where the numbered gaps of a text are filled in. */
function Blanks({ text }: { text: string }) {
    return (
        <>
            {text.split('`____`').map((part, i) => (
                <>
                    {i > 0 && <input type="text" name="blank" size={8} autocomplete="off" aria-label={t.quiz.blank(i)} />}
                    {part}
                </>
            ))}
        </>
    );
}

function Choices({ question }: { question: Question }) {
    const letters = Object.keys(question.choices);
    return (
        <fieldset>
            <legend>{letters.length ? <Inline text={question.text} /> : <Blanks text={question.text} />}</legend>
            {letters.map((letter) => (
                <label key={letter}>
                    <input type="radio" name="choice" value={letter} />
                    <span>
                        <Inline text={question.choices[letter]!} />
                    </span>
                </label>
            ))}
        </fieldset>
    );
}

interface Verdict {
    right: boolean;
    reply: string;
}

/** What the filled form says; undefined: nothing yet. */
function judge(question: Question, form: HTMLFormElement): Verdict | undefined {
    const data = new FormData(form);
    const words = data.getAll('blank').map(String);
    if (words.some((word) => word.trim())) return { right: fills(question.answer, words), reply: question.replies['']! };
    const letter = data.get('choice');
    return letter === null ? undefined : { right: letter === question.answer, reply: question.replies[String(letter)]! };
}

function Reply({ number, verdict }: { number: number; verdict: Verdict }) {
    const text = t.quiz;
    return (
        <div class={verdict.right ? 'right' : 'wrong'}>
            <p>
                <strong>{verdict.right ? text.right : text.wrong}</strong> <Inline text={verdict.reply} />
            </p>
            {!verdict.right && (
                <p>
                    <b>{text.look}</b>
                    {text.see[number]}{' '}
                    <button type="button" class="link" onClick={() => document.getElementById('room')?.focus()}>
                        {text.show}
                    </button>
                </p>
            )}
        </div>
    );
}

/** The questions of a place, the first that was not answered; `stay` keeps the present one. */
function useQuestion(at: string) {
    const questions = usePage(book, readQuestions);
    const [score, setScore] = useState<Score>(() => recall('quiz', {}));
    const [present, setPresent] = useState(0);
    const [stay, setStay] = useState(false);
    const here = Object.keys(ASKED).map(Number).filter((number) => ASKED[number]!.at.includes(at as Place));
    const firstOpen = here.find((number) => !(number in score)) ?? here[0] ?? 0;
    useEffect(() => {
        if (!stay) setPresent(firstOpen);
    }, [at]);
    const next = () => {
        setStay(false);
        setPresent(here[(here.indexOf(present) + 1) % here.length] ?? 0);
    };
    const answered = (number: number, right: boolean) => {
        setStay(true);
        if (number in score) return;
        const now = { ...score, [number]: right };
        setScore(now);
        remember('quiz', now);
    };
    const isHere = stay || here.includes(present);
    const question = questions?.find((q) => q.number === (isHere ? present : firstOpen));
    return { question, all: questions?.length ?? 0, score, next, answered };
}

export function Quiz({ at }: { at: string }) {
    const { question, all, score, next, answered } = useQuestion(at);
    const [verdict, setVerdict] = useState<Verdict | 'none'>();
    const text = t.quiz;
    useEffect(() => setVerdict(undefined), [question?.number]);
    if (!question) return null;
    const check = (event: Event) => {
        event.preventDefault();
        const found = judge(question, event.currentTarget as HTMLFormElement);
        setVerdict(found ?? 'none');
        if (!found) return;
        answered(question.number, found.right);
        if (!found.right) go(MOVES[ASKED[question.number]!.move]);
    };
    const results = Object.values(score);
    return (
        <form class="quiz" key={question.number} onSubmit={check} aria-labelledby="quiz-title">
            <h3 id="quiz-title">
                {text.title}: {question.title}
            </h3>
            <Choices question={question} />
            <button class="primary">{text.check}</button>{' '}
            <button type="button" onClick={next}>
                {text.next}
            </button>
            <div role="status">
                {verdict === 'none' ? <p>{text.choose}</p> : verdict && <Reply number={question.number} verdict={verdict} />}
            </div>
            {results.length > 0 && <p class="quiet">{text.score(results.filter(Boolean).length, results.length, all)}</p>}
        </form>
    );
}
