/** Templates of published pages are drawn in one go, since a page whose drawing waits takes twice the time. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../src');
/** Drawn for one visitor, when somebody subscribes or writes. */
const NEVER_PUBLISHED = ['components/rows/Picker.astro', 'components/operators/WriteField.astro'];

const templates = globSync('{components,layouts,pages}/**/*.astro', { cwd: SOURCE })
  .filter((path) => !NEVER_PUBLISHED.includes(path))
  .map((path) => {
    const [, head = '', markup = ''] = readFileSync(join(SOURCE, path), 'utf8').split(/^---$/m);
    return { path, head, markup: markup.replace(/<(script|style).*?<\/\1>/gs, '') };
  });

test('no template chooses an element by a variable, which Astro draws as a promise', () => {
  const chosen = templates.flatMap(({ path, head, markup }) => {
    const imported = [...head.matchAll(/^import (\w+) from '.*\.astro';$/gm)].map(([, name]) => name);
    const tags = [...markup.matchAll(/<([A-Z]\w*)/g)].map(([, name]) => name);
    return tags.filter((name) => name !== 'Fragment' && !imported.includes(name)).map((name) => `${path}: ${name}`);
  });
  expect(templates.length).toBeGreaterThan(50);
  expect(chosen).toEqual([]);
});

test('no template waits', () => {
  const waiting = templates.filter(({ head, markup }) => /\bawait\b/.test(head + markup));
  expect(waiting.map(({ path }) => path)).toEqual([]);
});
