/** A copy of the sources that a test may edit, and what imports what in them by their text alone. */

import { cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'public',
  'test/helpers',
  'package.json',
  'package-lock.json',
  'astro.config.mjs',
  'tsconfig.json',
];

/** Makes the copy, with a build of the pages that is current there too; whoever asked removes it. */
export function copyTree(buildFolder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'pharos-tree-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  cpSync(buildFolder, join(copy, relative(ROOT, buildFolder)), { recursive: true });
  return copy;
}

/** For a process that runs the sources of a copy: what it compiled is kept with them, for the next one. */
export function copyEnvironment(copy: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(copy, 'compile-cache') };
}

/** Paths of what a file of ours comes to, itself among them, types left out; whatever compilers and lexers make of it. */
export function reachedFrom(start: string): string[] {
  const seen = new Set<string>();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop())
    if (!seen.has(path)) {
      seen.add(path);
      waiting.push(...named(path));
    }
  return [...seen].toSorted();
}

function named(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  if (!/\.(astro|ts|mjs)$/.test(path)) return [];
  const found = text.matchAll(
    /\b(?:import|export)\s+(?!type\b)(?:[^'"`;()]*?\bfrom\s*)?['"](\.[^'"]+)['"]|\bimport\('(\.[^']+)'\)|<script src="(\.[^"]+)"/g,
  );
  return [...found].map(([, module, later, script]) =>
    relative(ROOT, resolve(ROOT, dirname(path), module ?? later ?? script ?? '')),
  );
}
