/** What draws a kind of file follows from its imports, and from nothing that anybody lists. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { digestOfFile, readModules } from '../../../src/publish/draw/module-graph.ts';
import type { KindFacts } from '../../../src/publish/files/file-kind.ts';
import { pageFiles } from '../../../src/publish/files/files.ts';
import { siteFilesOf } from '../../../src/publish/site/site-files.ts';
import { eventful } from '../../helpers/page-scenes.ts';

const ROOT = new URL('../../../', import.meta.url);
const DRAWING = new URL('src/app/workers/drawing.ts', ROOT).href;

/** Every kind that a page or the site has files of. */
function allKinds(): KindFacts[] {
  const site = { url: 'https://s.example', name: 'S', home: null, timezone: 'UTC', locale: 'en', historyDays: 90 };
  const entries = [
    ...pageFiles(eventful(), { badges: true, redirects: { '/old/': '/' } }),
    ...siteFilesOf({ site, pages: [] }),
  ];
  return [...new Map(entries.map(({ kind }) => [kind.name, kind])).values()];
}

const kinds = allKinds();
const modules = [...new Set(kinds.map(({ module }) => module))];

/** Node's own word for what each module imports, since it has to load it. */
function loadedByNode(): ReadonlyMap<string, readonly string[]> {
  const script = fileURLToPath(new URL('test/helpers/loaded-modules.ts', ROOT));
  const output = execFileSync(process.execPath, [script, ...modules], { encoding: 'utf8' });
  return new Map(Object.entries(JSON.parse(output) as Record<string, string[]>));
}

const isOfPackage = (url: string): boolean => url.includes('/node_modules/');
const packageOf = (url: string): string =>
  /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url)?.[1] ?? url;

describe('what draws a kind of file', () => {
  const graph = readModules(DRAWING);
  const loaded = loadedByNode();

  it('is known of every kind, each in a module of its own', () => {
    expect(kinds.length).toBeGreaterThan(25);
    for (const { module, name } of kinds) {
      expect([name, module]).toEqual([name, expect.stringMatching(/\/src\/publish\/files\/kinds\/[a-z-]+\.ts$/)]);
      expect(graph.versionOf(module)).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it('is what Node loads for it: no file less, and none besides', () => {
    for (const module of modules) {
      const files = graph.filesOf(module).map((path) => pathToFileURL(path).href);
      const all = loaded.get(module) ?? [];
      expect(files.filter((url) => !isOfPackage(url)).toSorted()).toEqual(
        all.filter((url) => !isOfPackage(url)).toSorted(),
      );
      const packages = files.filter(isOfPackage).map(packageOf);
      const missing = all.filter(isOfPackage).filter((url) => !packages.includes(packageOf(url)));
      expect([module, missing]).toEqual([module, []]);
    }
  });

  it('has another version when any one of its files changes, and no kind that does not import the file has', () => {
    const before = new Map(modules.map((module) => [module, graph.versionOf(module)]));
    const files = new Set(modules.flatMap((module) => (loaded.get(module) ?? []).filter((url) => !isOfPackage(url))));
    expect(files.size).toBeGreaterThan(100);
    for (const url of files) {
      const edited = fileURLToPath(url);
      const after = readModules(DRAWING, (path) => (path === edited ? 'edited' : digestOfFile(path)));
      const changed = modules.filter((module) => after.versionOf(module) !== before.get(module));
      expect([url, changed]).toEqual([url, modules.filter((module) => loaded.get(module)?.includes(url))]);
    }
  });

  it('reads no file at run time but those of packages that it names', () => {
    const files = new Set(modules.flatMap((module) => graph.filesOf(module).filter((path) => !isOfPackage(path))));
    for (const path of files) {
      const text = readFileSync(path, 'utf8');
      const reads = [...text.matchAll(/\bread(?:File|FileSync|dir|dirSync)\((.*)/g)].map(([, from]) => from);
      for (const from of reads) expect([path, from]).toEqual([path, expect.stringMatching(/^resolve\([`']@?\w/)]);
    }
  });
});

describe('a graph of modules', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** Files by their paths, in a folder of their own; the address of the first. */
  function write(files: Readonly<Record<string, string>>): {
    readonly root: string;
    readonly put: (path: string, text: string) => void;
  } {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-modules-'));
    folders.push(folder);
    const put = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const [path, text] of Object.entries(files)) put(path, text);
    return { root: pathToFileURL(join(folder, Object.keys(files)[0] ?? '')).href, put };
  }
  const versionOf = (root: string): string => readModules(root).versionOf(root);

  const FILES = {
    'a.ts': `import { b } from './b.ts';\nexport * from './c.ts';\nimport type { T } from './types.ts';\nimport './d.js';\nimport data from './data.json' with { type: 'json' };\nimport x from 'pack/deep';\nconst late = () => import('./late.ts');`,
    'b.ts': 'export const b: Array<string> = [];',
    'c.ts': 'export const c = /from "x"/;',
    'd.js':
      "// import './unrelated.ts'\nexport const fontOf = (name, { resolve }) => resolve(`@a/font/files/${name}.woff`);",
    'late.ts': 'export {};',
    'data.json': '{}',
    'types.ts': 'export type T = 1;',
    'unrelated.ts': 'export {};',
    'node_modules/pack/package.json':
      '{"version":"1.0.0","dependencies":{"needed":"^1"},"optionalDependencies":{"absent":"1"}}',
    'node_modules/needed/package.json': '{"version":"1.0.0"}',
    'node_modules/@a/font/package.json': '{"version":"1.0.0"}',
    'node_modules/other/package.json': '{"version":"1.0.0"}',
  };

  it.each([
    ['b.ts', 'export const b: Array<string> = []; // edited', true],
    ['c.ts', 'export const c = 2;', true],
    ['d.js', 'export const d = 1;', true],
    ['late.ts', 'export const late = 1;', true],
    ['data.json', '{"a":1}', true],
    ['node_modules/pack/package.json', '{"version":"1.0.1"}', true],
    ['node_modules/needed/package.json', '{"version":"1.1.0"}', true],
    ['node_modules/@a/font/package.json', '{"version":"1.1.0"}', true],
    ['types.ts', 'export type T = 2;', false],
    ['unrelated.ts', 'export const u = 1;', false],
    ['node_modules/other/package.json', '{"version":"2.0.0"}', false],
  ])('tells whether a change of %s is one of what imports it', (path, text, isChange) => {
    const { root, put } = write(FILES);
    const before = versionOf(root);
    expect(versionOf(root)).toBe(before);
    put(path, text);
    expect(versionOf(root) !== before).toBe(isChange);
  });

  it('is the same wherever it lies', () => {
    expect(versionOf(write(FILES).root)).toBe(versionOf(write(FILES).root));
  });

  it('was read when it was made: a file that is replaced later is not what was loaded', () => {
    const { root, put } = write(FILES);
    const before = versionOf(root);
    const graph = readModules(root);
    put('b.ts', 'export const b = 3;');
    expect(graph.versionOf(root)).toBe(before);
    expect(versionOf(root)).not.toBe(before);
  });

  it('has no version for what it cannot know', () => {
    const { root } = write({
      'a.ts': "import './b.ts';",
      'b.ts': 'export const load = (name: string) => import(name);',
    });
    expect(() => versionOf(root)).toThrow('b.ts can’t be determined without running it');
    expect(() => readModules(root).versionOf(import.meta.url)).toThrow('is not among the modules that were read');
  });
});
