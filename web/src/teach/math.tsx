// math.tsx - formulas as native MathML, from a line of text: "softmax(Q K^T / sqrt(d_k)) V". Juxtaposed
// factors multiply; a fraction is all factors before the stroke over the one after it; _ and ^ bind closest.
import type { ComponentChildren, VNode } from 'preact';

const TOKEN = /[\p{L}∂]+|[\d.]+|[^\s]/gu;
const SIGN = /^[=+−·,>]$/u;

/** Reads the tokens from left to right; each function takes what it understands. */
class Reader {
    private at = 0;
    private readonly tokens: string[];

    constructor(text: string) {
        this.tokens = text.match(TOKEN) ?? [];
    }

    sum(): ComponentChildren {
        const parts: ComponentChildren[] = [];
        while (this.at < this.tokens.length && this.tokens[this.at] !== ')') {
            parts.push(SIGN.test(this.tokens[this.at]!) ? <mo>{this.tokens[this.at++]}</mo> : this.product());
        }
        return parts;
    }

    private product(): ComponentChildren {
        let factors: ComponentChildren[] = [];
        while (this.at < this.tokens.length && this.tokens[this.at] !== ')' && !SIGN.test(this.tokens[this.at]!)) {
            if (this.tokens[this.at] !== '/') factors.push(this.factor());
            else {
                this.at++;
                factors = [<mfrac><mrow>{factors}</mrow>{this.factor(true)}</mfrac>];
            }
        }
        return factors;
    }

    /** A symbol with its marks; brackets that group an index or a denominator are not shown. */
    private factor(isGroup = false): VNode {
        const base = this.atom(isGroup);
        const isSum = base.type === 'mo';
        if (this.take('_')) {
            const index = this.atom(true);
            if (isSum) return <munder>{base}{index}</munder>;
            return this.take('^') ? <msubsup>{base}{index}{this.atom(true)}</msubsup> : <msub>{base}{index}</msub>;
        }
        return this.take('^') ? <msup>{base}{this.factor(true)}</msup> : base;
    }

    private atom(isGroup: boolean): VNode {
        const token = this.tokens[this.at++] ?? '';
        if (token === '(') return isGroup ? <mrow>{this.inside()}</mrow> : bracketed(this.inside());
        if (token === 'sqrt' && this.take('(')) return <msqrt>{this.inside()}</msqrt>;
        if (token === 'sum') return <mo>∑</mo>;
        if (isGroup && /^[a-z]{2}$/.test(token)) return <mrow>{Array.from(token, (letter) => <mi>{letter}</mi>)}</mrow>; // two indices
        const name = /^[\d.]/.test(token) ? <mn>{token}</mn> : <mi>{token}</mi>;
        // e^(…) is a power, not a call: a call has its bracket at once.
        return this.tokens[this.at] === '(' && token.length > 1 && this.take('(') ? <mrow>{name}{bracketed(this.inside())}</mrow> : name;
    }

    private inside(): ComponentChildren {
        const found = this.sum();
        this.take(')');
        return found;
    }

    private take(token: string): boolean {
        if (this.tokens[this.at] !== token) return false;
        this.at++;
        return true;
    }
}

/** As text: Chromium would stretch operators beyond their content. */
function bracketed(inside: ComponentChildren): VNode {
    return <mrow><mtext>(</mtext>{inside}<mtext>)</mtext></mrow>;
}

export function Formula({ text }: { text: string }) {
    return (
        <math display="block">
            <mrow>{new Reader(text).sum()}</mrow>
        </math>
    );
}
