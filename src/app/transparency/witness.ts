/**
 * Checks the pages that this site is a witness of, and the witnesses of its own pages. Both results are stored in the database for
 * the node that publishes next.
 */

import { z } from 'zod';
import type { Config } from '../../config/load.ts';
import { messageOf, StatusError } from '../../errors.ts';
import { type MonitorId, SECOND_MS, toIso } from '../../model/index.ts';
import { LOG_KEYS, WITNESS_PATH } from '../../model/slugs.ts';
import { createDispatcher } from '../../network/dispatcher.ts';
import type { ProxySettings } from '../../network/proxy.ts';
import { type ReadFile, type SeenHead, verifyPage } from '../../transparency/verify.ts';
import { formatWitness, readRecords, type Watched, watchedRecord, writeRecord } from '../../transparency/witness.ts';
import type { StoreParts } from '../build-store.ts';
import { now } from '../clock.ts';
import { siteLogKeys } from './log-keys.ts';

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
    isAtRoot: new URL(url).pathname === '/',
    seen,
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
