// words.ts - splits a sentence into words, aligns two sentences, and lists the example sentences.
import { DEFAULTS, type State } from '../../state/state';

/** As `attn trace` cuts: by spaces; one of .,;:!? at the end of a word is a word of its own. */
export function cutWords(text: string): string[] {
    const pieces = text.split(/[\0-\x20\x7f]+/).filter((piece) => piece !== '');
    return pieces.flatMap((piece) => (/.[.,;:!?]$/su.test(piece) ? [piece.slice(0, -1), piece.slice(-1)] : [piece]));
}

/** Places of a and b that belong together; -1 where one has nothing beside it. */
export type Pair = [number, number];

/** Words side by side with the fewest changes (edit distance). */
export function align(a: string[], b: string[]): Pair[] {
    const width = b.length + 1;
    const cost = new Uint16Array((a.length + 1) * width);
    const change = (i: number, j: number) => (a[i - 1] === b[j - 1] ? 0 : 1);
    for (let i = 0; i <= a.length; i++) {
        for (let j = 0; j <= b.length; j++) {
            const at = i * width + j;
            if (i === 0 || j === 0) cost[at] = i + j;
            else cost[at] = Math.min(cost[at - width - 1]! + change(i, j), cost[at - width]! + 1, cost[at - 1]! + 1);
        }
    }
    const pairs: Pair[] = [];
    for (let i = a.length, j = b.length; i > 0 || j > 0; ) {
        const at = i * width + j;
        if (i > 0 && j > 0 && cost[at] === cost[at - width - 1]! + change(i, j)) pairs.push([--i, --j]);
        else if (i > 0 && cost[at] === cost[at - width]! + 1) pairs.push([--i, -1]);
        else pairs.push([-1, --j]);
    }
    return pairs.reverse();
}

/** "tired | dirty", or the word itself where both have it. */
export function pairName([i, j]: Pair, a: string[], b: string[]): string {
    const one = a[i] ?? '–';
    const other = b[j] ?? '–';
    return one === other ? one : `${one} | ${other}`;
}

type Start = Pick<State, 'sentence' | 'compare' | 'model'> & { aggregate: State['explore']['aggregate']; view: State['explore']['view'] };

const map = { aggregate: 'mean', view: 'heatmap' } as const;

/** By the names of t.explore.examples. */
export const EXAMPLES = {
    tired: { ...map, model: 'whois', sentence: DEFAULTS.sentence, compare: '' },
    colours: { ...map, model: 'whois', sentence: 'The red cat sat on the blue mat because it was tired.', compare: '' },
    pair: { ...map, model: 'whois', sentence: DEFAULTS.sentence, compare: 'The cat sat on the mat because it was dirty.' },
    river: { ...map, view: 'shift', model: 'sense', sentence: 'the bank near the water and the door .', compare: 'the bank near the loan and the door .' },
    apple: { ...map, view: 'shift', model: 'sense', sentence: 'the apple near the tree and the chair .', compare: 'the apple near the stock and the chair .' },
    phones: { ...map, model: 'sense', sentence: 'I love apple phones.', compare: '' },
    induction: { ...map, view: 'arcs', model: 'induction', sentence: 'f c d a k f c d a k', compare: '' },
    own: { ...map, aggregate: 'head', model: 'random', sentence: 'Time flies like an arrow, but fruit flies like a banana.', compare: '' },
} satisfies Record<string, Start>;
export type ExampleName = keyof typeof EXAMPLES;

/** What a sentence is best compared with: its partner among the examples, else itself, to be changed. */
export function partnerOf(sentence: string): string {
    return Object.values(EXAMPLES).find((example) => example.sentence === sentence && example.compare)?.compare ?? sentence;
}
