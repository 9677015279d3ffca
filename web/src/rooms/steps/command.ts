// command.ts - the command that prints the numbers on the screen.
import type { State } from '../../state/state';
import { quoted, scaleOption } from '../../ui/shell';
import type { Page } from './pages';
import type { Work } from './work';

export function commandOf(state: State, work: Work, page: Page): string {
    const { example, problem, edits } = work;
    const { heads, width } = state.steps;
    const hasPage = page.name !== 'masked' || problem.causal;
    const changes = edits.map((e) => `${e.part}:${e.row + 1},${e.column + 1}=${e.value}`).join(';');
    return [
        'attn trace',
        example ? `--example ${example.name}` : `${quoted(state.sentence)} --heads ${heads} --d-model ${width} --seed ${state.seed}`,
        ...(problem.causal && !example?.problem.causal ? ['--causal'] : []),
        ...scaleOption(problem.scale),
        ...(problem.temperature !== 1 ? [`--temperature ${problem.temperature}`] : []),
        ...(changes ? [`--set ${quoted(changes)}`] : []),
        ...(hasPage ? [`--step ${page.results[0]}`] : []),
    ].join(' ');
}
