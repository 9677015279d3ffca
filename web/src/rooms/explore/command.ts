// command.ts - the command that prints the numbers in sight.
import { quoted, scaleOption } from '../../ui/shell';
import { headsOff, RANDOM, type Found } from './look';
import type { Choice } from './numbers';

const MOST_TRACED = 256; // words that `attn trace` takes

/** Where the weights of the model lie after the command of its badge, or as they were opened. */
function fileOf({ settings, reader }: Found): string {
    if (reader.from.kind === 'file') return quoted(reader.from.name);
    return `${settings.model}.safetensors`;
}

function attend(found: Found, c: Choice, sentence: string): string | undefined {
    const { settings: s, reader } = found;
    const isMean = c.aggregate === 'mean';
    if (s.mask === 'window' || s.mask === 'padding') return undefined;
    if (!isMean && c.aggregate !== 'head') return undefined;
    return [
        `attn attend ${fileOf(found)} ${quoted(sentence)} --layer ${c.layer + 1}`,
        ...(isMean ? [] : [`--head ${c.head + 1}`]),
        ...(s.mask === 'causal' && !reader.info!.causal ? ['--causal'] : []),
        ...(s.scale !== reader.info!.scale ? [`--scale ${s.scale}`] : []),
        ...(s.temperature !== reader.info!.temperature ? [`--temperature ${s.temperature}`] : []),
    ].join(' ');
}

/** The first layer of random weights; those after it have no command. */
function trace({ settings: s, a }: Found, c: Choice, sentence: string): string | undefined {
    if (a.look.n > MOST_TRACED || c.layer > 0 || c.aggregate !== 'head' || s.mask === 'window' || s.mask === 'padding') return undefined;
    return [
        `attn trace ${quoted(sentence)} --heads ${RANDOM.heads} --d-model ${RANDOM.d_model} --seed ${s.seed}`,
        ...(s.mask === 'causal' ? ['--causal'] : []),
        ...scaleOption(s.scale),
        ...(s.temperature !== 1 ? [`--temperature ${s.temperature}`] : []),
        `--head ${c.head + 1} --step weights`,
    ].join(' ');
}

/** None where the command line has no such setting. */
export function commandOf(found: Found, c: Choice, sentence: string): string | undefined {
    if (headsOff(found.settings.off, found.reader).length > 0) return undefined;
    return found.reader.info ? attend(found, c, sentence) : trace(found, c, sentence);
}
