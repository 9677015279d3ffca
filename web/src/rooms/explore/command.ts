// command.ts - the command that prints the numbers of a picture.
import type { Mask } from '../../engine/types';
import { quoted, scaleOption } from '../../ui/shell';
import { type Found, headsOff, type Settings } from './look';
import type { Choice } from './numbers';

/** What of a look is drawn, as `attn attend --show` calls it. */
export interface Picture {
    show: 'map' | 'heads' | 'entropy' | 'product' | 'positions' | 'parameters' | 'shift';
    choice: Choice;
    at: number; // the row in question
    key?: number; // of a product
    mask?: Mask; // if not the one that is set
    compare?: string; // the sentence whose map is subtracted, or whose tokens are shown as well
}

/** Where the weights of the model lie after the command of its badge, or as they were opened. */
function fileOf({ settings, reader }: Found): string {
    if (reader.from.kind === 'file') return quoted(reader.from.name);
    return `${settings.model}.safetensors`;
}

function shownBy({ show, choice: c, at, key }: Picture): string[] {
    const layer = `--layer ${c.layer + 1}`;
    const head = `--head ${c.head + 1}`;
    const token = `--at ${at + 1}`;
    if (show === 'product') return ['--show product', layer, head, token, `--key ${key! + 1}`];
    if (show === 'positions' || show === 'parameters') return [`--show ${show}`, token];
    if (show !== 'map') return [`--show ${show}`];
    if (c.aggregate === 'head') return [layer, head];
    if (c.aggregate === 'mean') return [layer];
    const how = `--aggregate ${c.aggregate}`;
    if (c.aggregate === 'rollout') return [how];
    return [layer, how, ...(c.aggregate === 'gradient' ? [token] : [])];
}

function maskedBy(mask: Mask, { window, padding }: Settings, isCausal: boolean): string[] {
    if (mask === 'window') return [`--window ${window}`];
    if (mask === 'padding') return [`--padding ${padding}`];
    return mask === 'causal' && !isCausal ? ['--causal'] : [];
}

/** What is not as the model was trained. A scale of its own is called none, so that none is always said. */
function changed({ settings: s, reader }: Found, mask: Mask): string[] {
    const { info } = reader;
    const off = headsOff(s.off, reader).map((i) => `${Math.floor(i / reader.heads) + 1}.${(i % reader.heads) + 1}`);
    return [
        ...maskedBy(mask, s, info?.causal ?? false),
        ...(!info ? scaleOption(s.scale) : s.scale !== info.scale || s.scale === 'none' ? [`--scale ${s.scale}`] : []),
        ...(s.temperature !== (info?.temperature ?? 1) ? [`--temperature ${s.temperature}`] : []),
        ...(off.length > 0 ? [`--off ${off.join(',')}`] : []),
    ];
}

export function commandOf(found: Found, sentence: string, picture: Picture): string {
    const { settings, reader } = found;
    const read = reader.info ? [fileOf(found), quoted(sentence)] : [quoted(sentence), `--random --seed ${settings.seed}`];
    const other = picture.compare ? [`--compare ${quoted(picture.compare)}`] : [];
    return ['attn attend', ...read, ...shownBy(picture), ...changed(found, picture.mask ?? settings.mask), ...other].join(' ');
}
