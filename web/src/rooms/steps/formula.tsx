// formula.tsx - the formulas of the engine ("S / sqrt(d_k)") as MathML.
import type { ComponentChildren } from 'preact';

function Symbol({ text }: { text: string }) {
    const [, base, mark, index] = /^([A-Za-z]+)([_^])(\w+)$/.exec(text) ?? [];
    if (mark === '_') return <msub><mi>{base}</mi><mi>{index}</mi></msub>;
    if (mark === '^') return <msup><mi>{base}</mi><mi>{index}</mi></msup>;
    return text === '..' ? <mo>…</mo> : <mi>{text}</mi>;
}

/** Two sides of a sign, a function of something, or symbols that are multiplied. */
function parse(text: string): ComponentChildren {
    const two = /^(.+?) (=|\+) (.+)$/.exec(text);
    if (two) return <>{parse(two[1]!)}<mo>{two[2]}</mo>{parse(two[3]!)}</>;
    const call = /^(\w+)\((.*)\)$/.exec(text);
    if (call?.[1] === 'sqrt') return <msqrt>{parse(call[2]!)}</msqrt>;
    if (call) return <><mi>{call[1]}</mi><mtext>(</mtext>{parse(call[2]!)}<mtext>)</mtext></>;
    const fraction = /^(.+) \/ (.+)$/.exec(text);
    if (fraction) return <mfrac><mrow>{parse(fraction[1]!)}</mrow><mrow>{parse(fraction[2]!)}</mrow></mfrac>;
    return text.split(' ').map((symbol, i) => <Symbol key={i} text={symbol} />);
}

export function Formula({ text }: { text: string }) {
    return (
        <math>
            <mrow>{parse(text)}</mrow>
        </math>
    );
}
