// command.ts - the command that prints the numbers in sight.
import type { State } from '../../state/state';
import { quoted } from '../../ui/shell';
import type { Page } from './pages';
import type { Work } from './work';

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
