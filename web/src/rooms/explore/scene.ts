// scene.ts - one answer of the engine and the part of it that is shown: the source of all views.
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { commandOf, type Picture } from './command';
import { answerAt, type Found } from './look';
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

/** The command of a picture of one sentence: the map, unless it says what else. */
export function commandFor(scene: Scene, side: 'a' | 'b', picture: Partial<Picture> = {}): string {
    const { settings, ...found } = scene.found;
    const { asked, look } = found[side]!;
    const at = answerAt(settings.gradientAt ?? -1, asked, look.n);
    return commandOf(scene.found, side === 'a' ? settings.sentence : settings.compare, { show: 'map', choice: scene.choice, at, ...picture });
}

export function pin(token: number): void {
    store.set((s) => void (s.token = token));
}
