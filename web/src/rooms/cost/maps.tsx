// maps.tsx - weights of the same random queries and keys at each scaling and four head sizes: figure F3.
import { useAnswer } from '../../engine/answer';
import { engine } from '../../engine/client';
import { SCALES, type Scale, type Sharpness, type Tensor } from '../../engine/types';
import type { Colors } from '../../state/state';
import * as t from '../../text/en';
import { ColorBar } from '../../ui/color-bar';
import type { Table } from '../../ui/export';
import { css, Heatmap, heatmapCanvas, type HeatmapProps } from '../../ui/heatmap';
import { say } from '../../ui/readout';
import { Picture } from './picture';

const words = t.cost.maps;
const SIZES = [4, 16, 64, 256];
const TOKENS = 8;
const NAMES = Array.from({ length: TOKENS }, (_, i) => `t${i}`);

interface Size {
    d_k: number;
    maps: Record<Scale, Tensor>;
    sharpness: Sharpness;
}

function ask(seed: number): Promise<Size[]> {
    return Promise.all(
        SIZES.map(async (d_k) => ({
            d_k,
            maps: await engine.scalingMaps(d_k, TOKENS, seed),
            sharpness: await engine.sharpness(d_k, TOKENS, 1, seed), // the same draw
        })),
    );
}

function heatmap(size: Size, scale: Scale, colors: Colors): HeatmapProps {
    return {
        label: words.label(t.cost.sharpness.scales[scale], size.d_k),
        rows: NAMES,
        columns: NAMES,
        cell: size.maps[scale].data,
        kind: 'weights',
        colors,
        largest: 22,
        onHover: (at) =>
            at && say(words.cell(t.cost.sharpness.scales[scale], size.d_k, NAMES[at.row]!, NAMES[at.column]!, size.maps[scale].data[at.row * TOKENS + at.column]!)),
    };
}

function note({ sharpness }: Size, scale: Scale): string {
    return words.note(sharpness.entropy[scale], sharpness.largest[scale]);
}

function tableOf(found: Size[]): Table {
    const rows: Table['rows'] = [];
    for (const scale of SCALES)
        for (const size of found)
            size.maps[scale].data.forEach((weight, i) => rows.push([scale, size.d_k, Math.floor(i / TOKENS), i % TOKENS, weight]));
    return { columns: ['scaling', 'd_k', 'query', 'key', 'weight'], rows };
}

/** All maps on one canvas, with their names. */
function sheet(found: Size[], colors: Colors): HTMLCanvasElement {
    const TITLE = 34;
    const cells = SCALES.map((scale) => found.map((size) => heatmapCanvas(heatmap(size, scale, colors))));
    const width = Math.max(...cells.flat().map((c) => c.width)) + 16;
    const height = Math.max(...cells.flat().map((c) => c.height)) + TITLE;
    const canvas = document.createElement('canvas');
    canvas.width = width * SIZES.length;
    canvas.height = height * SCALES.length;
    const pen = canvas.getContext('2d')!;
    pen.fillStyle = css('--ground');
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = css('--ink');
    pen.font = '12px system-ui, sans-serif';
    cells.forEach((row, r) =>
        row.forEach((map, c) => {
            pen.fillText(`${t.cost.sharpness.scales[SCALES[r]!]}, d_k = ${found[c]!.d_k}`, c * width + 6, r * height + 14);
            pen.fillText(note(found[c]!, SCALES[r]!), c * width + 6, r * height + 29);
            pen.drawImage(map, c * width, r * height + TITLE);
        }),
    );
    return canvas;
}

export function MapsView({ seed, colors }: { seed: number; colors: Colors }) {
    const { found } = useAnswer(String(seed), () => ask(seed));
    if (!found) return null;
    return (
        <Picture
            id="cost-maps"
            from={{ kind: 'random', seed }}
            command={words.command(seed)}
            table={() => tableOf(found)}
            picture={() => sheet(found, colors)}
        >
            <h3>{words.title}</h3>
            <p>
                {words.about} 0 <ColorBar colors={colors} /> 1
            </p>
            <div class="maps">
                {SCALES.map((scale) => (
                    <div class="row" key={scale}>
                        <h4>{t.cost.sharpness.scales[scale]}</h4>
                        {found.map((size) => (
                            <figure key={size.d_k}>
                                <figcaption>
                                    d_k = {size.d_k}
                                    <span class="quiet">{note(size, scale)}</span>
                                </figcaption>
                                <Heatmap {...heatmap(size, scale, colors)} />
                            </figure>
                        ))}
                    </div>
                ))}
            </div>
            <p>{words.lesson}</p>
        </Picture>
    );
}
