/** The key of what is stored of people as a hash only: kept outside the database, so that a copy of that alone tells nothing. */

import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../config/secret.ts';
import { StatusError } from '../errors.ts';
import type { Log } from './log.ts';

const NAME = 'secret.key';

/**
 * The key in a data folder; the first process there makes it.
 *
 * @throws STORE_UNAVAILABLE when the file is not one of ours
 */
export function secretKeyIn(data: string): Secret {
  const path = join(data, NAME);
  return validKey(keyAt(path) ?? makeKey(data, path), path);
}

/**
 * The key in a data folder that cannot be written. Where there is none, one of this process takes its place: it is for what
 * would be stored, and nothing can be.
 *
 * @throws STORE_UNAVAILABLE when the file is not one of ours
 */
export function secretKeyToRead(data: string, log: Pick<Log, 'warn'>): Secret {
  const path = join(data, NAME);
  const key = keyAt(path);
  if (key !== null) return validKey(key, path);
  log.warn(
    `${path} does not exist and can’t be created. Pages are still served, but links in emails to subscribers don’t work here. Copy the file from the machine that runs "pharos start", or set access.key to the same value on both.`,
  );
  return new Secret(newKey());
}

function validKey(key: string, path: string): Secret {
  if (/^[A-Za-z0-9_-]{43}$/.test(key)) return new Secret(key);
  throw new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `${path} is not a valid key. Delete it and Pharos creates a new one; counts of sign-in attempts then start at zero.`,
  });
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}

function keyAt(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Written whole before it gets its name, and never over another's. */
function makeKey(data: string, path: string): string {
  mkdirSync(data, { recursive: true, mode: 0o711 });
  const draft = join(data, `.${NAME}-${process.pid}`);
  writeFileSync(draft, `${newKey()}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return keyAt(path) ?? '';
}
