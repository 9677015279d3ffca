// hooks.ts - what pictures need to know about the page: its theme, and the space they have.
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
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
