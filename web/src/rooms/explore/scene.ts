// scene.ts - one answer of the engine with the part of it that is in sight: what all views draw from.
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { commandOf } from './command';
import type { Found } from './look';
import { type Choice, type Matrix, matrixOf } from './numbers';
import { align, type Pair } from './words';

export interface Scene {
    found: Found;
    choice: Choice;
    name: string; // "layer 2, mean of its heads"
    a: Matrix;
    b: Matrix | undefined;
    pairs: Pair[] | undefined; // words of a beside words of b
}

export interface ViewProps {
    state: State;
    scene: Scene;
    focus: number; // a row of a
    onHover: (row: number, column: number) => void;
}

export function sceneOf(found: Found, choice: Choice): Scene {
    const { a, b } = found;
    return {
        found,
        choice,
        name: t.explore.sight(choice),
        a: matrixOf(a, choice),
        b: b && matrixOf(b, choice),
        pairs: b && align(a.words, b.words),
    };
}

export function commandFor(scene: Scene, side: 'a' | 'b'): string | undefined {
    const { settings } = scene.found;
    return commandOf(scene.found, scene.choice, side === 'a' ? settings.sentence : settings.compare);
}

export function pin(token: number): void {
    store.set((s) => void (s.token = token));
}
