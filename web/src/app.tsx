// app.tsx - the frame around the rooms: name, tabs, what is shared by all rooms, the side card, the
// readout that screen readers follow. A room is a function of the state; see rooms/.
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Cost } from './rooms/cost/cost';
import { Explore } from './rooms/explore/explore';
import { Models } from './rooms/models/models';
import { Steps } from './rooms/steps/steps';
import { Train } from './rooms/train/train';
import { ROOMS, type Room, type State } from './state/state';
import { store, useStore } from './state/store';
import { Card } from './teach/card';
import { Help } from './teach/help';
import { Slides } from './teach/slides';
import { Story } from './teach/story';
import { Tour } from './teach/tour';
import { en as t } from './text/en';
import { Readout } from './ui/readout';
import { Toolbar } from './ui/toolbar';

const PAGES: Record<Room, ComponentType<{ state: State }>> = {
    steps: Steps,
    explore: Explore,
    train: Train,
    models: Models,
    cost: Cost,
};

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
                    <Slides state={state} />
                    <div id="room" role="tabpanel" aria-labelledby={`tab-${state.room}`} tabIndex={-1}>
                        <Page state={state} />
                    </div>
                </main>
                {!state.present && <Card state={state} />}
            </div>
            <Readout />
            <Tour />
            <Help />
        </>
    );
}
