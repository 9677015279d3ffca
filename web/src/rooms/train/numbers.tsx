// numbers.tsx - accuracy, selectivity and knock-out, each with an explanation.
import type { Evaluation } from '../../engine/types';
import * as t from '../../text/en';

const text = t.train.numbers;

function Figure(p: { name: string; value: number | undefined; is: string; more?: string; at?: Evaluation | null }) {
    const known = p.value !== undefined && Number.isFinite(p.value);
    return (
        <div class="figure" data-value={p.value}>
            <h3>{p.name}</h3>
            <p class="value">{known ? `${(100 * p.value!).toFixed(1)} %` : '–'}</p>
            <div class="scale" style={{ '--share': known ? p.value : 0 }} aria-hidden="true" />
            <p>{p.is}</p>
            <p class="quiet">
                {p.more} {p.at && text.at(p.at.step, p.at.examples)}
            </p>
        </div>
    );
}

/** Selectivity of the weights averaged over the heads, last layer. */
export function selectivityOf(evaluation: Evaluation): number {
    return evaluation.headMean.data.at(-1)!;
}

export function Numbers({ evaluation, knockedOut }: { evaluation: Evaluation | null; knockedOut: Evaluation | null }) {
    return (
        <section class="numbers" aria-label={text.title}>
            <Figure name={text.accuracy} value={evaluation?.accuracy} is={text.accuracyIs} at={evaluation} />
            <Figure
                name={text.selectivity}
                value={evaluation ? selectivityOf(evaluation) : undefined}
                is={text.selectivityIs}
                at={evaluation}
            />
            <Figure
                name={text.knockOut}
                value={knockedOut?.withoutRight}
                is={text.knockOutIs}
                more={knockedOut ? text.rival(t.percent(knockedOut.withoutRival)) : text.later}
                at={knockedOut}
            />
        </section>
    );
}
