/** A change of any one source: the files with other bytes are written anew, and no others. */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { copyEnvironment, copyTree, reachedFrom } from '../helpers/copied-tree.ts';
import { randomOf } from '../helpers/page-model.ts';
import type { RedrawnFiles } from '../helpers/redrawn-files.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const run = promisify(execFile);
let copy: string;

beforeAll(async () => {
  copy = copyTree(resolve(dirname(await compilePages()), '..'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const builds = (): string[] => readdirSync(join(copy, 'dist/renderer')).toSorted();

/** On top of what was published before, if anything was. */
async function publish(before: RedrawnFiles | null): Promise<RedrawnFiles> {
  const file = join(copy, 'published.json');
  if (before !== null) writeFileSync(file, JSON.stringify(before));
  const script = join(copy, 'test/helpers/redrawn-files.ts');
  const { stdout } = await run(process.execPath, [script, ...(before === null ? [] : [file])], {
    cwd: copy,
    env: copyEnvironment(copy),
    maxBuffer: 1e8,
  });
  return JSON.parse(stdout) as RedrawnFiles;
}

/** The text of a source, what becomes of it, and a file that then has other bytes; null: none has. */
type Edit = readonly [path: string, from: string | RegExp, to: string, shownIn: string | null];

/** What shows in some file. That each source alone is part of the program's version is shown where that is made. */
const SHOWN: readonly Edit[] = [
  ['src/publish/files/feed-text.ts', "generator: 'Pharos'", "generator: 'Pharos!'", 'feed.atom'],
  ['src/looks/states.ts', '0x1f7a49', '0x1f7a4a', 'index.html'],
  ['src/model/uptime.ts', /FORMULA_VERSION = \d+/, 'FORMULA_VERSION = 99', 'api/uptime.json'],
  ['public/embed-resize.js', /$/, '\n// edited\n', '_site/embed-resize.js'],
  ['package.json', /"version": "[^"]+"/, '"version": "99.0.0"', 'build.json'],
  ['src/views/words/en.json', '"subscribe": "Subscribe"', '"subscribe": "Subscribe!"', 'index.html'],
  ['src/components/rows/ComponentRow.astro', '</style>', '.row .edited {\n  color: red;\n}\n</style>', 'index.html'],
  ['src/layouts/enhance.ts', /$/, '\ndocument.body.dataset.edited = "1";\n', 'index.html'],
];
const UNSEEN: Edit = ['src/model/time.ts', /$/, '\n// edited\n', null];

/** What is edited at once: at a smaller scale than 1 all that shows, since the pages are compiled for each step. */
const STEPS: readonly (readonly Edit[])[] = SCALE < 1 ? [SHOWN] : SHOWN.map((edit) => [edit]);

/** As many more by chance as the scale asks for; nothing that is drawn shows them. */
function editsByChance(): readonly (readonly Edit[])[] {
  const random = randomOf(13);
  const sources = reachedFrom('src/app/workers/drawing.ts').filter((path) => path.endsWith('.ts'));
  return Array.from({ length: Math.round(6 * (SCALE - 1)) }, (): readonly Edit[] => {
    const path = sources[Math.floor(random() * sources.length)] ?? '';
    return [[path, /$/, '\n// edited\n', null]];
  });
}

describe('a change of any one source', () => {
  it(
    'writes exactly the files whose bytes differ, and takes up an earlier build when its sources are back',
    async () => {
      let before = await publish(null);
      expect(before.written.length).toBeGreaterThan(120);
      expect(builds()).toHaveLength(1);
      for (const edits of [...STEPS, ...editsByChance(), [UNSEEN]]) {
        const earlier = builds();
        for (const [path, from, to] of edits) {
          const file = join(copy, path);
          const text = readFileSync(file, 'utf8');
          const edited = text.replace(from, () => to);
          expect([path, edited === text]).toEqual([path, false]);
          writeFileSync(file, edited);
        }
        const after = await publish(before);
        expect(builds()).not.toEqual(earlier);
        const paths = edits.map(([path]) => path);
        const shown = edits.flatMap(([, , , shownIn]) => shownIn ?? []);
        expect([paths, after.stale, after.needless]).toEqual([paths, [], []]);
        if (shown.length === 0) expect([paths, after.written]).toEqual([paths, []]);
        else expect([paths, after.written]).toEqual([paths, expect.arrayContaining(shown)]);
        before = after;
      }
      const [path] = UNSEEN;
      const known = builds();
      const edited = readFileSync(join(copy, path), 'utf8');
      writeFileSync(join(copy, path), edited.replace(/\n\/\/ edited\n$/, ''));
      // What was published step by step is what is published at once.
      expect((await publish(null)).bytes).toEqual(before.bytes);
      expect(builds()).toEqual(known);
    },
    240_000 * Math.max(1, SCALE),
  );
});
