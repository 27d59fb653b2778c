/** What the compiled pages are made of follows from what the build read, and from nothing that anybody lists. */

import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { astroPages, type RecordedSources, SOURCES_FILE } from '../../src/publish/draw/record-sources.ts';
import { copyEnvironment, copyTree, ROOT, reachedFrom } from '../helpers/copied-tree.ts';
import { randomOf } from '../helpers/page-model.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const PAGES = astroPages(ROOT);
const run = promisify(execFile);
let buildFolder: string;
let record: RecordedSources;

beforeAll(async () => {
  buildFolder = resolve(dirname((await compilePages()).entry), '..');
  record = JSON.parse(readFileSync(join(buildFolder, SOURCES_FILE), 'utf8')) as RecordedSources;
});

const isOurs = (path: string): boolean => !path.includes('node_modules/');

const pagesOf = (path: string): string[] =>
  PAGES.filter((kind) => reachedFrom(`src/pages/${kind}.astro`).includes(path)).toSorted();

describe('the sources that a build records', () => {
  it('are those that each page imports, and what builds them all', () => {
    expect(Object.keys(record.pages)).toEqual([...PAGES]);
    const ofAll = record.ofAll.filter(isOurs);
    const builders = [...reachedFrom('astro.config.mjs'), 'tsconfig.json', 'src/publish/draw/renderer-entry.ts'];
    expect(ofAll).toEqual(expect.arrayContaining(builders));
    for (const kind of PAGES)
      expect([kind, record.pages[kind]?.filter(isOurs)]).toEqual([
        kind,
        reachedFrom(`src/pages/${kind}.astro`).filter((path) => !ofAll.includes(path)),
      ]);
  });

  it('hold every template and style sheet that there is', () => {
    const files = ['src/pages', 'src/layouts', 'src/components'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    );
    const unused = files.filter((path) => /\.\w+$/.test(path) && record.digests[path] === undefined);
    expect(unused).toEqual([]);
  });

  it('name the packages that build', () => {
    const packages = Object.keys(record.digests).filter((path) => !isOurs(path));
    for (const name of ['astro', '@astrojs/node', 'vite', '@fontsource/inter'])
      expect(packages).toContain(`node_modules/${name}/package.json`);
  });
});

interface Drawn {
  readonly entry: string;
  readonly pages: Readonly<Record<string, { readonly version: string; readonly digest: string }>>;
}

describe('a copy of the tree', () => {
  let copy: string;
  beforeAll(() => {
    copy = copyTree(buildFolder);
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const builds = (): string[] => readdirSync(join(copy, 'dist/renderer')).toSorted();
  const draw = async (): Promise<Drawn> => {
    const { stdout } = await run(process.execPath, [join(copy, 'test/helpers/drawn-pages.ts')], {
      cwd: copy,
      env: copyEnvironment(copy),
    });
    return JSON.parse(stdout) as Drawn;
  };
  const differing = ({ pages: before }: Drawn, { pages: after }: Drawn, part: 'version' | 'digest'): string[] =>
    Object.keys(after)
      .filter((kind) => before[kind]?.[part] !== after[kind]?.[part])
      .toSorted();

  it('draws the same with the build that came along, which is current there too', async () => {
    const { entry, pages } = await draw();
    expect(relative(copy, entry)).toBe(relative(ROOT, (await compilePages()).entry));
    expect(builds()).toHaveLength(1);
    expect(Object.keys(pages).toSorted()).toEqual([...PAGES]);
  });

  const EDITS = [
    ['src/pages/report.astro', '<i>edited</i>\n'],
    ['src/components/rows/Legend.astro', '\n<style is:global>\n.edited {\n  color: red;\n}\n</style>\n'],
    ['src/layouts/frame.css', '\n.edited{color:red}\n'],
    ['src/layouts/enhance.ts', '\ndocument.body.dataset.edited = "1";\n'],
    ['src/views/days/calendar-paths.ts', '\n// edited\n'],
  ] as const;
  const random = randomOf(11);
  const more = Array.from({ length: Math.round(4 * (SCALE - 1)) }, () => random());

  it(
    'draws with another version the pages that import an edited file, and no page otherwise whose version stays',
    async () => {
      const others = Object.keys(record.digests).filter((path) => /^src\/.*\.(?:ts|astro|css)$/.test(path));
      const byChance = more.map((share) => others[Math.floor(share * others.length)] ?? '');
      const edits = [
        ...EDITS,
        ...byChance.map((path) => [path, path.endsWith('.astro') ? '<!-- edited -->\n' : '\n/* edited */\n'] as const),
      ];
      let before = await draw();
      for (const [path, text] of edits) {
        appendFileSync(join(copy, path), text);
        const after = await draw();
        const isOfAll = record.ofAll.includes(path);
        expect([path, differing(before, after, 'version')]).toEqual([path, isOfAll ? [...PAGES] : pagesOf(path)]);
        const drawnOtherwise = differing(before, after, 'digest');
        expect([path, drawnOtherwise.filter((kind) => !pagesOf(path).includes(kind))]).toEqual([path, []]);
        if (EDITS.slice(0, -1).some(([edited]) => edited === path))
          expect([path, drawnOtherwise]).not.toEqual([path, []]);
        before = after;
      }
    },
    120_000 * Math.max(1, SCALE),
  );

  it('takes up an earlier build when its sources are back', async () => {
    const before = await draw();
    const known = builds();
    const [path, text] = EDITS[4];
    const edited = readFileSync(join(copy, path), 'utf8');
    writeFileSync(join(copy, path), edited.slice(0, -text.length));
    const after = await draw();
    expect(after.entry).not.toBe(before.entry);
    expect(builds()).toEqual(known);
    writeFileSync(join(copy, path), edited);
    expect((await draw()).entry).toBe(before.entry);
  });

  it('does not compile with a style sheet that brings in what nobody would see change', async () => {
    const path = join(copy, 'src/layouts/base.css');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, `@import './tokens.css';\n${text}`);
    await expect(draw()).rejects.toThrow('base.css imports another file; import that in a component');
    writeFileSync(path, text);
  });

  it('without sources, as in a package, has the build that came along, with its versions', async () => {
    const { entry, pages } = await draw();
    const build = relative(join(copy, 'dist'), dirname(dirname(entry)));
    cpSync(join(copy, 'dist', build), join(copy, 'lib', build), { recursive: true });
    rmSync(join(copy, 'dist'), { recursive: true });
    for (const folder of ['pages', 'layouts', 'components']) rmSync(join(copy, 'src', folder), { recursive: true });
    expect(await draw()).toEqual({ entry: join(copy, 'lib', build, 'server/entry.mjs'), pages });
  });
});
