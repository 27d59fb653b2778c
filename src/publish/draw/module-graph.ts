/**
 * Finds out from imports what a module is made of. Its version changes with its own source, with everything that it imports
 * directly or indirectly, and with the packages behind these. Types don't count, because nothing of them is left at run time.
 */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ImportType, initSync, parse } from 'es-module-lexer';
import { packageFiles } from './package-files.ts';

interface ModuleGraph {
  /**
   * Returns the version of a module, a hash that is the same wherever the program is installed.
   *
   * @throws TypeError when the module can't be reached from the root, or imports something that isn't known before it runs
   */
  readonly versionOf: (module: string) => string;
  /** Paths of the files that the version is made of, sorted: sources, and `package.json` of packages. */
  readonly filesOf: (module: string) => readonly string[];
}

interface Module {
  readonly imports: readonly string[];
  readonly packageFiles: readonly string[];
  /** True: it imports a name that is computed at run time. */
  readonly hasUnknown: boolean;
}

const LEXED = new Set(['.ts', '.js', '.mjs']);

/**
 * Reads a module and everything that it imports. Call this when the process starts: files may be replaced later, but the
 * running code is what was loaded.
 *
 * @param digest returns the digest of a file; tests replace it
 */
export function readModules(root: string, digest: (path: string) => string = digestOfFile): ModuleGraph {
  const modules = new Map<string, Module>();
  const digests = new Map<string, string>();
  const note = (path: string): string => digests.getOrInsertComputed(path, digest);
  const waiting = [fileURLToPath(root)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    const module = readModule(path);
    modules.set(path, module);
    note(path);
    for (const file of module.packageFiles) note(file);
    waiting.push(...module.imports);
  }
  const filesOf = (module: string): readonly string[] => filesBehind(modules, fileURLToPath(module));
  const versions = new Map<string, string>();
  return {
    filesOf,
    versionOf: (module) =>
      versions.getOrInsertComputed(module, () =>
        versionOfDigests(filesOf(module).map((path) => digests.get(path) ?? '')),
      ),
  };
}

/** SHA-256 of a file, in hexadecimal. */
export function digestOfFile(path: string): string {
  return hash('sha256', readFileSync(path), 'hex');
}

/** Combines digests of files, in any order, with the versions of Node, ICU and the time zone data. */
export function versionOfDigests(digests: readonly string[]): string {
  const { node, icu, tz } = process.versions;
  return hash('sha256', JSON.stringify([node, icu, tz, digests.toSorted()]), 'hex').slice(0, 32);
}

function filesBehind(modules: ReadonlyMap<string, Module>, start: string): readonly string[] {
  const seen = new Set<string>();
  const files = new Set<string>();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const module = modules.get(path);
    if (module === undefined) throw new TypeError(`${path} is not among the modules that were read`);
    if (module.hasUnknown) throw new TypeError(`The imports of ${path} can’t be determined without running it`);
    files.add(path);
    for (const file of module.packageFiles) files.add(file);
    waiting.push(...module.imports);
  }
  return [...files].sort();
}

function readModule(path: string): Module {
  if (!LEXED.has(extname(path))) return { imports: [], packageFiles: [], hasUnknown: false };
  const text = readFileSync(path, 'utf8');
  initSync();
  const found = parse(text)[0].filter(({ t, ss, se }) => t !== ImportType.ImportMeta && !isOfTypes(text.slice(ss, se)));
  const named = found.flatMap(({ n }) => (n === undefined ? [] : [n]));
  const own = named.filter((name) => name.startsWith('.'));
  const others = named.filter((name) => !name.startsWith('.') && !isBuiltin(name));
  return {
    imports: own.map((name) => fileURLToPath(new URL(name, pathToFileURL(path)))),
    packageFiles: [...others, ...resolvedNames(text)].flatMap((name) => packageFiles(name, path)),
    hasUnknown: named.length < found.length,
  };
}

function isOfTypes(statement: string): boolean {
  return /^(?:import|export)\s+type\b(?!\s*(?:from\b|,))/.test(statement);
}

/** Files of packages that a module reads are resolved, not imported: `resolve('@fontsource/inter/files/…')`. */
function resolvedNames(text: string): string[] {
  return [...text.matchAll(/\bresolve\(\s*['"`]([^'"`.$/][^'"`$]*)/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
}
