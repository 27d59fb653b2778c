import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = ['docs/gates.md', 'docs/security.md', 'docs/static-hosts.md'];
const HEADING = '## Promises and their tests\n';
/** A file of tests, and the names of some that are in it. */
const QUOTE = /`(test\/[\w/.-]+\.test\.ts)` ("[^"]+"(?:, "[^"]+")*)/g;
/** What follows `it(`, or the bracket of `it.each(…)` and its like. */
const TEST_NAME = /(?:\bit|\))\(\s*(['`])((?:\\.|(?!\1)[^\\])*)\1/g;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Names of the tests in a file; `…` stands for what is filled in. */
function testNames(source: string): ReadonlySet<string> {
  const names = [...source.matchAll(TEST_NAME)].map(([, , name = '']) => name.replaceAll(/\\(.)/g, '$1'));
  return new Set(names.map((name) => name.replaceAll(/\$\{[^}]*\}|%[a-z]|\$[a-z]+/g, '…')));
}

function promisesIn(text: string): readonly string[] {
  const [, table = ''] = text.split(HEADING);
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2);
}

function quotesIn(row: string): readonly (readonly [string, string])[] {
  return [...row.matchAll(QUOTE)].flatMap(([, path = '', names = '']) =>
    [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => [path, name] as const),
  );
}

describe.each(DOCUMENTS)('what %s promises', (document) => {
  const promises = promisesIn(read(document));

  it('names a test for each promise', () => {
    expect(promises.length).toBeGreaterThan(5);
    expect(promises.filter((row) => quotesIn(row).length === 0)).toEqual([]);
    // A path in any other form would be looked at by nobody.
    const paths = promises.flatMap((row) => [...row.matchAll(/`test\//g)]).length;
    expect(promises.flatMap((row) => [...row.matchAll(QUOTE)])).toHaveLength(paths);
  });

  it('names tests that there are', () => {
    const missing = promises.flatMap(quotesIn).filter(([path, name]) => !testNames(read(path)).has(name));
    expect(missing).toEqual([]);
  });
});
