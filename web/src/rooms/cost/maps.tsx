// maps.tsx - weights of the same random queries and keys at each scaling and four head sizes: figure F3.
import { useAnswer } from '../../engine/answer';
import { engine } from '../../engine/client';
import { SCALES, type Scale, type Sharpness, type Tensor } from '../../engine/types';
import type { Colors } from '../../state/state';
import * as t from '../../text/en';
import { ColorBar } from '../../ui/color-bar';
import type { Drawing, Pen } from '../../ui/drawing';
import type { Table } from '../../ui/export';
import { css, Heatmap, heatmapDrawing, type HeatmapProps } from '../../ui/heatmap';
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

/** All maps in one picture, with their names. */
function sheet(found: Size[], colors: Colors): Drawing {
    const TITLE = 34;
    const maps = SCALES.map((scale) => found.map((size) => heatmapDrawing(heatmap(size, scale, colors))));
    const width = Math.max(...maps.flat().map((map) => map.width)) + 16;
    const height = Math.max(...maps.flat().map((map) => map.height)) + TITLE;
    const paintMap = (pen: Pen, r: number, c: number) => {
        pen.fillStyle = css('--ink');
        pen.font = '12px system-ui, sans-serif';
        pen.fillText(`${t.cost.sharpness.scales[SCALES[r]!]}, d_k = ${found[c]!.d_k}`, 6, 14);
        pen.fillText(note(found[c]!, SCALES[r]!), 6, 29);
        pen.translate(0, TITLE);
        maps[r]![c]!.paint(pen);
    };
    const paint = (pen: Pen) =>
        maps.forEach((row, r) =>
            row.forEach((_, c) => {
                pen.save();
                pen.translate(c * width, r * height);
                paintMap(pen, r, c);
                pen.restore();
            }),
        );
    return { width: width * SIZES.length, height: height * SCALES.length, paint };
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
