// explore.tsx - the room Explore: a sentence, a model, and where every word looks. Tests:
// web/tests/explore.browser.mjs
import type { ComponentType } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { useDark } from '../../ui/hooks';
import { say } from '../../ui/readout';
import { ArcsView } from './arcs';
import { Controls, Views } from './controls';
import { Answer, Distribution, EntropyStrip, Product, sentenceOf, sharesOf, Switches } from './detail';
import './explore.css';
import { GradientView } from './gradient';
import { HeadsView } from './heads';
import { type Reading, useReading } from './look';
import { MapView, ScaleChoices } from './map';
import { choiceOf, focusOf } from './numbers';
import { pin, type Scene, sceneOf, type ViewProps } from './scene';
import { ShiftView } from './shift';
import { Chips, Inputs, Trouble } from './sentence';

const VIEWS: Record<State['explore']['view'], ComponentType<ViewProps>> = {
    heatmap: MapView,
    arcs: ArcsView,
    heads: HeadsView,
    shift: ShiftView,
    gradient: GradientView,
};

/** Said once, with what can be asked instead. */
function Caution() {
    const aggregate = (name: State['explore']['aggregate']) => store.set((s) => void Object.assign(s.explore, { aggregate: name, view: 'heatmap' }));
    return (
        <aside class="panel caution">
            <h3>{t.explore.caution.title}</h3>
            <p>{t.explore.caution.text}</p>
            <div class="line">
                <button onClick={() => aggregate('rollout')}>{t.explore.aggregates.rollout}</button>
                <button onClick={() => aggregate('gradient')}>{t.explore.aggregates.gradient}</button>
                <button onClick={() => store.set((s) => void (s.explore.view = 'gradient'))}>{t.explore.views.gradient}</button>
                <button onClick={() => document.getElementById('switches')?.focus()}>{t.explore.caution.switch}</button>
            </div>
        </aside>
    );
}

/** The cell under the pointer in words. */
function CellNote({ scene, cell }: { scene: Scene; cell: { row: number; column: number } }) {
    const { a } = scene.found;
    const { n, scores, visible } = a.look;
    const { choice } = scene;
    const at = cell.row * n + cell.column;
    if (cell.column < 0 || cell.row < 0 || at >= n * n) return <p class="cell quiet">{t.explore.pointAt}</p>;
    const isHead = choice.aggregate === 'head';
    const score = scores.data[(choice.layer * scores.shape[1]! + choice.head) * n * n + at]!;
    const names = [a.words[cell.row]!, a.words[cell.column]!] as const;
    const isMasked = scene.a.visible && !visible[at];
    return <p class="cell">{isMasked ? t.explore.cellMasked(...names) : t.explore.cell(...names, scene.a.cell[at]!, isHead ? score : undefined)}</p>;
}

function Picture(p: { state: State; reading: Reading; scene: Scene; dark: boolean }) {
    const { state, scene, dark } = p;
    const [hovered, setHovered] = useState({ row: -1, column: -1 });
    const onHover = (row: number, column: number) => setHovered((last) => (last.row === row && last.column === column ? last : { row, column }));
    const pinned = focusOf(state, scene.found, -1);
    const focus = focusOf(state, scene.found, hovered.row);
    const View = VIEWS[state.explore.view];
    const { colors, range, view } = state.explore;
    const isMap = view === 'heatmap';
    // not drawn again while the pointer moves or a slider waits for the engine
    const shown = isMap ? pinned : focus;
    const drawn = useMemo(
        () => <View state={state} scene={scene} focus={shown} onHover={onHover} />,
        [scene, shown, dark, view, colors, range, state.layer, state.head],
    );
    const sentence = sentenceOf(scene, focus);
    useEffect(() => say(sentence), [sentence]);
    const sides = [scene.found.a, ...(scene.found.b ? [scene.found.b] : [])];
    const isStale = p.reading.texts.some((text, i) => text.words.join(' ') !== sides[i]?.words.join(' '));
    return (
        <div class={isStale ? 'picture stale' : 'picture'}>
            <Views state={state} />
            <div class={scene.found.b || view === 'gradient' ? 'stage wide' : 'stage'}>
                <section class="view" aria-label={t.explore.views[view]}>
                    {drawn}
                    {isMap && !scene.found.b && <CellNote scene={scene} cell={hovered} />}
                    {(isMap || view === 'heads') && <ScaleChoices state={state} />}
                    <Switches found={scene.found} state={state} />
                </section>
                <div class="beside">
                    <Distribution scene={scene} state={state} focus={focus} />
                    <Product scene={scene} focus={focus} column={hovered.column} />
                </div>
            </div>
            <EntropyStrip scene={scene} state={state} dark={dark} />
            <Caution />
        </div>
    );
}

function Tokens({ state, reading, scene }: { state: State; reading: Reading; scene: Scene | null }) {
    const { texts, found } = reading;
    const sides = found ? [found.a, ...(found.b ? [found.b] : [])] : [];
    return (
        <>
            {texts.map((text, i) => {
                const side = sides[i];
                const isShown = scene !== null && side !== undefined && side.words.join(' ') === text.words.join(' ');
                const focusA = isShown ? focusOf(state, found!, -1) : -1;
                const focus = i === 0 ? focusA : (scene?.pairs?.find(([a]) => a === focusA)?.[1] ?? -1);
                const matrix = i === 0 ? scene?.a : scene?.b;
                const shares = !isShown || focus < 0 ? null : i === 0 ? sharesOf(scene, focus) : text.words.map((_, j) => matrix!.cell[focus * text.words.length + j]!);
                const toA = (token: number) => (token < 0 || i === 0 ? token : (scene?.pairs?.find(([, b]) => b === token)?.[0] ?? -1));
                const pinned = state.token < 0 ? -1 : i === 0 ? state.token : focus;
                return (
                    <Chips key={i} name={texts.length > 1 ? t.explore.tokensOf(i === 0 ? 'A' : 'B') : t.explore.tokens} text={text} shares={shares}
                        focus={focus} pinned={pinned} onPin={(token) => pin(toA(token))} />
                );
            })}
        </>
    );
}

export function Explore({ state }: { state: State }) {
    const reading = useReading(state);
    const dark = useDark();
    const { found, reader } = reading;
    const choice = found && choiceOf(state, found);
    const scene = useMemo(() => found && sceneOf(found, choice!), [found, choice?.layer, choice?.head, choice?.aggregate]);
    const { layer, head, token, explore } = state;
    // sliders wait for the engine; until it has answered nothing but them is drawn again
    const words = useMemo(
        () => (
            <>
                <Tokens state={state} reading={reading} scene={scene} />
                {found && <Answer found={found} state={state} />}
            </>
        ),
        [reading, scene, token],
    );
    const picture = useMemo(
        () => scene && <Picture state={state} reading={reading} scene={scene} dark={dark} />,
        [reading, scene, dark, layer, head, token, JSON.stringify(explore)],
    );
    const letGo = (event: KeyboardEvent) => {
        if (event.key === 'Escape' && token >= 0) pin(-1);
    };
    return (
        <div class="room explore" onKeyDown={letGo}>
            <Inputs state={state} />
            <Trouble state={state} reading={reading} />
            {words}
            {reader && <Controls state={state} reader={reader} n={reading.texts[0]?.words.length ?? 1} />}
            {picture ?? (!reader && !reading.error && <p class="quiet">{t.explore.loading}</p>)}
        </div>
    );
}
