// models.tsx - the room Models: the models that come with the page, those trained or opened here, and a
// place to drop the user's own files.
import { useAnswer } from '../../engine/answer';
import { BUNDLED, keptModel, modelOf } from '../../state/models';
import type { State } from '../../state/state';
import * as t from '../../text/en';
import { Badge } from '../../ui/badge';
import { byteText, countText } from '../../ui/units';
import './models.css';
import { Own } from './own';
import { show } from './show';
import { Try, useVersion } from './try';

const words = t.models;

function Card({ name, version, isChosen }: { name: string; version: number; isChosen: boolean }) {
    const { found, error } = useAnswer(`${name} ${version}`, () => modelOf(name));
    const bundled = BUNDLED.find((b) => b.name === name);
    const task = found?.info.task ?? name;
    const about = (words.about as Record<string, { task: string; learned: string }>)[task];
    const facts: [string, string][] = found
        ? [
              [words.facts.parameters, countText(found.info.parameters)],
              [words.facts.shape, words.facts.shapeIs(found.info.layers, found.info.heads, found.info.d)],
              [words.facts.length, words.facts.lengthIs(found.info.length, found.info.words.length)],
              [words.facts.size, byteText(found.size)],
              [words.facts.trained, words.facts.trainedIs(found.info.steps, found.info.seed)],
          ]
        : [];
    return (
        <article class={`panel ${isChosen ? 'chosen' : ''}`} data-model={name}>
            <h3>{words.names[name as keyof typeof words.names] ?? name}</h3>
            {error && <p role="alert">{error}</p>}
            {about && <p>{about.task}</p>}
            {about && bundled && <p>{about.learned}</p>}
            <dl class="facts">
                {facts.map(([key, value]) => (
                    <>
                        <dt>{key}</dt>
                        <dd>{value}</dd>
                    </>
                ))}
            </dl>
            {found && <Badge from={found.from} />}
            <p class="line">
                <button aria-pressed={isChosen} onClick={() => void show(name)}>
                    {words.choose}
                </button>
                <button class="primary" onClick={() => void show(name, 'explore')}>
                    {words.open}
                </button>
            </p>
        </article>
    );
}

export function Models({ state }: { state: State }) {
    const version = useVersion();
    const names = [...BUNDLED.map((b) => b.name), ...['trained', 'file'].filter((name) => keptModel(name))];
    return (
        <div class="room models">
            <h2>{words.title}</h2>
            <p class="intro">{words.intro}</p>
            {names.length === 0 && <p>{words.none}</p>}
            <div class="cards">
                {names.map((name) => (
                    <Card key={name} name={name} version={version} isChosen={name === state.model} />
                ))}
            </div>
            {names.includes(state.model) && <Try state={state} />}
            <Own />
        </div>
    );
}
