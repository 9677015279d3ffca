// export.tsx - what is seen, to take away: a picture, its numbers, and the command that gives the same.
import { useState } from 'preact/hooks';
import { bytesOf } from '../engine/bytes';
import * as t from '../text/en';
import { Copy } from './copy';

export interface Table {
    columns: string[];
    rows: (string | number)[][];
}

interface ExportProps {
    /** Stem of the file names. */
    name: string;
    table: () => Table;
    /** The element that is the picture: a canvas, or an SVG. */
    picture?: () => HTMLCanvasElement | SVGSVGElement | null | undefined;
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

/** An SVG with the colours that its classes have on the page. */
function standalone(svg: SVGSVGElement): string {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    const from = svg.querySelectorAll('*');
    copy.querySelectorAll('*').forEach((element, i) => {
        const style = getComputedStyle(from[i]!);
        for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family'])
            element.setAttribute(name, style.getPropertyValue(name));
    });
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
}

type Picture = HTMLCanvasElement | SVGSVGElement;

/** The SVG in twice as many pixels as it has on the page. */
async function drawn(svg: SVGSVGElement): Promise<HTMLCanvasElement> {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(standalone(svg))}`;
    await image.decode();
    const { width, height } = svg.getBoundingClientRect();
    const canvas = Object.assign(document.createElement('canvas'), { width: 2 * width, height: 2 * height });
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
}

async function savePng(name: string, picture: Picture): Promise<void> {
    const canvas = picture instanceof SVGSVGElement ? await drawn(picture) : picture;
    // not toBlob(): it waits for a frame, which may be long in coming where nothing moves
    save(`${name}.png`, new Blob([await bytesOf(canvas.toDataURL())], { type: 'image/png' }));
}

export function Export(p: ExportProps) {
    const [isSvg, setSvg] = useState(false); // known when it is opened
    const withPicture = (act: (picture: Picture) => void) => () => {
        const picture = p.picture?.();
        if (picture) act(picture);
    };
    return (
        <details class="export" onToggle={() => setSvg(p.picture?.() instanceof SVGSVGElement)}>
            <summary>{t.saving.title}</summary>
            {p.picture && <button onClick={withPicture((picture) => void savePng(p.name, picture))}>PNG</button>}
            {isSvg && (
                <button onClick={withPicture((svg) => save(`${p.name}.svg`, new Blob([standalone(svg as SVGSVGElement)], { type: 'image/svg+xml' })))}>SVG</button>
            )}
            <button onClick={() => save(`${p.name}.csv`, new Blob([csvOf(p.table())], { type: 'text/csv' }))}>CSV</button>
            <button onClick={() => save(`${p.name}.json`, new Blob([jsonOf(p.table())], { type: 'application/json' }))}>JSON</button>
            {p.command && <Copy text={() => p.command!} label={t.saving.command} done={t.saving.copied} title={p.command} />}
            {'command' in p && !p.command && <span class="quiet">{t.saving.noCommand}</span>}
        </details>
    );
}
