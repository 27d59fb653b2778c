/**
 * The key for hashing client addresses and encrypting subscribers' addresses. It is stored outside the database, so that a copy
 * of the database alone reveals nothing.
 */

import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyedDigest, systemRandom } from '../access/digest.ts';
import { isStatusError, StatusError } from '../errors.ts';
import { createAddressSeal } from '../notify/subscribers.ts';
import { Secret } from '../schema/secret.ts';
import type { Database } from '../store/database.ts';
import { makeFolder } from '../store/make-folder.ts';
import type { Log } from './log.ts';

const NAME = 'secret.key';
/** Subscribers tried at either end: after a new key, the latest were encrypted with it. */
const TRIED = 50;

interface KeyOptions {
  /** Data folder. */
  readonly data: string;
  /** `access.key`; null: the key is in the data folder. */
  readonly configured: Secret | null;
  readonly database: Database;
  readonly log: Pick<Log, 'warn'>;
  /** True: goes on with this key, or a new one, although subscribers' addresses were encrypted with another. */
  readonly isNewKey: boolean;
}

/**
 * Reads the key; the first process in a data folder creates it. In a read-only folder without one, the key is random, which does
 * no harm because nothing can be stored.
 *
 * @throws STORE_UNAVAILABLE if the file isn't a key, or subscribers' addresses were encrypted with another one
 */
export async function openKey({ data, configured, database, log, isNewKey }: KeyOptions): Promise<Secret> {
  const path = join(data, NAME);
  const known = configured ?? readKey(path);
  if (known === null && database.isReadOnly) {
    log.warn(
      `${path} does not exist and can’t be created. Pages are still served, but links in emails to subscribers don’t work here. Copy the file from the machine that runs "pharos start", or set access.key to the same value on both.`,
    );
    return new Secret(newKey());
  }
  // What can only be read is not lost by reading it; and it may not even be there.
  const lost = database.isReadOnly ? 0 : await countLost(database, known).catch(whileAway(known));
  if (lost > 0 && !isNewKey) {
    const message = lostMessage(lost, path, configured !== null, known === null);
    throw new StatusError({ code: 'STORE_UNAVAILABLE', message });
  }
  const key = known ?? makeKey(data, path);
  if (lost > 0)
    await database.transaction((tx) =>
      tx.run('INSERT INTO accepted_key (digest) VALUES (?) ON CONFLICT (digest) DO NOTHING', [acceptedDigest(key)]),
    );
  return key;
}

/** A database that is away doesn't keep published pages from being served. Without a key it must be asked first. */
function whileAway(key: Secret | null): (error: unknown) => number {
  return (error) => {
    if (key === null || !isStatusError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
    return 0;
  };
}

/** How many subscribers a key would lose, if it opens none of their addresses and nobody accepted that. */
async function countLost(database: Database, key: Secret | null): Promise<number> {
  const oldest = await database.all(`SELECT id, address FROM subscriber ORDER BY created_at, id LIMIT ${TRIED}`);
  if (oldest.length === 0) return 0;
  if (key !== null) {
    const seal = createAddressSeal(key, systemRandom);
    const newest = await database.all(
      `SELECT id, address FROM subscriber ORDER BY created_at DESC, id DESC LIMIT ${TRIED}`,
    );
    if ([...oldest, ...newest].some((row) => seal.open(String(row['address']), String(row['id'])) !== null)) return 0;
    const accepted = await database.all('SELECT digest FROM accepted_key WHERE digest = ?', [acceptedDigest(key)]);
    if (accepted.length > 0) return 0;
  }
  const [row] = await database.all('SELECT COUNT(*) AS n FROM subscriber');
  return Number(row?.['n']);
}

function acceptedDigest(key: Secret): string {
  return keyedDigest(key, 'accepted key');
}

function lostMessage(lost: number, path: string, isConfigured: boolean, isMissing: boolean): string {
  const whose = lost === 1 ? 'The address of one subscriber is' : `The addresses of ${lost} subscribers are`;
  const found = isMissing
    ? `with a key that is not in ${path}`
    : `with another key than ${isConfigured ? 'access.key' : path}`;
  const remedy = isConfigured ? 'Set access.key to the previous value' : `Restore ${path} from a backup`;
  return `${whose} encrypted ${found}. Without it, they get no emails, and links in emails they have don’t work. ${remedy}. To go on with a new key, run "pharos start --new-key"; their emails wait up to five days for the old one.`;
}

/** Null: there is no file. */
function readKey(path: string): Secret | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (/^[A-Za-z0-9_-]{43}$/.test(text)) return new Secret(text);
  throw new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `${path} is not a valid key. Restore it from a backup. Or delete it and run "pharos start --new-key": counts of sign-in attempts then start at zero, and the addresses of existing subscribers can’t be read without the old key.`,
  });
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Writes the key completely before it gets its name, and never over another process' key. */
function makeKey(data: string, path: string): Secret {
  makeFolder(data, 0o711);
  const draft = join(data, `.${NAME}-${process.pid}`);
  writeFileSync(draft, `${newKey()}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readKey(path) ?? new Secret('');
}
