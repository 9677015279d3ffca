// own.tsx - opens the user's own model, dropped or chosen; shows its header before the weights are read.
// Nothing is sent anywhere.
import { useEffect, useRef, useState } from 'preact/hooks';
import { engine } from '../../engine/client';
import type { FileHeader } from '../../engine/types';
import { keepModel, modelOf } from '../../state/models';
import * as t from '../../text/en';
import { Export, type Table } from '../../ui/export';
import { say } from '../../ui/readout';
import { byteText, countText } from '../../ui/units';
import { foreignText, LARGEST_FILE, readAll, readHead, shortHash } from './file';
import { show } from './show';

const words = t.models.file;
const MOST_ROWS = 300; // of tensors in the table

interface Opening {
    file: File;
    header?: FileHeader;
    done?: number; // bytes read; undefined: not begun
    problem?: string;
    isOpen?: boolean;
}

/** Why the weights will not be read; '' if they can be. */
function refusal(header: FileHeader): string {
    const foreign = foreignText(header);
    if (foreign || header.bytes <= LARGEST_FILE) return foreign;
    return words.large(byteText(header.bytes), byteText(LARGEST_FILE));
}

function useOpening() {
    const [opening, setOpening] = useState<Opening | null>(null);
    const stop = useRef<AbortController>(new AbortController());
    useEffect(() => () => stop.current.abort(), []);

    /** Runs the work unless it is stopped; a failure becomes the problem that is shown. */
    const attempt = async (start: Opening, work: (signal: AbortSignal) => Promise<Partial<Opening>>) => {
        stop.current.abort();
        stop.current = new AbortController();
        const { signal } = stop.current;
        setOpening(start);
        const found = await work(signal).catch((error: Error) => ({ problem: error.message }));
        if (signal.aborted) return;
        setOpening({ ...start, done: undefined, ...found });
        say('problem' in found && found.problem ? found.problem : words.ready(start.file.name));
    };
    const look = (file: File) =>
        attempt({ file }, async () => {
            const header = await readHead(file);
            return { header, problem: refusal(header) };
        });
    const open = (file: File, header: FileHeader) =>
        attempt({ file, header, done: 0 }, async (signal) => {
            const bytes = await readAll(file, signal, (done) => setOpening({ file, header, done }));
            const { problem } = await engine.readHeader(bytes);
            if (problem) return { problem };
            const hash = await shortHash(bytes);
            signal.throwIfAborted();
            keepModel('file', { bytes, from: { kind: 'file', name: file.name, hash } });
            await modelOf('file');
            await show('file');
            return { isOpen: true };
        });
    const cancel = () => {
        stop.current.abort();
        setOpening(null);
    };
    return { opening, look, open, cancel };
}

function headerTable({ tensors }: FileHeader): Table {
    return { columns: ['tensor', 'dtype', 'shape', 'bytes'], rows: tensors.map((x) => [x.name, x.dtype, x.shape.join(' × '), x.bytes]) };
}

function Header({ header }: { header: FileHeader }) {
    const numbers = header.tensors.reduce((sum, x) => sum + x.shape.reduce((a, b) => a * b, 1), 0);
    return (
        <>
            <dl class="facts">
                <dt>{words.size}</dt>
                <dd>{byteText(header.bytes)}</dd>
                <dt>{words.tensors}</dt>
                <dd>{countText(header.tensors.length)}</dd>
                <dt>{words.numbers}</dt>
                <dd>{countText(numbers)}</dd>
                <dt>{words.memory}</dt>
                <dd>{words.memoryIs(byteText(2 * header.bytes))}</dd>
                {Object.entries(header.metadata).map(([key, value]) => (
                    <>
                        <dt>
                            <bdi>{key.slice(0, 40)}</bdi>
                        </dt>
                        <dd>
                            <bdi>{value.length > 80 ? `${value.slice(0, 80)} …` : value}</bdi>
                        </dd>
                    </>
                ))}
            </dl>
            <details>
                <summary>{words.list(header.tensors.length, MOST_ROWS)}</summary>
                <div class="wide" tabIndex={0} role="region" aria-label={words.tensors}>
                    <table>
                        <thead>
                            <tr>
                                {words.columns.map((name) => (
                                    <th key={name} scope="col">
                                        {name}
                                    </th>
                                ))}
                            </tr>
                        </thead>
                        <tbody>
                            {header.tensors.slice(0, MOST_ROWS).map((x) => (
                                <tr key={x.name}>
                                    <th scope="row">
                                        <bdi>{x.name.slice(0, 80)}</bdi>
                                    </th>
                                    <td>{x.dtype}</td>
                                    <td>{x.shape.join(' × ')}</td>
                                    <td>{countText(x.bytes)}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            </details>
            <Export name="header" table={() => headerTable(header)} />
        </>
    );
}

function Progress({ done, of, onCancel }: { done: number; of: number; onCancel: () => void }) {
    return (
        <p class="line">
            <label>
                {words.reading} <progress value={done} max={of} />
            </label>
            <button onClick={onCancel}>{words.cancel}</button>
        </p>
    );
}

export function Own() {
    const { opening, look, open, cancel } = useOpening();
    const [isOver, setOver] = useState(false);
    const take = (files: FileList | null | undefined) => files?.[0] && void look(files[0]);
    const drop = (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
    };
    const over = (event: DragEvent) => {
        event.preventDefault();
        setOver(true);
    };
    const { file, header, done, problem, isOpen } = opening ?? {};
    return (
        <section class="panel own" aria-labelledby="own-title">
            <h3 id="own-title">{words.title}</h3>
            <div class={`drop ${isOver ? 'over' : ''}`} onDragOver={over} onDragLeave={() => setOver(false)} onDrop={drop}>
                <label>
                    {words.drop}{' '}
                    <input type="file" accept=".safetensors" onChange={(e) => { take(e.currentTarget.files); e.currentTarget.value = ''; }} />
                </label>
                <p class="quiet">{words.private(byteText(LARGEST_FILE))}</p>
            </div>
            {file && (
                <div class="opening" data-state={problem ? 'problem' : isOpen ? 'open' : done !== undefined ? 'reading' : header ? 'header' : 'begun'}>
                    <h4>
                        <bdi>{file.name}</bdi>
                    </h4>
                    {problem && <p role="alert">{problem}</p>}
                    {isOpen && <p class="good">{words.opened}</p>}
                    {done !== undefined && <Progress done={done} of={file.size} onCancel={cancel} />}
                    {header && !problem && !isOpen && done === undefined && (
                        <p class="line">
                            <button class="primary" onClick={() => void open(file, header)}>
                                {words.open}
                            </button>
                            <button onClick={cancel}>{words.cancel}</button>
                        </p>
                    )}
                    {header && <Header header={header} />}
                </div>
            )}
        </section>
    );
}
