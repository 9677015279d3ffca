// color-bar.tsx - the colours of a scale from its low end to its high end, with labels at the ends.
import type { Colors } from '../state/state';
import { palette } from './colors';
import { useDark } from './hooks';

export function ColorBar({ kind = 'weights', colors = 'cividis' }: { kind?: 'weights' | 'signed'; colors?: Colors }) {
    const dark = useDark();
    const paint = (canvas: HTMLCanvasElement | null) => {
        const pen = canvas?.getContext('2d');
        palette(kind, colors, dark).forEach((rgb, i) => {
            if (!pen) return;
            pen.fillStyle = `rgb(${rgb})`;
            pen.fillRect(i, 0, 1, 1);
        });
    };
    return <canvas class="color-bar" ref={paint} width="256" height="1" aria-hidden="true" />;
}
