/** Pages' logs, and witnesses of pages. The keys that sign logs: that of the configuration, or one that is made once and kept encrypted in the database. */

import { z } from 'zod';
import { systemRandom } from '../access/digest.ts';
import type { Config } from '../config/load.ts';
import { messageOf, StatusError } from '../errors.ts';
import { type MonitorId, SECOND_MS, toIso } from '../model/index.ts';
import { LOG_KEYS, WITNESS_PATH } from '../model/slugs.ts';
import { createDispatcher } from '../network/dispatcher.ts';
import type { ProxySettings } from '../network/proxy.ts';
import { createAddressSeal } from '../notify/subscribers.ts';
import type { Secret } from '../schema/secret.ts';
import type { Reader, Row, Writer } from '../store/database.ts';
import { formatKey, generateKey, parseKey, readSigningKey, type SigningKey } from '../transparency/note.ts';
import { createPageLog, type LogKeys, type PageLog, readRecords, writeRecord } from '../transparency/page-log.ts';
import { type ReadFile, type SeenHead, verifyPage } from '../transparency/verify.ts';
import { formatWitness, type Watched, watchedRecord } from '../transparency/witness.ts';
import type { StoreParts } from './build-store.ts';
import { now } from './clock.ts';

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

// Checks the pages that this site is a witness of, and the witnesses of its own pages. Both results are stored in the
// database for the node that publishes next.

type WitnessedPage = Config['transparency']['witness'][number];

/** Nobody is asked more often. */
const EVERY_MS = 5 * 60 * SECOND_MS;

/** Looks at everything that is due; nothing is due where nothing is configured. */
export async function witnessAll(base: StoreParts): Promise<void> {
  const { database, live, proxy } = base;
  const { witness, witnesses } = live.config().transparency;
  if (witness.length + witnesses.length === 0) return;
  const records = await readRecords(database);
  const isDue = (kind: string, url: string): boolean => {
    const known = records.find((one) => one.kind === kind && one.url === url);
    return known === undefined || now() - known.at >= EVERY_MS;
  };
  const site = openSite(proxy);
  try {
    for (const url of witnesses.filter((one) => isDue('witness', one)))
      await writeRecord(database, { kind: 'witness', url, at: now(), text: await readWitness(site, url) });
    const due = witness.filter(({ url }) => isDue('watched', url));
    for (const one of due) await watch(base, site, one, records);
    if (due.length > 0) await publishWord(base);
  } finally {
    await site.close();
  }
}

/** Null: it can't be reached. */
async function readWitness(site: SiteReader, url: string): Promise<string | null> {
  try {
    const bytes = await site.reader(url)(WITNESS_PATH);
    return bytes === null ? null : Buffer.from(bytes).toString('utf8');
  } catch {
    // Shown as a witness that can't be reached.
    return null;
  }
}

/** @param compare ids of the page's components, and the monitors here that look at the same targets */
async function watch(
  base: StoreParts,
  site: SiteReader,
  { url, compare }: WitnessedPage,
  records: Awaited<ReturnType<typeof readRecords>>,
): Promise<void> {
  const { database } = base;
  const known = records.find((one) => one.kind === 'watched' && one.url === url);
  const seen: SeenHead | null = known?.head ?? null;
  const { current } = await siteLogKeys(base)();
  const at = toIso(now());
  const verdict = await verifyPage({
    read: site.reader(url),
    ...{ url, seen },
    siteKeys: await site.keys(url).catch(() => null),
    now: now(),
  }).catch((error: unknown) => ({ faults: [messageOf(error)], checkpoint: null, head: null }));
  const compared = verdict.head === null ? [] : await compareStates(base, site, { url, compare });
  const record = watchedRecord({ url, at, compared }, verdict, current);
  // What contradicts the head that was seen never replaces it.
  const head = verdict.faults.length === 0 ? verdict.head : seen;
  await writeRecord(database, { kind: 'watched', url, at: now(), text: JSON.stringify(record), head });
}

/** What the page says of its components now, beside what is seen from here. */
async function compareStates({ store }: StoreParts, site: SiteReader, { url, compare }: WitnessedPage) {
  const monitors = await store.monitorsById(Object.values(compare) as MonitorId[]);
  const bytes = await site
    .reader(url)('api/state.json')
    .catch(() => null);
  const theirs = readStates(bytes === null ? '' : Buffer.from(bytes).toString('utf8'));
  return Object.entries(compare).map(([component, monitor]) => ({
    component,
    theirs: theirs.get(component) ?? 'unknown',
    ours: monitors.get(monitor as MonitorId)?.state ?? 'unknown',
  }));
}

function readStates(text: string): ReadonlyMap<string, string> {
  try {
    const { components } = JSON.parse(text) as { components: { id: unknown; state: unknown }[] };
    return new Map(components.map(({ id, state }) => [String(id), String(state)]));
  } catch {
    return new Map();
  }
}

async function publishWord(base: StoreParts): Promise<void> {
  const { database, live } = base;
  const watchedNow = new Set(live.config().transparency.witness.map(({ url }) => url));
  const { current } = await siteLogKeys(base)();
  const watched = (await readRecords(database)).flatMap(({ kind, url, text }) =>
    kind === 'watched' && watchedNow.has(url) && text !== null ? [JSON.parse(text) as Watched] : [],
  );
  await writeRecord(database, { kind: 'word', url: '', at: now(), text: formatWitness(watched, current) });
}

/** Reads the files of published pages, of any site. */
const BYTES_MAX = 64 * 1024 * 1024;

type SiteReader = ReturnType<typeof openSite>;

export function openSite(proxy: ProxySettings) {
  const limits = { connectMs: 10_000, headersMs: 30_000, idleMs: 30_000, connectionsMax: 8 };
  const dispatcher = createDispatcher({ ...limits, proxy });
  /** Reads files below an address that ends in a slash. */
  const reader =
    (page: string): ReadFile =>
    async (path) => {
      const segments = path.split('/').map(encodeURIComponent).join('/');
      const url = new URL(segments.replace(/(^|\/)index\.html$/, '$1') || '.', page);
      try {
        const answer = await dispatcher.request({
          origin: url.origin,
          path: url.pathname,
          method: 'GET',
          // What is signed is the file as it is.
          headers: { 'accept-encoding': 'identity', 'cache-control': 'no-cache', 'user-agent': 'Pharos-verify' },
        });
        const bytes = await readBody(answer.body, url);
        // Hosts answer the address of their 404 page with that status.
        return answer.statusCode === 200 || (answer.statusCode === 404 && path === '404.html') ? bytes : null;
      } catch (cause) {
        const message = `${url.origin} can’t be reached: ${messageOf(cause)}.`;
        throw new StatusError({ code: 'UPSTREAM_UNREACHABLE', message, cause });
      }
    };
  return {
    reader,
    /** The keys at the root of the site; null: it publishes none there, as below a path of a host that has other things at its root. */
    keys: async (page: string): Promise<readonly string[] | null> => {
      const bytes = await reader(new URL('/', page).href)(LOG_KEYS);
      try {
        return z.object({ keys: z.array(z.string()) }).parse(JSON.parse(Buffer.from(bytes ?? []).toString('utf8')))
          .keys;
      } catch {
        return null;
      }
    },
    close: () => dispatcher.destroy(),
  };
}

async function readBody(body: AsyncIterable<Uint8Array>, url: URL): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > BYTES_MAX) throw new Error(`${url.pathname} is larger than 64 MB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
