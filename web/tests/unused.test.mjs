// unused.test.mjs - every string of src/text and every class of the sheets is a word of the sources that use
// them. A word that stands there for something else hides an unused one: no proof, but it finds most.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(SOURCES, { recursive: true }).filter((name) => /\.(tsx?|css)$/.test(name));
const textOf = (wanted) => files.filter(wanted).map((name) => readFileSync(join(SOURCES, name), 'utf8')).join('\n');
const isText = (name) => name.startsWith(`text${sep}`);
const code = textOf((name) => !name.endsWith('.css') && !isText(name));
const words = new Set(code.match(/[\w-]+/g));
const made = /^s\d$/; // `s${series}`
const unused = (names) => [...new Set(names)].filter((name) => !words.has(name) && !made.test(name)).sort();

test('every string is used', () => {
    const keys = Array.from(textOf(isText).matchAll(/(?:^\s+|[{,] |export const |export function )([a-zA-Z_]\w*)(?:: (?!boolean|number|string)|,$| = |\()/gm), ([, key]) => key);
    assert.ok(keys.length > 300, 'the keys are found');
    assert.deepEqual(unused(keys), []);
});

test('every class is used', () => {
    const sheets = textOf((name) => name.endsWith('.css')).replace(/\/\*[^]*?\*\//g, '');
    const classes = Array.from(sheets.matchAll(/\.([a-z][\w-]*)(?=[^{}]*\{)/g), ([, name]) => name);
    assert.ok(classes.length > 100, 'the classes are found');
    assert.deepEqual(unused(classes), []);
});
