// detail.tsx - one cell of a product, factor by factor: both factors and their product as bars with
// numbers, the sum, and for a score what happens to it: scaling, masking, its share of the row.
import * as t from '../../text/en';
import { type Factors, FactorTable, MOST_ROWS } from '../../ui/factors';
import { formOf, show } from '../../ui/numerals';
import { type Cell, cellsOf, nameOf, type Page, SCORE_LIKE, viewOf } from './pages';
import type { Work } from './work';

/** Which letters stand for the two factors. */
const LETTERS: Partial<Record<Page['name'], [string, string]>> = {
    queries: ['x', 'w'],
    keys: ['x', 'w'],
    values: ['x', 'w'],
    output: ['a', 'v'],
    result: ['o', 'w'],
};

/** Row of the left matrix and column of the right one that meet in the cell. */
function factorsOf(work: Work, page: Page, head: number, at: Cell): Factors | undefined {
    const isScore = SCORE_LIKE.includes(page.results[0]!);
    const letters = isScore ? (['q', 'k'] as const) : LETTERS[page.name];
    if (!letters) return undefined;
    const left = viewOf(work, isScore ? 'q' : page.operands[0]!, head);
    const right = isScore ? viewOf(work, 'k', head, true) : viewOf(work, page.operands[1]!, head);
    const result = viewOf(work, isScore ? 'scores' : page.results[0]!, head);
    const offset = right.part.startsWith('w_') && right.part !== 'w_o' ? head * result.columns.length : 0;
    const width = left.columns.length;
    const each = (pick: (i: number) => number) => Array.from({ length: width }, (_, i) => pick(i));
    return {
        of: nameOf(result, at),
        left: letters[0],
        right: letters[1],
        names: left.columns,
        a: each((i) => left.cell[at.row * width + i]!),
        b: each((i) => right.cell[i * right.columns.length + offset + at.column]!),
        sum: result.cell[at.row * result.columns.length + at.column]!,
    };
}

/** What the score becomes on its way to a share. */
function Chain({ work, head, at }: { work: Work; head: number; at: Cell }) {
    const { steps, problem } = work;
    const index = at.row * work.keys.length + at.column;
    const value = (part: (typeof SCORE_LIKE)[number]) => cellsOf(steps.step[part]!, head)[index]!;
    const isMasked = value('masked') === -Infinity;
    return (
        <ol class="chain">
            <li>{t.steps.chain.score(show(value('scores')))}</li>
            <li>{t.steps.chain.scaled(show(value('scaled')), show(steps.scale), steps.scale === 1)}</li>
            {problem.causal && <li>{t.steps.chain.masked(isMasked)}</li>}
            <li>{t.steps.chain.weight(show(value('weights'), formOf([], 4)), t.percent(value('weights')))}</li>
        </ol>
    );
}

/** Every key's share of the query's row, the picked one marked. */
function Shares({ work, head, at }: { work: Work; head: number; at: Cell }) {
    const n = work.keys.length;
    const row = (part: 'masked' | 'weights') => Array.from(cellsOf(work.steps.step[part]!, head)).slice(at.row * n, at.row * n + n);
    const scores = row('masked');
    const weights = row('weights');
    const form = formOf(scores);
    const isLong = n > MOST_ROWS;
    return (
        <div class="scroll" {...(isLong && { tabIndex: 0, role: 'region', 'aria-label': t.steps.shares(work.queries[at.row]!) })}>
            <table class="factors shares">
                <caption>{t.steps.shares(work.queries[at.row]!)}</caption>
                <thead>
                    <tr><td /><th scope="col">{t.steps.score}</th><th scope="col">{t.steps.weight}</th></tr>
                </thead>
                <tbody>
                    {work.keys.map((key, c) => (
                        <tr key={c} class={c === at.column ? 'on' : ''}>
                            <th scope="row"><bdi>{key}</bdi></th>
                            <td class="bar"><span class="number">{show(scores[c]!, form)}</span></td>
                            <td class="bar">
                                <span class="number">{show(weights[c]!, formOf([], 4))}</span>
                                <span class="track share" aria-hidden="true"><i style={{ '--size': weights[c]! }} /></span>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

export function Detail(p: { work: Work; page: Page; head: number; at: Cell }) {
    const factors = factorsOf(p.work, p.page, p.head, p.at);
    if (!factors) return null;
    const isScore = SCORE_LIKE.includes(p.page.results[0]!);
    return (
        <section class="detail" aria-labelledby="detail-title">
            <h3 id="detail-title">{t.steps.detail(factors.of, show(factors.sum))}</h3>
            <div class="panels">
                <FactorTable f={factors} end={t.steps.sumOf} />
                {isScore && <Chain {...p} />}
                {isScore && <Shares {...p} />}
            </div>
        </section>
    );
}
