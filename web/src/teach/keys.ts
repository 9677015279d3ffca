// keys.ts - the single-key shortcuts, which can be switched off.
import { useEffect } from 'preact/hooks';
import { ROOMS } from '../state/state';
import { store } from '../state/store';
import { isTyping } from '../ui/typing';
import { setPresent } from './moves';
import { help, startTour } from './opened';
import { recall, remember } from './session';

let isOn = recall('singleKeys', true);

export const singleKeys = {
    areOn: () => isOn,
    turn(on: boolean): void {
        isOn = on;
        remember('singleKeys', on);
    },
};

function act(key: string): boolean {
    const room = ROOMS[Number(key) - 1];
    if (room) store.set((s) => void (s.room = room));
    else if (key === '?') help.open('keys');
    else if (key === 'g') help.open('glossary');
    else if (key === 't') startTour();
    else if (key === 'p') setPresent(!store.get().present);
    else return false;
    return true;
}

export function useShortcuts(): void {
    useEffect(() => {
        const key = (event: KeyboardEvent) => {
            if (!isOn || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event)) return;
            if (!document.querySelector('dialog:modal') && act(event.key.toLowerCase())) event.preventDefault();
        };
        window.addEventListener('keydown', key);
        return () => window.removeEventListener('keydown', key);
    }, []);
}
