// command.ts - the command that prints the numbers in sight.
import type { State } from '../../state/state';
import type { Page } from './pages';
import type { Work } from './work';

/** For a POSIX shell. A sentence must not look like an option. */
function quoted(text: string): string {
    const safe = text.startsWith('-') ? ` ${text}` : text;
    return `'${safe.replaceAll("'", "'\\''")}'`;
}

/** None for numbers changed by hand, and for a scale that `attn trace` does not have. */
export function commandOf(state: State, work: Work, page: Page): string | undefined {
    if (work.edits.length > 0 || work.problem.scale === 'dk') return undefined;
    const { example, problem } = work;
    const { heads, width } = state.steps;
    const hasPage = page.name !== 'masked' || problem.causal;
    return [
        'attn trace',
        example ? `--example ${example.name}` : `${quoted(state.sentence)} --heads ${heads} --d-model ${width} --seed ${state.seed}`,
        ...(problem.causal && !example?.problem.causal ? ['--causal'] : []),
        ...(problem.scale === 'none' ? ['--no-scale'] : []),
        ...(problem.temperature !== 1 ? [`--temperature ${problem.temperature}`] : []),
        ...(hasPage ? [`--step ${page.results[0]}`] : []),
    ].join(' ');
}
