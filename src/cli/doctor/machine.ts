/** Checks this machine: versions, the data folder, disk space and the database. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { fileReason, messageOf, StatusError } from '../../errors.ts';
import { SECOND_MS } from '../../model/time.ts';
import { releaseFolders } from '../../publish/releases/folders.ts';
import { openGated } from '../../publish/releases/modes.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { faultOfSqlite, sqliteVersion } from '../../store/sqlite/file.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** A checkout compiles the pages with Astro; the package contains them compiled. */
const IS_CHECKOUT = import.meta.filename.endsWith('.ts');
/** Older versions have known vulnerabilities (docs/security.md). */
const PACKAGE_FLOORS: Readonly<Record<string, string>> = {
  ...(IS_CHECKOUT ? { astro: '7.3.5', '@astrojs/node': '11.1.6' } : {}),
  undici: '8.0.0',
};
const PACKAGE_REMEDY = IS_CHECKOUT ? 'Run npm ci in the checkout.' : 'Reinstall Pharos.';
const MEGABYTE = 1_000_000;
/** Enough for five releases of a large page and a database of a year. */
const SPACE_WARN_BYTES = 1_000 * MEGABYTE;
const SPACE_LEAST_BYTES = 100 * MEGABYTE;
const NODE_REMEDY = 'Run Pharos with the Node.js that npm installs with it: use npx pharos.';

export function versionFindings(): Finding[] {
  const floor = packageJson.engines.node.replace(/[^\d.]/g, '');
  const node = process.versions.node;
  const sqlite = sqliteVersion();
  const nodeFault = isAtLeast(node, floor) ? null : `${node}; ${floor} or newer is needed`;
  const sqliteFault = sqlite.isSafe ? null : `${sqlite.version} can corrupt databases`;
  return [
    nodeFault === null ? ok('Node.js', node) : fault('Node.js', nodeFault, NODE_REMEDY),
    sqliteFault === null ? ok('SQLite', sqlite.version) : fault('SQLite', sqliteFault, NODE_REMEDY),
    ...Object.entries(PACKAGE_FLOORS).map(([name, least]) => {
      const version = installedVersion(name);
      if (version === null) return fault(name, 'is not installed', PACKAGE_REMEDY);
      if (isAtLeast(version, least)) return ok(name, version);
      return fault(name, `${version} has known vulnerabilities; ${least} or newer is needed`, PACKAGE_REMEDY);
    }),
  ];
}

/**
 * Tries everything in the data folder that publishing needs, and leaves nothing behind.
 *
 * @param hasDatabase whether the database is in it
 */
export async function folderFindings(data: string, hasDatabase: boolean): Promise<Finding[]> {
  const name = 'data folder';
  let probe: string;
  try {
    await requireAnswer(data);
    makeFolder(data, 0o711);
    probe = mkdtempSync(join(data, '.doctor-'));
  } catch (error) {
    if (isFull(error)) return [fullDisk(data)];
    const user = process.getuid === undefined ? '' : ` (uid ${process.getuid()})`;
    const remedy = `Give the user that runs Pharos${user} write access to the folder (chown -R), or set another path in data.`;
    return [fault(name, `${data} is not writable: ${fileReason(error)}`, remedy)];
  }
  try {
    writeFileSync(join(probe, 'a'), 'a');
    linkSync(join(probe, 'a'), join(probe, 'b'));
    symlinkSync('a', join(probe, 'c'));
    symlinkSync('b', join(probe, 'd'));
    renameSync(join(probe, 'd'), join(probe, 'c'));
    const database = hasDatabase ? [databaseFinding(data)] : [];
    return [ok(name, `${data} is writable and supports links`), spaceFinding(data), ...database];
  } catch (error) {
    if (isFull(error)) return [fullDisk(data)];
    const words = `${data} does not support hard or symbolic links: ${messageOf(error)}`;
    const remedy =
      'Move data to a file system that does (ext4, XFS, Btrfs, ZFS, APFS). Network shares and FAT often do not.';
    return [fault(name, words, remedy)];
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}

/** On a full disk every step fails, so only that is reported. */
function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException).code));
}

const FULL_REMEDY = 'Free some space, or move data. Pages can’t be updated while the disk is full.';

function fullDisk(data: string): Finding {
  return fault('disk space', `the disk of ${data} is full`, FULL_REMEDY);
}

function spaceFinding(data: string): Finding {
  const name = 'disk space';
  const { bavail, bsize, ffree, files } = statfsSync(data);
  const free = bavail * bsize;
  const words = free < 1e9 ? `${Math.floor(free / 1e6)} MB free` : `${(free / 1e9).toFixed(1)} GB free`;
  if (files > 0 && ffree < 10_000)
    return warning(name, `${words}, but the file system has room for only ${ffree} more files`, FULL_REMEDY);
  if (free < SPACE_LEAST_BYTES) return fault(name, words, FULL_REMEDY);
  return free < SPACE_WARN_BYTES ? warning(name, words, FULL_REMEDY) : ok(name, words);
}

function databaseFinding(data: string): Finding {
  const name = 'database';
  const file = join(data, 'pharos.db');
  if (!existsSync(file)) return ok(name, 'none yet; created on first start');
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch {
    const remedy = 'Always run Pharos as the same user, or chown the file.';
    return fault(name, `${file} is not writable for this user`, remedy);
  }
  const wrong = faultOfSqlite(file);
  if (wrong === null) return ok(name, 'ok');
  const remedy =
    'Restore a backup over it while Pharos is stopped. Without a backup, start Pharos: it moves the file aside, keeps the published pages and queries the upstreams again.';
  return fault(name, `${file} is damaged: ${wrong}`, remedy);
}

/** Packages needn't export their `package.json`, so it is looked up by its path. */
function installedVersion(name: string): string | null {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    const path = join(folder, name, 'package.json');
    if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  }
  return null;
}

/** Compares versions of three parts: `1.10.0` is newer than `1.9.3`. Anything after a `-` is ignored. */
function isAtLeast(version: string, least: string): boolean {
  return version.replace(/-.*/, '').localeCompare(least, 'en', { numeric: true }) >= 0;
}

// Checks whether other users of this machine can read private files.

const OWN_FILES = ['pharos.db', 'pharos.db-wal', 'secret.key'];

export function permissionFinding(data: string): Finding {
  const name = 'permissions';
  const own = OWN_FILES.map((file) => join(data, file)).filter(
    (path) => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
  const open = [...own, ...openGated(releaseFolders(data))];
  const [first, ...rest] = open;
  if (first === undefined) return ok(name, 'only this user can read the database and private pages');
  const words = `other users of this machine can read ${first}${rest.length === 0 ? '' : ` and ${rest.length} more`}`;
  return warning(name, words, 'Start Pharos to fix it, or run chmod -R go= on it.');
}

// Checks whether a folder responds at all. A network share whose server is gone blocks every access, and below `/proc`
// Node never finishes creating a folder. A process can't interrupt either, not even by exiting, so a child process
// tries first.

const LIMIT_MS = 10 * SECOND_MS;
const TOUCH = `const [folder] = process.argv.slice(1);
const { mkdirSync, readdirSync } = require('node:fs');
mkdirSync(folder, { recursive: true, mode: 0o711 });
readdirSync(folder);`;

/**
 * Creates the folder if it is missing. Other errors are left to the next step that uses it.
 *
 * @throws TARGET_UNREACHABLE when it doesn't answer in time
 */
export async function requireAnswer(folder: string, limitMs = LIMIT_MS): Promise<void> {
  const child = spawn(process.execPath, ['-e', TOUCH, folder], { stdio: 'ignore' });
  const hasAnswered = await once(child, 'exit', { signal: AbortSignal.timeout(limitMs) }).then(
    () => true,
    (error: unknown) => (error as Error).name !== 'AbortError',
  );
  if (hasAnswered) return;
  child.kill('SIGKILL');
  // A process that hangs in the kernel survives even SIGKILL, so it isn't awaited.
  child.unref();
  throw new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `The folder ${folder} did not respond within ${limitMs / SECOND_MS} seconds. Check its file system, for example a network share whose server is down, or choose another folder.`,
  });
}
