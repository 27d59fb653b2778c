/**
 * The key for hashing client addresses and encrypting subscribers' addresses. It is stored outside the database, so that a copy
 * of the database alone reveals nothing.
 */

import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../config/secret.ts';
import { StatusError } from '../errors.ts';
import type { Log } from './log.ts';

const NAME = 'secret.key';

/**
 * Reads the key in a data folder; the first process there creates it.
 *
 * @throws STORE_UNAVAILABLE when the file isn't a key of ours
 */
export function secretKeyIn(data: string): Secret {
  const path = join(data, NAME);
  return validKey(keyAt(path) ?? makeKey(data, path), path);
}

/**
 * Reads the key in a read-only data folder. If there is none, it uses a random one, which does no harm because nothing can be
 * stored.
 *
 * @throws STORE_UNAVAILABLE when the file isn't a key of ours
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
    message: `${path} is not a valid key. Restore it from a backup. Or delete it and Pharos creates a new one: counts of sign-in attempts then start at zero, and the addresses of existing subscribers can no longer be read.`,
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

/** Writes the key completely before it gets its name, and never over another process' key. */
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
