// factors.tsx - one sum of products, factor by factor: both factors and their product as numbers with bars.
import './factors.css';
import { formOf, show } from './numerals';

export const MOST_ROWS = 12; // without scrolling

export interface Factors {
    of: string; // "S[apple, phones]"
    left: string;
    right: string;
    names: string[];
    a: number[];
    b: number[];
    sum: number;
}

function Bar({ value, largest, text }: { value: number; largest: number; text: string }) {
    const size = largest > 0 ? Math.abs(value) / largest : 0;
    return (
        <td class="bar">
            <span class="number">{text}</span>
            <span class={`track ${value < 0 ? 'negative' : 'positive'}`} aria-hidden="true">
                <i style={{ '--size': size }} />
            </span>
        </td>
    );
}

/** `end` says what the sum is; without `decimals` as many as the numbers need, at most four. */
export function FactorTable({ f, end, decimals }: { f: Factors; end: string; decimals?: number }) {
    const product = f.a.map((a, i) => a * f.b[i]!);
    const columns = [f.a, f.b, product].map((values) => ({ values, form: decimals === undefined ? formOf(values) : { decimals, exponent: false }, largest: Math.max(...values.map(Math.abs)) }));
    const isLong = f.names.length > MOST_ROWS;
    return (
        <div class="scroll" {...(isLong && { tabIndex: 0, role: 'region', 'aria-label': f.of })}>
            <table class="factors">
                <thead>
                    <tr>
                        <td />
                        <th scope="col">{f.left}</th>
                        <th scope="col">{f.right}</th>
                        <th scope="col">{`${f.left} × ${f.right}`}</th>
                    </tr>
                </thead>
                <tbody>
                    {f.names.map((name, i) => (
                        <tr key={i}>
                            <th scope="row"><bdi>{name}</bdi></th>
                            {columns.map((c, j) => <Bar key={j} value={c.values[i]!} largest={c.largest} text={show(c.values[i]!, c.form)} />)}
                        </tr>
                    ))}
                </tbody>
                <tfoot>
                    <tr>
                        <th scope="row" colSpan={3}>{end}</th>
                        <td class="bar"><b class="number">{show(f.sum)}</b></td>
                    </tr>
                </tfoot>
            </table>
        </div>
    );
}
