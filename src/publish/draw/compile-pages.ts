/** Compiling the pages with Astro, in a process of its own, once for each state of their sources. */

import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, StatusError } from '../../errors.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILDS = join(ROOT, 'dist', 'renderer');
const ENTRY = join('server', 'entry.mjs');
/** What a compiled page is made of: the pages themselves, and what they import. */
const SOURCES = [
  'astro.config.mjs',
  'src/publish/draw/renderer-entry.ts',
  'src/publish/draw/policy.ts',
  'src/env.d.ts',
];
const SOURCE_FOLDERS = [
  'src/pages',
  'src/components',
  'src/layouts',
  'src/views',
  'src/looks',
  'src/model',
  'src/badges',
];
const PACKAGES = ['astro', '@astrojs/node', 'markdown-it', 'sanitize-html'];
/** What draws the files that are not pages: part of the version, so that they are drawn anew when it changes. */
const TEXT_SOURCES = [
  'files/badge-files',
  'files/calendar-text',
  'files/feed-text',
  'files/file-entry',
  'fingerprint',
  'files/html-files',
  'files/machine-files',
  'files/page-facts',
  'files/serialise',
  'files/crawler-text',
  'files/social-image',
].map((name) => `src/publish/${name}.ts`);
const TEXT_PACKAGES = ['feed', 'ical-generator', 'satori', '@resvg/resvg-js', '@fontsource/inter'];
/** A build takes about two seconds; one that takes this long hangs. */
const COMPILE_TIMEOUT_MS = 120_000;
/** Builds of other versions that are kept, for processes that still run them. */
const OLD_BUILDS_MAX = 3;
const OUTPUT_LENGTH_MAX = 4_000;

/** Where the built entry of a version is. */
export function compiledEntry(version: string): string {
  return join(BUILDS, version, ENTRY);
}

/**
 * Makes sure that the pages are compiled as their sources are now. Quick when they are. Safe in several processes at
 * once: each compiles on its own, and the first to finish wins.
 *
 * @returns the version of the sources: a hash
 * @throws PUBLISH_FAILED when they do not compile
 */
export async function compilePages(): Promise<string> {
  const version = await versionOfSources();
  if (existsSync(compiledEntry(version))) return version;
  return compiling.getOrInsertComputed(version, () => compileInto(version).finally(() => compiling.delete(version)));
}

/** Builds of this process that have not ended, by version. */
const compiling = new Map<string, Promise<string>>();

async function compileInto(version: string): Promise<string> {
  const staging = await stagingFor(version);
  try {
    await runAstroBuild(staging);
    // A temporary folder is its maker's alone, but whoever installs is seldom the user that the server runs as.
    await chmod(staging, 0o755);
    await moveIntoPlace(staging, join(BUILDS, version));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  await removeOldBuilds(version);
  return version;
}

async function stagingFor(version: string): Promise<string> {
  try {
    await mkdir(BUILDS, { recursive: true });
    return await mkdtemp(join(BUILDS, `.${version}-`));
  } catch (error) {
    throw new StatusError({
      code: 'PUBLISH_FAILED',
      message: `The pages are not compiled, and ${BUILDS} cannot be written (${messageOf(error)}). Run "npm ci" as whoever owns that folder.`,
    });
  }
}

async function versionOfSources(): Promise<string> {
  const folders = await Promise.all(SOURCE_FOLDERS.map((folder) => filesBelow(folder)));
  const paths = [...SOURCES, ...TEXT_SOURCES, ...folders.flat()].sort();
  const contents = await Promise.all(paths.map((path) => readFile(join(ROOT, path), 'utf8')));
  const packages = await Promise.all([...PACKAGES, ...TEXT_PACKAGES].map(versionOfPackage));
  const environment = [process.versions.node, process.versions['icu'], process.versions['tz']];
  const facts = JSON.stringify([environment, packages, paths.map((path, index) => [path, contents[index]])]);
  return hash('sha256', facts).slice(0, 16);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(?:astro|ts|css|mjs|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
}

const require = createRequire(import.meta.url);

/** Packages need not export their `package.json`, so it is looked for beside their folder's name. */
async function versionOfPackage(name: string): Promise<string> {
  for (const folder of require.resolve.paths(name) ?? []) {
    const path = join(folder, name, 'package.json');
    if (existsSync(path)) return (JSON.parse(await readFile(path, 'utf8')) as { version: string }).version;
  }
  return 'absent';
}

/** In a process of its own: the compiler takes 150 MB that a server should not keep. */
async function runAstroBuild(outFolder: string): Promise<void> {
  const binary = join(dirname(require.resolve('astro/package.json')), 'bin', 'astro.mjs');
  const child = spawn(process.execPath, [binary, 'build', '--silent', '--outDir', outFolder], {
    cwd: ROOT,
    timeout: COMPILE_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    // None of ours goes along: secrets live in the environment.
    env: { NODE_ENV: 'production', ASTRO_TELEMETRY_DISABLED: '1' },
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-OUTPUT_LENGTH_MAX);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (status === 0) return;
  throw new StatusError({
    code: 'PUBLISH_FAILED',
    message: `The pages do not compile; what is published stays as it is.\n${output.trim()}`,
    context: { status },
  });
}

async function moveIntoPlace(staging: string, target: string): Promise<void> {
  try {
    await rename(staging, target);
  } catch (error) {
    // Somebody else was quicker: theirs is as good.
    if (!existsSync(join(target, ENTRY))) throw error;
  }
}

async function removeOldBuilds(current: string): Promise<void> {
  const names = (await readdir(BUILDS)).filter((name) => !name.startsWith('.') && name !== current);
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(BUILDS, name))).mtimeMs })));
  const old = aged.toSorted((a, b) => b.at - a.at).slice(OLD_BUILDS_MAX);
  await Promise.all(old.map(({ name }) => rm(join(BUILDS, name), { recursive: true, force: true })));
}
