// app.tsx - the frame around the rooms: name, tabs, what all rooms share, the side card, and the readout
// that screen readers follow. A room is a function of the state; see rooms/.
import { useEffect } from 'preact/hooks';
import { ROOMS, type Room, type State } from './state/state';
import { store, useStore } from './state/store';
import { Card } from './teach/card';
import { useShortcuts } from './teach/keys';
import { help, tour } from './teach/opened';
import { Story } from './teach/story';
import * as t from './text/en';
import { later } from './ui/later';
import { Readout } from './ui/readout';
import { Toolbar } from './ui/toolbar';

const PAGES = {
    steps: later(() => import('./rooms/steps/steps').then((m) => m.Steps)),
    explore: later(() => import('./rooms/explore/explore').then((m) => m.Explore)),
    train: later(() => import('./rooms/train/train').then((m) => m.Train)),
    models: later(() => import('./rooms/models/models').then((m) => m.Models)),
    cost: later(() => import('./rooms/cost/cost').then((m) => m.Cost)),
} satisfies Record<Room, unknown>;

const guide = () => import('./teach/guide');
const Help = later(() => guide().then((m) => m.Help));
const Slides = later(() => guide().then((m) => m.Slides));
const Tour = later(() => guide().then((m) => m.Tour));

/** The room that is visited; then, when there is nothing else to do, the others: they open at once, also offline. */
export async function loadRooms(): Promise<void> {
    await PAGES[store.get().room].load().catch(() => undefined); // the page says so
    const idle = window.requestIdleCallback ?? setTimeout;
    idle(() => [...Object.values(PAGES), Help, Slides, Tour].forEach((part) => void part.load().catch(() => undefined)));
}

function Tabs({ state }: { state: State }) {
    const choose = (room: Room) => store.set((s) => void (s.room = room));
    const move = (event: KeyboardEvent) => {
        const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (by === 0) return;
        const next = ROOMS[(ROOMS.indexOf(state.room) + by + ROOMS.length) % ROOMS.length]!;
        choose(next);
        requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus());
        event.preventDefault();
    };
    return (
        <div class="tabs" role="tablist" aria-label={t.rooms} onKeyDown={move}>
            {ROOMS.map((room, i) => (
                <button
                    key={room}
                    id={`tab-${room}`}
                    role="tab"
                    aria-selected={room === state.room}
                    aria-controls="room"
                    tabIndex={room === state.room ? 0 : -1}
                    onClick={() => choose(room)}
                >
                    <span class="number">{i + 1}</span> {t.room[room].name}
                </button>
            ))}
        </div>
    );
}

/** Applies theme and type size to the document. */
function useAppearance(state: State) {
    useEffect(() => {
        const root = document.documentElement;
        if (state.theme === 'auto') delete root.dataset.theme;
        else root.dataset.theme = state.theme;
        root.classList.toggle('present', state.present);
        document.title = `${t.room[state.room].name} · ${t.title}`;
    }, [state.theme, state.present, state.room]);
}

export function App() {
    const state = useStore();
    useAppearance(state);
    useShortcuts();
    const topic = help.use();
    const tourNumber = tour.use();
    const Page = PAGES[state.room];
    return (
        <>
            <a class="skip" href="#room" onClick={(e) => (e.preventDefault(), document.getElementById('room')?.focus())}>
                {t.skip}
            </a>
            <header>
                <h1>{t.title}</h1>
                <Tabs state={state} />
                <Toolbar state={state} />
            </header>
            <div class="layout">
                <main>
                    {state.room === 'explore' && !state.present && <Story state={state} />}
                    {state.present && <Slides state={state} />}
                    <div id="room" role="tabpanel" aria-labelledby={`tab-${state.room}`} tabIndex={-1}>
                        <Page state={state} />
                    </div>
                </main>
                {!state.present && <Card state={state} />}
            </div>
            <Readout />
            {tourNumber && <Tour key={tourNumber} onEnd={tour.close} />}
            {topic && <Help topic={topic} onEnd={help.close} />}
        </>
    );
}
