/**
 * Puts into `lib/` what the package runs and a checkout does not: JavaScript with source maps, types of what can be imported,
 * migrations, the compiled pages, and packages that npm would warn of. `npm pack` calls it first.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { compilePages } from '../src/publish/draw/compile-pages.ts';

const ROOT = resolve(import.meta.dirname, '..');
const LIB = join(ROOT, 'lib');
const COMPILER = join(ROOT, 'node_modules', '.bin', 'tsc');

/**
 * Packages that need a newer Node than npm may be running on. Pharos runs on Node 26 in any case, but npm does not know that:
 * as dependencies they would make `npm install` under Node 20 warn of each. So they come along, with what they need. For npm
 * they are development dependencies, and `test/unit/packages.test.ts` finds those that are missing here.
 */
const EMBEDDED = ['commander', 'cookie', 'ical-generator', 'pino-pretty', 'sanitize-html', 'undici'];
/** What runs and what has to be said; not tests, documents and types. */
const KEPT = new Set(['.js', '.cjs', '.mjs', '.json', '.wasm']);
const LEFT_OUT =
  /\/(?:\.github|benchmarks?|docs?|examples?|fixtures?|tests?|types|typings|node_modules|dayjs\/(?:esm|locale|plugin))$/;

rmSync(LIB, { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.types.json'])
  execFileSync(COMPILER, ['-p', project], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
inlineWords(join('views', 'words'));
for (const file of globSync('store/migrations/*.sql', { cwd: join(ROOT, 'src') }))
  cpSync(join(ROOT, 'src', file), join(LIB, file));
const build = dirname(dirname(await compilePages()));
cpSync(build, join(LIB, 'renderer', basename(build)), { recursive: true });
const embedded = new Set<string>();
for (const name of EMBEDDED) addPackage(name, ROOT);
for (const folder of embedded) embed(folder);

/** Writes the English words into the types, since not every project that imports those lets TypeScript read JSON. */
function inlineWords(folder: string): void {
  const types = join(LIB, folder, 'index.d.ts');
  const words = readFileSync(join(ROOT, 'src', folder, 'en.json'), 'utf8');
  const text = readFileSync(types, 'utf8');
  writeFileSync(
    types,
    text.replace("import en from './en.json';", () => `declare const en: ${words.trimEnd()};`),
  );
}

/** Adds a package and the packages that it depends on, as far as they are installed. */
function addPackage(name: string, from: string): void {
  const folder = findPackage(name, from);
  if (folder === null || embedded.has(folder)) return;
  embedded.add(folder);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies?: object;
    readonly optionalDependencies?: object;
  };
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) addPackage(needed, folder);
}

/** Searches where Node does. Packages needn’t export their `package.json`, so it can’t be resolved. */
function findPackage(name: string, from: string): string | null {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  return dirname(from) === from ? null : findPackage(name, dirname(from));
}

function embed(folder: string): void {
  const target = join(LIB, relative(ROOT, folder));
  cpSync(folder, target, {
    recursive: true,
    filter: (path) =>
      path === folder ||
      (KEPT.has(extname(path)) && !/\.test\.|^test/.test(basename(path))) ||
      /licen[cs]e/i.test(basename(path)) ||
      (extname(path) === '' && !LEFT_OUT.test(path)),
  });
}
