/** Compiles the pages with Astro in a separate process, once for each version of their sources. */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire, getCompileCacheDir } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { messageOf, StatusError } from '../../errors.ts';
import {
  BUILD_CACHE_VARIABLE,
  OWN_COMPONENTS_VARIABLE,
  OWN_PLACE,
  type OwnComponents,
  ownParts,
} from './own-components.ts';
import { BUILDS, IS_PACKAGE, ROOT, sourcesVersion } from './program-version.ts';

const ENTRY = join('server', 'entry.mjs');
/** Temporary folder of a build. */
const CACHE = '.cache';
/** A build takes about two seconds; one that takes this long hangs. */
const COMPILE_TIMEOUT_MS = 120_000;
/** Number of older builds to keep, for processes that still run them. */
const OLD_BUILDS_MAX = 3;
const OUTPUT_LENGTH_MAX = 4_000;

/**
 * Returns the path of compiled pages that match their current sources, including an operator's own components. Compiles them if
 * needed. Safe to call from several processes at once: each compiles on its own, and the first to finish wins.
 *
 * @throws PUBLISH_FAILED when they do not compile
 */
export async function compilePages(own: OwnComponents | null = null): Promise<string> {
  if (own !== null) ownParts(own.folder);
  const version = sourcesVersion(own);
  const folder = join(own?.builds ?? BUILDS, version);
  const entry = join(folder, ENTRY);
  if (version !== '' && existsSync(entry)) return entry;
  if (own === null && IS_PACKAGE) throw incomplete();
  if (!existsSync(join(ROOT, 'src/pages'))) throw withoutSources();
  const mine = compiling.get(folder) ?? compile(own, folder).finally(() => compiling.delete(folder));
  compiling.set(folder, mine);
  const isCurrent = await mine;
  return isCurrent ? entry : compilePages(own);
}

/** Builds in progress in this process, by their target folder. */
const compiling = new Map<string, Promise<boolean>>();

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

/** Returns false if a source was edited meanwhile: then nobody knows what the pages were compiled from. */
async function compile(own: OwnComponents | null, folder: string): Promise<boolean> {
  const staging = await makeStaging(dirname(folder));
  try {
    await runAstroBuild(staging, own);
    if (basename(folder) !== sourcesVersion(own)) return false;
    await rm(join(staging, CACHE), { recursive: true, force: true });
    // Temporary folders are readable by their creator only, but the user who installs is often not the one who runs the server.
    await chmod(staging, 0o755);
    await moveIntoPlace(staging, folder);
    await removeOldBuilds(folder);
    return true;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
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
  const kept = getCompileCacheDir();
  const child = spawn(process.execPath, [binary, 'build', '--silent', '--outDir', outFolder, ...place], {
    cwd: ROOT,
    timeout: COMPILE_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Our environment has secrets, so none of it is passed on.
    env: {
      NODE_ENV: 'production',
      ASTRO_TELEMETRY_DISABLED: '1',
      // Loading the compiler takes a quarter of a build.
      ...(kept === undefined ? {} : { NODE_COMPILE_CACHE: dirname(kept) }),
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
  if (!IS_PACKAGE) {
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

async function removeOldBuilds(current: string): Promise<void> {
  const builds = dirname(current);
  const names = (await readdir(builds)).filter((name) => !name.startsWith('.') && name !== basename(current));
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(builds, name))).mtimeMs })));
  const old = aged.toSorted((a, b) => b.at - a.at).slice(OLD_BUILDS_MAX);
  await Promise.all(old.map(({ name }) => rm(join(builds, name), { recursive: true, force: true })));
}
