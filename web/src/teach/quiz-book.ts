// quiz-book.ts - the questions of docs/book/12-quiz.md, where their form is described. The page of the book
// is the only place where they are written; tests/book checks it.
export interface Question {
    number: number;
    title: string;
    text: string;
    choices: Record<string, string>; // by letter; none: there are blanks to fill
    answer: string; // a letter; for blanks "i; future | later"
    replies: Record<string, string>; // by letter; for blanks under ''
}

const unwrapped = (text: string) => text.trim().replace(/\n(?!- |\n)\s*/g, ' ');

const byLetter = (text: string) => Object.fromEntries(Array.from(text.matchAll(/^- (\w)\) (.*)$/gm), ([, letter, what]) => [letter!, what!]));

function read(section: string): Question {
    const [, number, title, before, answer, after] = /^(\d+)\. (.*)\n([^]*)\nAnswer: (.*)\n([^]*)$/.exec(section)!;
    const asked = unwrapped(before!);
    const replied = unwrapped(after!);
    const choices = byLetter(asked);
    const hasChoices = 'a' in choices;
    return {
        number: Number(number),
        title: title!,
        text: asked.split('\n\n- a)')[0]!,
        choices,
        answer: answer!,
        replies: hasChoices ? byLetter(replied) : { '': replied },
    };
}

export const readQuestions = (book: string): Question[] => book.split(/^## /m).slice(1).map(read);

/** Whether the words fill the blanks, in any case. */
export function fills(answer: string, words: string[]): boolean {
    const same = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();
    return answer.split(';').every((allowed, i) => allowed.split('|').some((word) => same(word, words[i] ?? '')));
}
