// store.ts - the state of the page: listeners for changes, undo, and the URL.
// A change that belongs to the last one (a slider being dragged) replaces it in the list of undo.
import { useEffect, useState } from 'preact/hooks';
import { copy, decode, encode } from './hash';
import { DEFAULTS, type State } from './state';

type Change = (state: State) => void;
const MOST_UNDO = 100;
const TOGETHER = 600; // milliseconds
const BETWEEN_URLS = 100; // milliseconds; browsers ignore those who write theirs too often

class Store {
    private state: State;
    private past: State[] = [];
    private future: State[] = [];
    private listeners = new Set<() => void>();
    private lastKey = '';
    private lastTime = 0;
    private lastUrl = -Infinity; // when it was written
    private urlTimer = 0;

    constructor() {
        this.state = decode(typeof location === 'undefined' ? '' : location.hash);
    }

    get(): State {
        return this.state;
    }

    /** Changes the state. Changes with the same key shortly after each other are undone as one. */
    set(change: Change, key = ''): void {
        const next = copy(this.state);
        change(next);
        if (encode(next) === encode(this.state)) return;
        const now = performance.now();
        const together = key !== '' && key === this.lastKey && now - this.lastTime < TOGETHER;
        if (!together) this.past = [...this.past, this.state].slice(-MOST_UNDO);
        this.lastKey = key;
        this.lastTime = now;
        this.future = [];
        this.show(next);
    }

    undo(): void {
        const before = this.past.pop();
        if (!before) return;
        this.future.push(this.state);
        this.show(before);
    }

    redo(): void {
        const after = this.future.pop();
        if (!after) return;
        this.past.push(this.state);
        this.show(after);
    }

    canUndo(): boolean {
        return this.past.length > 0;
    }
    canRedo(): boolean {
        return this.future.length > 0;
    }

    /** The hash was changed by hand or by a link. */
    load(hash: string): void {
        if (hash === encode(this.state)) return;
        clearTimeout(this.urlTimer);
        this.past = [...this.past, this.state].slice(-MOST_UNDO);
        this.show(decode(hash));
    }

    reset(): void {
        this.set((s) => Object.assign(s, copy(DEFAULTS)));
    }

    subscribe(listener: () => void): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    private show(state: State): void {
        this.state = state;
        clearTimeout(this.urlTimer);
        const wait = this.lastUrl + BETWEEN_URLS - performance.now();
        if (wait <= 0) this.writeUrl();
        else this.urlTimer = window.setTimeout(() => this.writeUrl(), wait);
        this.listeners.forEach((listener) => listener());
    }

    private writeUrl(): void {
        this.lastUrl = performance.now();
        history.replaceState(null, '', location.pathname + location.search + encode(this.state));
    }
}

export const store = new Store();
// The event's own URL: by the time it comes, writeUrl() may have put the earlier state back into location.
if (typeof window !== 'undefined') window.addEventListener('hashchange', (event) => store.load(new URL(event.newURL).hash));

/** The state, and again after each change. */
export function useStore(): State {
    const [state, setState] = useState(store.get());
    useEffect(() => store.subscribe(() => setState(store.get())), []);
    return state;
}
