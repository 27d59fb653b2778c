/** The one version of the program changes with everything that files are made with, and with nothing else. */

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as ProgramVersion from '../../../src/publish/draw/program-version.ts';
import { reachedFrom } from '../../helpers/copied-tree.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const MODULE = 'src/publish/draw/program-version.ts';
const copies: string[] = [];
let program: typeof ProgramVersion;
let copy: string;

/** Another copy of what a checkout has, and the module that reads it. */
async function copySources(): Promise<[string, typeof ProgramVersion]> {
  const target = mkdtempSync(join(tmpdir(), 'pharos-version-'));
  copies.push(target);
  for (const name of ['src', 'astro.config.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(target, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  return [target, (await import(pathToFileURL(join(target, MODULE)).href)) as typeof ProgramVersion];
}

beforeAll(async () => {
  [copy, program] = await copySources();
});
afterAll(() => {
  for (const one of copies) rmSync(one, { recursive: true });
});

/** Those that the version does not change with, of files of the copy. */
function withoutPart(paths: Iterable<string>): string[] {
  const before = program.programVersion(null);
  const others = [...paths].filter((path) => editedVersion(path) === before);
  expect(program.programVersion(null)).toBe(before);
  return others;
}

function editedVersion(path: string): string {
  const text = readFileSync(join(copy, path));
  appendFileSync(join(copy, path), ' ');
  const after = program.programVersion(null);
  writeFileSync(join(copy, path), text);
  return after;
}

/** Everything of ours that Node loads to make files and to read what they are made from. */
function loadedByNode(): string[] {
  const script = join(ROOT, 'test/helpers/loaded-modules.ts');
  const modules = ['src/app/workers/drawing.ts', 'src/publish/page-inputs.ts', 'src/publish/draw/renderer.ts'];
  const addresses = modules.map((path) => pathToFileURL(join(ROOT, path)).href);
  const loaded = JSON.parse(execFileSync(process.execPath, [script, ...addresses], { encoding: 'utf8' })) as object;
  const paths = Object.values(loaded).flatMap((urls: string[]) =>
    urls.map((url) => relative(ROOT, fileURLToPath(url))),
  );
  return [...new Set(paths)].filter((path) => !path.startsWith('node_modules/'));
}

describe('the version of a checkout', () => {
  it('is the same wherever the checkout is', async () => {
    const [, other] = await copySources();
    expect(other.programVersion(null)).toBe(program.programVersion(null));
    expect(program.programVersion(null)).toMatch(/^[0-9a-f]{16}$/);
  });

  it('changes with every module that makes files', () => {
    const paths = loadedByNode().filter((path) => path !== 'src/app/workers/drawing.ts');
    expect(paths.length).toBeGreaterThan(120);
    expect(withoutPart(paths)).toEqual([]);
  });

  it('changes with every template, style sheet and script of the pages, and with what compiles them', () => {
    const pages = readdirSync(join(ROOT, 'src/pages')).filter((name) => name.endsWith('.astro'));
    expect(pages.length).toBeGreaterThan(10);
    const starts = [
      ...pages.map((name) => `src/pages/${name}`),
      'astro.config.mjs',
      'tsconfig.json',
      'package-lock.json',
    ];
    const paths = new Set(starts.flatMap(reachedFrom));
    expect(withoutPart(paths)).toEqual([]);
  });

  it('stays with what makes no files', () => {
    const paths = ['src/server/front-door.ts', 'src/cli/main.ts', 'src/sync/pass/pass.ts', 'src/app/compose.ts'];
    expect(withoutPart(paths)).toEqual(paths);
  });

  it('changes when a file is added, renamed or removed', () => {
    const path = join(copy, 'src/components/Another.astro');
    const version = () => program.programVersion(null);
    const seen = [version()];
    writeFileSync(path, '<p>x</p>');
    seen.push(version());
    rmSync(path);
    writeFileSync(join(copy, 'src/components/Renamed.astro'), '<p>x</p>');
    seen.push(version());
    expect(new Set(seen).size).toBe(3);
    rmSync(join(copy, 'src/components/Renamed.astro'));
    expect(version()).toBe(seen[0]);
  });
});

describe('an operator’s own components', () => {
  it('are part of the version, with the files that they import, but not with their packages', () => {
    const folder = join(copy, 'own');
    const own = { folder, builds: join(copy, 'builds') };
    const put = (path: string, text: string): string => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      return program.programVersion(own);
    };
    const first = put('Banner.astro', '<p>1</p>');
    const seen = [
      program.programVersion(null),
      first,
      put('Banner.astro', '<p>2</p>'),
      put('small/Sail.astro', '<i/>'),
    ];
    expect(new Set(seen).size).toBe(4);
    expect(put('node_modules/x/index.js', '1')).toBe(seen.at(-1));
  });
});
