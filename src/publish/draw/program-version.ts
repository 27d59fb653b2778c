/**
 * One version for everything that published files are made with. As long as it and the inputs of a file stay the same, so do the
 * file's bytes. A package has one version, recorded when it was packed. In a checkout, every edit of a source makes another: all
 * files are then rendered again, and those that come out as they were aren't written.
 */

import { hash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OwnComponents } from './own-components.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const IS_PACKAGE = import.meta.filename.endsWith('.js');
/** Compiled pages, in a folder for each version of the sources. A package has one. */
export const BUILDS = join(ROOT, IS_PACKAGE ? 'lib' : 'dist', 'renderer');

/** What a checkout publishes with, files and folders. `test/unit/publish/program-version.test.ts` fails if a module is missing. */
const SOURCES = [
  ...['astro.config.mjs', 'package.json', 'package-lock.json', 'tsconfig.json', 'src/errors.ts', 'src/once.ts'],
  ...'badges components layouts looks model pages publish schema store transparency views'.split(' '),
];

/** The version of the program on this Node, which includes an operator's own components. */
export function programVersion(own: OwnComponents | null): string {
  const { node, icu, tz } = process.versions;
  return digest([sourcesVersion(own), node, `${icu}`, `${tz}`]);
}

/** The version of the sources alone, which the pages are compiled from. Empty: this package has no compiled pages. */
export function sourcesVersion(own: OwnComponents | null): string {
  const version = IS_PACKAGE
    ? (existsSync(BUILDS) ? readdirSync(BUILDS) : []).join()
    : digest(digestsOf(ROOT, SOURCES.flatMap(sourcesAt)));
  if (own === null) return version;
  const paths = globSync('**/*.*', { cwd: own.folder, exclude: ['**/node_modules'] });
  return digest([version, own.folder, ...digestsOf(own.folder, paths)]);
}

/** As a glob finds them, in a tenth of its time. */
function sourcesAt(name: string): string[] {
  if (name.includes('.')) return [name];
  const paths = readdirSync(join(ROOT, 'src', name), { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => /^[^.].*\./.test(basename(path))).map((path) => join('src', name, path));
}

/** Paths and digests of files. */
function digestsOf(folder: string, paths: readonly string[]): string[] {
  return paths.toSorted().map((path) => `${path} ${hash('sha256', readFileSync(join(folder, path)), 'hex')}`);
}

function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
}
