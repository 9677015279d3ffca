// export.tsx - what is seen, to take away: a picture, its numbers, and the command that gives the same.
import { useState } from 'preact/hooks';
import * as t from '../text/en';

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

async function savePicture(name: string, picture: HTMLCanvasElement | SVGSVGElement): Promise<void> {
    if (picture instanceof SVGSVGElement) save(`${name}.svg`, new Blob([standalone(picture)], { type: 'image/svg+xml' }));
    else picture.toBlob((blob) => blob && save(`${name}.png`, blob));
}

export function Export(p: ExportProps) {
    const [copied, setCopied] = useState(false);
    const copy = async () => {
        await navigator.clipboard?.writeText(p.command!);
        setCopied(true);
        setTimeout(() => setCopied(false), 2000);
    };
    return (
        <details class="export">
            <summary>{t.saving.title}</summary>
            {p.picture && (
                <button onClick={() => { const picture = p.picture!(); if (picture) void savePicture(p.name, picture); }}>{t.saving.picture}</button>
            )}
            <button onClick={() => save(`${p.name}.csv`, new Blob([csvOf(p.table())], { type: 'text/csv' }))}>CSV</button>
            <button onClick={() => save(`${p.name}.json`, new Blob([jsonOf(p.table())], { type: 'application/json' }))}>JSON</button>
            {p.command && (
                <button onClick={copy} title={p.command}>
                    {copied ? t.saving.copied : t.saving.command}
                </button>
            )}
        </details>
    );
}
