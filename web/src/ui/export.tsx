// export.tsx - saves what is shown: a picture, its numbers, and the command that prints the same numbers.
import { bytesOf } from '../engine/bytes';
import * as t from '../text/en';
import { Copy } from './copy';
import { type Drawing, paintOn, svgOf } from './drawing';

export interface Table {
    columns: string[];
    rows: (string | number)[][];
}

/** An SVG of the page, or what is drawn on a canvas of it. */
export type Picture = SVGSVGElement | Drawing;

export interface ExportProps {
    /** Stem of the file names. */
    name: string;
    table: () => Table;
    picture?: () => Picture | null | undefined;
    command?: string;
}

const LONGEST_START = 60_000; // milliseconds; a busy browser may begin to read the file seconds later

export function save(name: string, blob: Blob): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), LONGEST_START);
}

const quoted = (x: string | number) => (/[",\n]/.test(String(x)) ? `"${String(x).replaceAll('"', '""')}"` : String(x));

export function csvOf(table: Table): string {
    return [table.columns, ...table.rows].map((row) => row.map(quoted).join(',')).join('\n') + '\n';
}

export function jsonOf(table: Table): string {
    const rows = table.rows.map((row) => Object.fromEntries(table.columns.map((name, i) => [name, row[i]])));
    return JSON.stringify(rows, null, 1) + '\n';
}

const ground = () => getComputedStyle(document.body).backgroundColor;

/** An SVG with the colours that its classes have on the page. */
function standalone(svg: SVGSVGElement): SVGSVGElement {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const from = svg.querySelectorAll('*');
    copy.querySelectorAll('*').forEach((element, i) => {
        const style = getComputedStyle(from[i]!);
        for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family'])
            element.setAttribute(name, style.getPropertyValue(name));
    });
    copy.style.background = ground();
    return copy;
}

/** The drawing on the ground of the page. */
function grounded({ width, height, paint }: Drawing): Drawing {
    const paintAll: Drawing['paint'] = (pen) => {
        pen.fillStyle = ground();
        pen.fillRect(0, 0, width, height);
        paint(pen);
    };
    return { width, height, paint: paintAll };
}

function svgText(picture: Picture): string {
    return new XMLSerializer().serializeToString(picture instanceof SVGSVGElement ? standalone(picture) : svgOf(grounded(picture)));
}

/** The SVG in twice as many pixels as it has on the page. */
async function enlarged(svg: SVGSVGElement): Promise<HTMLCanvasElement> {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(svgText(svg))}`;
    await image.decode();
    const { width, height } = svg.getBoundingClientRect();
    const canvas = Object.assign(document.createElement('canvas'), { width: 2 * width, height: 2 * height });
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
}

function painted(drawing: Drawing): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    paintOn(canvas, grounded(drawing));
    return canvas;
}

async function savePng(name: string, picture: Picture): Promise<void> {
    const canvas = picture instanceof SVGSVGElement ? await enlarged(picture) : painted(picture);
    // not toBlob(): it waits for a frame, which may be long in coming where nothing moves
    save(`${name}.png`, new Blob([await bytesOf(canvas.toDataURL())], { type: 'image/png' }));
}

const saveSvg = (name: string, picture: Picture) => save(`${name}.svg`, new Blob([svgText(picture)], { type: 'image/svg+xml' }));

export function Export(p: ExportProps) {
    const withPicture = (act: (name: string, picture: Picture) => unknown) => () => {
        const picture = p.picture?.();
        if (picture) act(p.name, picture);
    };
    return (
        <details class="export">
            <summary>{t.saving.title}</summary>
            {p.picture && <button onClick={withPicture(savePng)}>PNG</button>}
            {p.picture && <button onClick={withPicture(saveSvg)}>SVG</button>}
            <button onClick={() => save(`${p.name}.csv`, new Blob([csvOf(p.table())], { type: 'text/csv' }))}>CSV</button>
            <button onClick={() => save(`${p.name}.json`, new Blob([jsonOf(p.table())], { type: 'application/json' }))}>JSON</button>
            {p.command && <Copy text={() => p.command!} label={t.saving.command} done={t.saving.copied} title={p.command} />}
            {'command' in p && !p.command && <span class="quiet">{t.saving.noCommand}</span>}
        </details>
    );
}
