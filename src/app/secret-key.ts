/** The key of what is stored of people as a hash only: kept outside the database, so that a copy of that alone tells nothing. */

import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../config/secret.ts';
import { StatusError } from '../errors.ts';

const NAME = 'secret.key';

/**
 * The key in a data folder; the first process there makes it.
 *
 * @throws STORE_UNAVAILABLE when the file is not one of ours
 */
export function secretKeyIn(data: string): Secret {
  const path = join(data, NAME);
  const key = keyAt(path) ?? makeKey(data, path);
  if (/^[A-Za-z0-9_-]{43}$/.test(key)) return new Secret(key);
  throw new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `${path} is not a valid key. Delete it and Pharos creates a new one; counts of sign-in attempts then start at zero.`,
  });
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
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return keyAt(path) ?? '';
}
