// work.ts - what the room shows: the problem that the state describes, and all its matrices from the
// engine. Manual edits are applied to the inputs; the engine computes everything else.
import { useEffect, useRef, useState } from 'preact/hooks';
import { engine } from '../../engine/client';
import { latest, OVERTAKEN } from '../../engine/latest';
import type { Example, Problem, Steps } from '../../engine/types';
import type { State } from '../../state/state';
import { applyEdits, type Edit } from './edits';

export interface Work {
    example: Example | undefined; // undefined: a sentence of one's own
    queries: string[];
    keys: string[];
    given: Problem; // before the changes by hand
    problem: Problem;
    edits: Edit[];
    steps: Steps;
    asDocumented: boolean; // the statements of the document are about these numbers
}

/** The part of the state that decides the numbers. */
function settingsOf(state: State) {
    const { example, heads, width, edits } = state.steps;
    const own = example === 'mine' ? { sentence: state.sentence, heads, width, seed: state.seed } : undefined;
    const { temperature, scale } = state;
    return { example, own, edits, causal: state.mask === 'causal', temperature, scale };
}
type Settings = ReturnType<typeof settingsOf>;

let known: Promise<Example[]> | undefined;
export function examples(): Promise<Example[]> {
    known ??= engine.examples();
    return known;
}

async function find(s: Settings): Promise<Pick<Work, 'example' | 'queries' | 'keys' | 'given'>> {
    if (s.own) {
        const { heads, width, seed, sentence } = s.own;
        const { words, problem } = await engine.sentence(sentence, { heads, d_model: width, d_k: 0, seed });
        return { example: undefined, queries: words, keys: words, given: problem };
    }
    const all = await examples();
    const example = all.find((e) => e.name === s.example) ?? all.find((e) => e.name === '004')!;
    return { example, queries: example.queries, keys: example.keys, given: example.problem };
}

async function compute(s: Settings): Promise<Work> {
    const found = await find(s);
    const { problem: edited, edits } = applyEdits(found.given, s.edits);
    const causal = s.causal || found.given.causal;
    const problem = { ...edited, causal, scale: s.scale, temperature: s.temperature };
    const asDocumented = edits.length === 0 && s.temperature === 1 && causal === found.given.causal && s.scale !== 'dk';
    return { ...found, problem, edits, asDocumented, steps: await engine.steps(problem) };
}

/** The newest answer; the one before it stays until it is there, also when the question was a bad one. */
export function useWork(state: State): { work: Work | null; error: string } {
    const [work, setWork] = useState<Work | null>(null);
    const [error, setError] = useState('');
    const run = useRef(latest());
    const settings = settingsOf(state);
    useEffect(() => {
        run.current(() => compute(settings)).then(
            (found) => {
                if (found === OVERTAKEN) return;
                setWork(found);
                setError('');
            },
            (problem: Error) => setError(problem.message),
        );
    }, [JSON.stringify(settings)]);
    return { work, error };
}
