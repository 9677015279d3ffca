// player.tsx - back, next, play, and the list of steps with thumbnails of what has been computed.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { State } from '../../state/state';
import { store } from '../../state/store';
import * as t from '../../text/en';
import { palette, placing } from '../../ui/colors';
import { Slider } from '../../ui/controls';
import { type Page, SCORE_LIKE, type View, viewOf } from './pages';
import type { Work } from './work';

const A_STEP = 1200; // milliseconds at speed 1
const THUMB = { width: 54, height: 36 }; // pixels

/** To a step; a picked cell is kept among matrices whose cells mean the same. */
export function goTo(pages: Page[], from: number, to: number): void {
    const next = Math.min(Math.max(to, 0), pages.length - 1);
    const isScore = (i: number) => SCORE_LIKE.includes(pages[i]!.results[0]!);
    store.set((s) => {
        s.steps.step = next;
        if (!isScore(from) || !isScore(next)) s.steps.row = s.steps.column = -1;
    }, 'steps.step');
}

function Thumbnail({ view, dark }: { view: View; dark: boolean }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const columns = view.columns.length;
    useEffect(() => {
        const pen = canvas.current!.getContext('2d')!;
        const scale = palette(view.kind, 'cividis', dark);
        const place = placing(view.cell, columns, view.kind, 'absolute');
        const image = pen.createImageData(columns, view.rows.length);
        for (let i = 0; i < view.cell.length; i++) {
            const isMasked = view.visible?.[i] === 0;
            const at = Math.min(Math.max(place(Math.floor(i / columns), i % columns), 0), 1);
            image.data.set(isMasked ? [0, 0, 0, 0] : [...scale[Math.round(255 * at)]!, 255], 4 * i);
        }
        pen.putImageData(image, 0, 0);
    }, [view.cell, dark]);
    const cell = Math.min(9, THUMB.width / columns, THUMB.height / view.rows.length);
    const size = { width: `${Math.max(cell * columns, 4)}px`, height: `${Math.max(cell * view.rows.length, 4)}px` };
    return <canvas ref={canvas} width={columns} height={view.rows.length} style={size} aria-hidden="true" />;
}

interface PlayerProps {
    state: State;
    work: Work;
    pages: Page[];
    step: number;
    head: number;
    dark: boolean;
}

function List({ work, pages, step, head, dark }: PlayerProps) {
    const present = useRef<HTMLLIElement>(null);
    useEffect(() => {
        const item = present.current!;
        item.parentElement!.scrollLeft = item.offsetLeft - item.parentElement!.clientWidth / 2 + item.offsetWidth / 2;
    }, [step]);
    return (
        <ol class="ribbon">
            {pages.map(({ name, results }, i) => (
                <li key={name} ref={i === step ? present : undefined}>
                    <button aria-current={i === step ? 'step' : undefined} class={i > step ? 'later' : ''} onClick={() => goTo(pages, step, i)}>
                        <span class="thumb">{i <= step && <Thumbnail view={viewOf(work, results[0]!, head)} dark={dark} />}</span>
                        <span><span class="quiet">{i + 1}</span> {t.steps.short[name]}</span>
                    </button>
                </li>
            ))}
        </ol>
    );
}

export function Player(p: PlayerProps) {
    const { pages, step, state } = p;
    const [playing, setPlaying] = useState(false);
    const { speed } = state.steps;
    const last = pages.length - 1;
    useEffect(() => {
        if (!playing) return;
        const timer = setTimeout(() => (step < last ? goTo(pages, step, step + 1) : setPlaying(false)), A_STEP / speed);
        return () => clearTimeout(timer);
    }, [playing, step, speed, last]);
    const play = () => {
        if (!playing && step === last) goTo(pages, step, 0);
        setPlaying(!playing);
    };
    return (
        <nav class="player" aria-label={t.steps.list}>
            <div class="bar">
                <button onClick={() => goTo(pages, step, step - 1)} disabled={step === 0}>{t.steps.back}</button>
                <button class="primary" onClick={() => goTo(pages, step, step + 1)} disabled={step === last}>{t.steps.next}</button>
                <button aria-pressed={playing} onClick={play}>{playing ? t.steps.pause : t.steps.play}</button>
                <Slider label={t.steps.speed} value={speed} min={0.25} max={4} log show={(x) => `${x.toFixed(2)} ×`}
                    onInput={(x) => store.set((s) => void (s.steps.speed = Number(x.toFixed(2))), 'steps.speed')} />
                <span class="where">{t.steps.where(step + 1, pages.length)}</span>
            </div>
            <List {...p} />
        </nav>
    );
}
