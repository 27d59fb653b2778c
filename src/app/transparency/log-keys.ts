/** The keys that sign pages' logs: that of the configuration, or one that is made once and kept encrypted in the database. */

import { systemRandom } from '../../access/digest.ts';
import { StatusError } from '../../errors.ts';
import { createAddressSeal } from '../../notify/subscribers.ts';
import type { Secret } from '../../schema/secret.ts';
import type { Reader, Row, Writer } from '../../store/database.ts';
import { formatKey, generateKey, parseKey, readSigningKey, type SigningKey } from '../../transparency/note.ts';
import { createPageLog, type LogKeys, type PageLog } from '../../transparency/page-log.ts';
import type { StoreParts } from '../build-store.ts';
import { now } from '../clock.ts';

/** The logs of a site's pages. */
export function sitePageLog(base: StoreParts): PageLog {
  return createPageLog(base.database, siteLogKeys(base));
}

/**
 * Returns a function that reads the keys that sign for a site. They are read each time, since another process may have changed
 * them. Private keys are encrypted in the database, and new ones are named after the host of the site.
 */
export function siteLogKeys({ database, key, live, log }: StoreParts): () => Promise<LogKeys> {
  const { site, transparency: configured } = live.config();
  const name = new URL(site.url).host;
  const seal = createAddressSeal(key, systemRandom);
  const opened = new Map<string, SigningKey | null>();
  let isWarned = false;

  function openRow(verifier: string, sealed: unknown): SigningKey | null {
    return opened.getOrInsertComputed(verifier, () => {
      const pem = sealed === null ? null : seal.open(String(sealed), verifier);
      return pem === null ? null : readSigningKey(parseKey(verifier)?.name ?? '', pem);
    });
  }

  async function addKey(tx: Writer, made: SigningKey, pem: string | null): Promise<SigningKey> {
    const verifier = formatKey(made);
    const sealed = pem === null ? null : seal.seal(pem, verifier);
    const [latest] = await tx.all('SELECT MAX(made_at) AS at FROM log_key');
    await tx.run('INSERT INTO log_key (verifier, sealed, made_at) VALUES (?, ?, ?) ON CONFLICT (verifier) DO NOTHING', [
      verifier,
      sealed,
      // Of two keys of one millisecond, nodes would disagree on which is the latest.
      Math.max(now(), Number(latest?.['at'] ?? 0) + 1),
    ]);
    return made;
  }

  /** The latest that can be read, or nodes that can't read each other's would make new ones in turn. Null: it is yet to be added. */
  function currentKey(rows: readonly Row[], verifiers: readonly string[]): SigningKey | null {
    if (configured.key !== undefined) {
      const key = named(configured.key, verifiers, name);
      return verifiers.includes(formatKey(key)) ? key : null;
    }
    const sealed = rows.filter((row) => row['sealed'] !== null);
    const keys = sealed.map((row) => openRow(String(row['verifier']), row['sealed']));
    if (keys[0] === null && !isWarned) {
      isWarned = true;
      log.warn(
        'The key that signs the logs of pages was encrypted with another secret.key and can’t be read. This process signs with a key of its own, and "pharos verify" says so to those who knew the other one. Set the same access.key on all nodes of a database.',
      );
    }
    return keys.find((found) => found !== null) ?? null;
  }

  async function addCurrentKey(tx: Writer): Promise<SigningKey> {
    const { rows, verifiers } = await readKeys(tx);
    const known = currentKey(rows, verifiers);
    if (known !== null) return known;
    if (configured.key !== undefined) return addKey(tx, named(configured.key, verifiers, name), null);
    const pem = generateKey();
    const made = readSigningKey(name, pem);
    if (made === null) throw new TypeError('a new key can’t be read');
    return addKey(tx, made, pem);
  }

  return async () => {
    const { rows, verifiers } = await readKeys(database);
    const current = currentKey(rows, verifiers) ?? (await database.transaction(addCurrentKey));
    const previous = configured.previousKey === undefined ? null : named(configured.previousKey, verifiers, name);
    return {
      current,
      find: (verifier) => {
        if (previous !== null && formatKey(previous) === verifier) return previous;
        return openRow(verifier, rows.find((row) => row['verifier'] === verifier)?.['sealed'] ?? null);
      },
    };
  };
}

/** All keys, the latest first. */
async function readKeys(reader: Reader): Promise<{ rows: readonly Row[]; verifiers: readonly string[] }> {
  const rows = await reader.all('SELECT verifier, sealed FROM log_key ORDER BY made_at DESC, verifier');
  return { rows, verifiers: rows.map(({ verifier }) => String(verifier)) };
}

/** A configured key under the name that it had first: a site that moves keeps its key. */
function named(secret: Secret, verifiers: readonly string[], name: string): SigningKey {
  const key = readSigningKey(name, secret.reveal());
  if (key === null)
    throw new StatusError({
      code: 'CONFIG_INVALID',
      message:
        'transparency.key is not an Ed25519 private key. Make one with "openssl genpkey -algorithm ed25519 -out log.pem" and set it to ${file:log.pem}.',
    });
  const own = parseKey(formatKey(key))?.publicKey;
  const known = verifiers.map(parseKey).find((verifier) => verifier !== null && own?.equals(verifier.publicKey));
  return known === undefined || known === null ? key : { ...key, name: known.name };
}
