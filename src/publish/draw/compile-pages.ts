/** Compiles the pages with Astro in a separate process, once for each version of their sources. */

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import { messageOf, StatusError } from '../../errors.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { digestOfFile, versionOfDigests } from './module-graph.ts';
import {
  BUILD_CACHE_VARIABLE,
  OWN_COMPONENTS_VARIABLE,
  OWN_PLACE,
  type OwnComponents,
  ownParts,
} from './own-components.ts';
import { astroPages, type RecordedSources, SOURCES_FILE } from './record-sources.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The package includes compiled pages. It has their sources only for building own components. */
const IS_COMPILED = import.meta.filename.endsWith('.js') || astroPages(ROOT).length === 0;
const BUILDS = join(ROOT, IS_COMPILED ? 'lib' : 'dist', 'renderer');
const ENTRY = join('server', 'entry.mjs');
/** Temporary folder of a build. */
const CACHE = '.cache';
/** A build takes about two seconds; one that takes this long hangs. */
const COMPILE_TIMEOUT_MS = 120_000;
/** Number of older builds to keep, for processes that still run them. */
const OLD_BUILDS_MAX = 3;
const OUTPUT_LENGTH_MAX = 4_000;

/** A build of the pages. */
interface CompiledPages {
  /** Path of the built entry. */
  readonly entry: string;
  /** Version of one Astro page: a hash of what it was made from. */
  readonly versionOf: (page: string) => string;
  /** Version of all pages together. */
  readonly version: string;
}

/**
 * Returns compiled pages that match their current sources, including an operator's own components. Compiles them if needed.
 * Safe to call from several processes at once: each compiles on its own, and the first to finish wins.
 *
 * @throws PUBLISH_FAILED when they do not compile
 */
export async function compilePages(own: OwnComponents | null = null): Promise<CompiledPages> {
  const current = currentBuild(own);
  if (current !== null) return current;
  if (own === null && IS_COMPILED) throw incomplete();
  if (own !== null && astroPages(ROOT).length === 0) throw withoutSources();
  const builds = own?.builds ?? BUILDS;
  const mine = compiling.get(builds) ?? compile(own, builds).finally(() => compiling.delete(builds));
  compiling.set(builds, mine);
  return mine;
}

/** Builds in progress in this process, by their target folder. */
const compiling = new Map<string, Promise<CompiledPages>>();

function incomplete(): StatusError {
  return new StatusError({
    code: 'PUBLISH_FAILED',
    message: `This copy of Pharos is incomplete: it has no compiled pages in ${BUILDS}. Install it again from the package that "npm pack" makes.`,
  });
}

function withoutSources(): StatusError {
  return refused(
    `site.components needs the sources of the pages, which ${ROOT} doesn’t have. Use a package or checkout that includes them, or remove site.components.`,
  );
}

function refused(message: string): StatusError {
  return new StatusError({ code: 'CONFIG_INVALID', message, issues: [{ path: 'site.components', message }] });
}

async function compile(own: OwnComponents | null, builds: string): Promise<CompiledPages> {
  const staging = await makeStaging(builds);
  try {
    await runAstroBuild(staging, own);
    await rm(join(staging, CACHE), { recursive: true, force: true });
    // Temporary folders are readable by their creator only, but the user who installs is often not the one who runs the server.
    await chmod(staging, 0o755);
    const record = JSON.parse(await readFile(join(staging, SOURCES_FILE), 'utf8')) as RecordedSources;
    const name = fingerprintOf(record).slice(0, 16);
    await moveIntoPlace(staging, join(builds, name));
    await removeOldBuilds(builds, name);
    return buildAt(join(builds, name), record);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Returns the build that matches the current sources; null: none. In a package, this is the included build, unless there are
 * own components.
 */
function currentBuild(own: OwnComponents | null): CompiledPages | null {
  const builds = own?.builds ?? BUILDS;
  const parts = own === null ? [] : [own.folder, ...ownParts(own.folder)];
  const pages = astroPages(ROOT);
  const digests = new Map<string, string | null>();
  const isAsBefore = ([path, digest]: readonly [string, string]): boolean =>
    digests.getOrInsertComputed(path, () => digestNow(join(ROOT, path))) === digest;
  const isCurrent = (record: RecordedSources): boolean =>
    isDeepStrictEqual([Object.keys(record.pages), record.parts], [pages, parts]) &&
    Object.entries(record.digests).every(isAsBefore);
  for (const name of existsSync(builds) ? readdirSync(builds) : []) {
    const folder = join(builds, name);
    const record = name.startsWith('.') ? null : recordOf(folder);
    if (record !== null && ((IS_COMPILED && own === null) || isCurrent(record))) return buildAt(folder, record);
  }
  return null;
}

/** Null: the build doesn't match, or it is broken. */
function recordOf(folder: string): RecordedSources | null {
  try {
    return JSON.parse(readFileSync(join(folder, SOURCES_FILE), 'utf8')) as RecordedSources;
  } catch {
    return null;
  }
}

function digestNow(path: string): string | null {
  try {
    return digestOfFile(path);
  } catch {
    // It is gone, so what was made of it is no longer current.
    return null;
  }
}

function buildAt(folder: string, { digests, ofAll, pages }: RecordedSources): CompiledPages {
  const versions = new Map<string, string>();
  return {
    entry: join(folder, ENTRY),
    version: versionOfDigests(Object.values(digests)),
    versionOf: (page) =>
      versions.getOrInsertComputed(page, () => {
        const own = pages[page];
        if (own === undefined) throw new TypeError(`There is no page ${page} in ${folder}`);
        return versionOfDigests([...ofAll, ...own].map((path) => digests[path] ?? ''));
      }),
  };
}

async function makeStaging(builds: string): Promise<string> {
  try {
    await mkdir(builds, { recursive: true });
    return await mkdtemp(join(builds, '.next-'));
  } catch (error) {
    throw new StatusError({
      code: 'PUBLISH_FAILED',
      message: `The pages are not compiled, and ${builds} is not writable (${messageOf(error)}). Run "npm ci" as the owner of that folder.`,
    });
  }
}

const require = createRequire(import.meta.url);

/** Compiles in a separate process, because the compiler takes 150 MB that a server should not keep. */
async function runAstroBuild(outFolder: string, own: OwnComponents | null): Promise<void> {
  const binary = join(astroFolder(), 'bin', 'astro.mjs');
  const cache = join(outFolder, CACHE);
  if (own !== null) await mkdir(cache);
  // Astro writes into its project, and the installed folder may not be writable. So the project is elsewhere, and its sources
  // are here.
  const place = own === null ? [] : ['--root', cache, '--config', relative(cache, join(ROOT, 'astro.config.mjs'))];
  const child = spawn(process.execPath, [binary, 'build', '--silent', '--outDir', outFolder, ...place], {
    cwd: ROOT,
    timeout: COMPILE_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Our environment has secrets, so none of it is passed on.
    env: {
      NODE_ENV: 'production',
      ASTRO_TELEMETRY_DISABLED: '1',
      ...(own === null ? {} : { [OWN_COMPONENTS_VARIABLE]: own.folder, [BUILD_CACHE_VARIABLE]: cache }),
    },
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
    message: `The pages don’t compile. The published pages stay as they are.\n${withOwnPaths(output.trim(), own)}`,
    context: { status },
  });
}

/** Astro is an optional peer of the package: only building own components needs it. */
function astroFolder(): string {
  const astro = manifestOf('astro');
  if (!IS_COMPILED) {
    if (astro !== null) return dirname(astro);
    throw new StatusError({
      code: 'PUBLISH_FAILED',
      message:
        'The pages are not compiled, and Astro is not installed. In a checkout run "npm ci" with development dependencies; a server needs the package that "npm pack" makes.',
    });
  }
  const wanted = Object.entries(packageJson.peerDependencies);
  const wrong = wanted.filter(([name, version]) => versionAt(manifestOf(name)) !== version).map(([name]) => name);
  if (astro !== null && wrong.length === 0) return dirname(astro);
  const command = wanted.map(([name, version]) => `${name}@${version}`).join(' ');
  throw refused(
    `Own components are built with ${wanted.map(([name]) => name).join(' and ')}, and ${wrong.join(' and ')} is missing or of another version. Run "npm install ${command}" where Pharos is installed.`,
  );
}

/** Null: it is not installed. */
function manifestOf(name: string): string | null {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return null;
  }
}

function versionAt(manifest: string | null): string | null {
  if (manifest === null) return null;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  return version;
}

/** Replaces build paths by the real paths of an operator's files. */
function withOwnPaths(output: string, own: OwnComponents | null): string {
  if (own === null) return output;
  const [told = ''] = output.split(/\n\s*Stack trace:/);
  return told.replaceAll(join(ROOT, OWN_PLACE), own.folder).replaceAll(OWN_PLACE, own.folder);
}

async function moveIntoPlace(staging: string, target: string): Promise<void> {
  try {
    await rename(staging, target);
  } catch (error) {
    // Another process was faster; its build is the same.
    if (!existsSync(join(target, ENTRY))) throw error;
  }
}

async function removeOldBuilds(builds: string, current: string): Promise<void> {
  const names = (await readdir(builds)).filter((name) => !name.startsWith('.') && name !== current);
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(builds, name))).mtimeMs })));
  const old = aged.toSorted((a, b) => b.at - a.at).slice(OLD_BUILDS_MAX);
  await Promise.all(old.map(({ name }) => rm(join(builds, name), { recursive: true, force: true })));
}
