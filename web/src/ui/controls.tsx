// controls.tsx - native inputs with a label and a value in words.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface SliderProps {
    label: string;
    value: number;
    min: number;
    max: number;
    step?: number;
    /** The slider moves along the logarithm; min must be above 0. */
    log?: boolean;
    show?: (value: number) => string;
    onInput: (value: number) => void;
}

export function Slider(p: SliderProps) {
    const id = useId();
    const to = p.log ? Math.log : (x: number) => x;
    const from = p.log ? Math.exp : (x: number) => x;
    const text = p.show ? p.show(p.value) : String(p.value);
    return (
        <div class="control">
            <label for={id}>{p.label}</label>
            <input
                id={id}
                type="range"
                min={to(p.min)}
                max={to(p.max)}
                step={p.step ?? (to(p.max) - to(p.min)) / 200}
                value={to(Math.min(Math.max(p.value, p.min), p.max))}
                aria-valuetext={text}
                onInput={(e) => p.onInput(from(Number(e.currentTarget.value)))}
            />
            <output for={id}>{text}</output>
        </div>
    );
}

/** The names of a table of strings, in its order, as a choice takes them. */
export function optionsOf<K extends string>(names: Record<K, string>): [K, string][] {
    return Object.entries(names) as [K, string][];
}

export function Check(p: { label: ComponentChildren; checked: boolean; disabled?: boolean; onChange: (on: boolean) => void }) {
    return (
        <label class="control check">
            <input type="checkbox" checked={p.checked} disabled={p.disabled} onChange={(e) => p.onChange(e.currentTarget.checked)} />
            {p.label}
        </label>
    );
}

export function Choice<T extends string>(p: {
    label: string;
    value: T;
    options: readonly (readonly [T, string])[];
    onChange: (value: T) => void;
}) {
    const id = useId();
    return (
        <div class="control">
            <label for={id}>{p.label}</label>
            <select id={id} value={p.value} onChange={(e) => p.onChange(e.currentTarget.value as T)}>
                {p.options.map(([value, name]) => (
                    <option key={value} value={value}>
                        {name}
                    </option>
                ))}
            </select>
        </div>
    );
}

/** A whole number or a real one, typed; what cannot be read is not taken, and said so. */
export function NumberField(p: {
    label: string;
    value: number;
    min: number;
    max: number;
    step?: number;
    whole?: boolean;
    onChange: (value: number) => void;
}) {
    const id = useId();
    return (
        <div class="control">
            <label for={id}>{p.label}</label>
            <input
                id={id}
                type="number"
                min={p.min}
                max={p.max}
                step={p.step ?? (p.whole ? 1 : 'any')}
                value={p.value}
                onChange={(e) => {
                    const value = Number(e.currentTarget.value);
                    const fits = e.currentTarget.value !== '' && Number.isFinite(value) && value >= p.min && value <= p.max;
                    if (fits && (!p.whole || Number.isInteger(value))) p.onChange(value);
                    else e.currentTarget.value = String(p.value);
                }}
            />
        </div>
    );
}
