// hooks.ts - what pictures must know of the page: its theme, the room they have, and when it is calm.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { awaited } from '../awaited';
import { isDark } from './colors';

/** Whether the page is dark, again when theme or system change. */
export function useDark(): boolean {
    const [dark, setDark] = useState(isDark());
    useEffect(() => {
        const look = () => setDark(isDark());
        const system = matchMedia('(prefers-color-scheme: dark)');
        const observer = new MutationObserver(look);
        look();
        system.addEventListener('change', look);
        observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
        return () => {
            system.removeEventListener('change', look);
            observer.disconnect();
        };
    }, []);
    return dark;
}

/** The width of the box, in pixels. */
export function useWidth(box: RefObject<HTMLElement>, first: number): number {
    const [width, setWidth] = useState(first);
    useEffect(() => {
        const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
        observer.observe(box.current!);
        return () => observer.disconnect();
    }, []);
    return width;
}

const CALM = 150; // milliseconds

/** The value, but a new one at most every CALM: for what stands beside a picture that follows a slider in every frame. */
export function useCalm<T>(value: T): T {
    const [calm, setCalm] = useState(value);
    const newest = useRef(value);
    const changed = useRef(-Infinity); // when
    const isWaiting = useRef(false);
    newest.current = value;
    useEffect(() => {
        const show = () => {
            changed.current = performance.now();
            isWaiting.current = false;
            setCalm(() => newest.current);
        };
        if (value === calm || isWaiting.current) return;
        const wait = changed.current + CALM - performance.now();
        if (wait <= 0) return show();
        isWaiting.current = true;
        void awaited(new Promise((resolve) => setTimeout(resolve, wait))).then(show);
    }, [value, calm]);
    return calm;
}
