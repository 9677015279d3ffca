// notes.tsx - what the document states about the current matrix, next to the correct values.
import type { Part, Statement } from '../../engine/types';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { formOf, show } from '../../ui/numerals';
import { viewOf } from './pages';
import type { Work } from './work';

const isRight = (s: Statement) => s.holds.every(Boolean);

function Note({ work, part, statements, name }: { work: Work; part: Part; statements: Statement[]; name: string }) {
    const view = viewOf(work, part, 0);
    const wrong = statements.filter((s) => !isRight(s));
    const form = formOf(view.cell);
    if (wrong.length === 0) return <p class="right">{t.steps.isRight(name, view.title)}</p>;
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={t.steps.saysOf(name, view.title)}>
            <table class="stated">
                <caption>{t.steps.saysOf(name, view.title)}</caption>
                <thead>
                    <tr>
                        <td />
                        {view.columns.map((c) => <th key={c} scope="col"><bdi>{c}</bdi></th>)}
                    </tr>
                </thead>
                <tbody>
                    {wrong.map((s) => (
                        <tr key={s.row}>
                            <th scope="row"><bdi>{view.rows[s.row]}</bdi></th>
                            {s.stated.map((stated, c) => (
                                <td key={c}>
                                    {s.holds[c] ? (
                                        <span class="quiet">{stated}</span>
                                    ) : (
                                        <>
                                            <span class="unseen">{t.steps.says}</span> <s>{stated}</s>{' '}
                                            <span class="unseen">{t.steps.itIs}</span> <b>{show(view.cell[s.row * view.columns.length + c]!, form)}</b>
                                        </>
                                    )}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

/** The names of other examples in it lead there. */
function Lesson({ text }: { text: string }) {
    const open = (name: string) => store.set((s) => Object.assign(s.steps, { example: name, step: 0, edits: '', row: -1, column: -1 }));
    return (
        <p class="lesson">
            {text.split(/--example ([\w-]+)/).map((piece, i) =>
                i % 2 ? <button key={i} class="link" onClick={() => open(piece)}>{t.steps.exampleNamed(piece)}</button> : piece,
            )}
        </p>
    );
}

export function Notes({ work, parts }: { work: Work; parts: Part[] }) {
    const { example, asDocumented, problem } = work;
    if (!example || !asDocumented) return null;
    const name = example.name.slice(0, 3);
    const about = (part: Part) => example.statements.filter((s) => s.part === part && s.unscaled === (problem.scale === 'none'));
    const noted = parts.filter((part) => about(part).length > 0);
    const isWrong = noted.some((part) => !about(part).every(isRight));
    return (
        <>
            {noted.map((part) => <Note key={part} work={work} part={part} statements={about(part)} name={name} />)}
            {isWrong && example.lesson && <Lesson text={example.lesson} />}
            {isWrong && <p class="quiet count">{t.documents.count} {t.documents.shown('attn verify')}</p>}
        </>
    );
}
