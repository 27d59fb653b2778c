/** Uploads what is published here to the store of releases, as long as this node is elected for it. */

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import type { MonitorId } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import { SITE_SLUG } from '../../publish/releases/folders.ts';
import { type Manifest, releasePage } from '../../publish/releases/manifest.ts';
import { openEntries, type ReleaseIndex, type SiteKey, sealEntries } from '../../publish/targets/ledger.ts';
import { type ObjectStore, objectDigest } from '../../publish/targets/object-store.ts';
import { createTaker } from '../../publish/targets/take.ts';
import { createUploader } from '../../publish/targets/upload.ts';
import type { Database, Reader } from '../../store/database.ts';
import { raiseReleaseNumbers } from '../../store/identities.ts';
import { readPages } from '../../store/pages.ts';
import { recordChanges } from '../../store/revisions.ts';
import { parseJson } from '../../transparency/entries.ts';
import type { StoreParts } from '../build-store.ts';
import { now } from '../clock.ts';
import type { SiteKeeper } from '../site-keeper.ts';
import { lookRegularly } from './catch-up.ts';

export type ReleaseUploads = ReturnType<typeof createReleaseUploads>;

interface ReleaseUploadsDeps extends Pick<StoreParts, 'folders' | 'database' | 'log'> {
  readonly store: ObjectStore;
  /** Key for the encrypted definitions, the same on all nodes; null: web nodes without the database aren't supported. */
  readonly key: SiteKey | null;
  readonly state: () => SiteState | null;
  readonly isElected: () => boolean;
  readonly mayUpload: () => Promise<boolean>;
  readonly now: () => EpochMs;
}

/** Long-term figures and images follow in releases that no run reports. */
const LOOK_EVERY_MS = 1_000;
/** Every write to a bucket costs. */
const TIMES_EVERY_MS = 15_000;
/** Pages are published although the store doesn't answer. */
const NUMBERS_MAX_MS = 2_000;

export function createReleaseUploads(deps: ReleaseUploadsDeps) {
  const { store, database, log } = deps;
  let copied: { readonly of: readonly unknown[]; readonly digest: string; readonly text: string } | null = null;
  const uploader = createUploader({
    ...deps,
    isShown: (release) => isShown(deps.state(), release),
    times: () => readTimes(database),
    onNumbers: (numbers) => raiseReleaseNumbers(database, numbers),
    site: async () => {
      const { key } = deps;
      const state = deps.state();
      if (key === null || state === null) return null;
      const of = [state.resolved, state.announcements];
      if (copied === null || copied.of.some((one, index) => one !== of[index])) {
        const text = JSON.stringify(await readSiteCopy(database));
        copied = { of, text, digest: objectDigest(Buffer.from(text)) };
      }
      const { digest, text } = copied;
      return { digest, sealed: () => Buffer.from(sealEntries(text, key)) };
    },
  });
  let numbers: Promise<unknown> | null = null;
  let lastError: string | null = null;
  let working: Promise<void> | null = null;
  let isAsked = false;
  let isClosed = false;
  let timesAt = Number.NEGATIVE_INFINITY;

  async function upload(): Promise<void> {
    const withTimes = performance.now() - timesAt >= TIMES_EVERY_MS;
    try {
      const { releases, objects, bytes, isIndexWritten } = await uploader.update(withTimes);
      if (withTimes) timesAt = performance.now();
      if (isIndexWritten) await database.transaction((tx) => tx.announce());
      if (releases > 0) log.info({ place: store.place, releases, objects, bytes }, 'releases uploaded');
      lastError = null;
    } catch (error) {
      // Logged once, not every second.
      if (messageOf(error) !== lastError && !isClosed) log.error(messageOf(error));
      lastError = messageOf(error);
    }
  }

  async function work(): Promise<void> {
    while (isAsked && !isClosed && deps.isElected()) {
      isAsked = false;
      await upload();
    }
  }

  function follow(): void {
    isAsked = true;
    // If another node was elected, this is over at once.
    working ??= work().finally(() => {
      working = null;
    });
  }

  const timer = setInterval(follow, LOOK_EVERY_MS);
  timer.unref();
  return {
    /** Something was published. */
    follow,
    /** This node uploads from now on. Another one did before. */
    takeOver: () => {
      uploader.forget();
      follow();
    },
    // Resolves once the database knows the numbers in the store: a restored or new one would give them out again.
    // A store that can't be read is reported by the next upload, which also learns them.
    numbersKnown: async () => {
      numbers ??= Promise.race([
        uploader.learnNumbers().catch(() => undefined),
        wait(NUMBERS_MAX_MS, undefined, { ref: false }),
      ]);
      await numbers;
    },
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await store.close();
      await working;
    },
  };
}

/** Null: the access rule isn't known yet. */
function isShown(state: SiteState | null, release: Pick<Manifest, 'slug' | 'access' | 'page'>): boolean | null {
  if (state === null) return null;
  const { pages, withheld, isDecided } = state.resolved;
  const { slug, access } = release;
  if (slug === SITE_SLUG) return true;
  const page = pages.find(({ definition }) => definition.slug === slug);
  if (page !== undefined) return page.definition.access === access && page.identity.key === releasePage(release);
  return isDecided || withheld.includes(slug) ? false : null;
}

/** Without announcements: one small request a second. */
const ASK_EVERY_MS = 1_000;

/**
 * Keeps a web node current with the releases that other nodes upload.
 *
 * @param keeper decides by the access rules that were read last
 * @param copyKey of the encrypted definitions in the bucket; null: the node reads them from the database
 */
export function createTaking(
  { folders, database, log }: Pick<StoreParts, 'folders' | 'database' | 'log'>,
  keeper: SiteKeeper,
  { store, copyKey }: { readonly store: ObjectStore; readonly copyKey: SiteKey | null },
) {
  const logged = new Set<string>();
  let isClosed = false;
  const tell = (error: unknown): void => {
    const message = messageOf(error);
    if (isClosed || logged.has(message)) return;
    logged.add(message);
    log.error(isStatusError(error) ? message : `Can’t fetch a release: ${message}. Pharos tries again.`);
  };
  const taker = createTaker({
    ...{ store, folders },
    mayServe: async (release) => keeper.mightServe(release),
    onIndex: async (index, sealed) => {
      if (copyKey === null) return;
      await adoptCopy(database, index, sealed, copyKey);
      await keeper.refresh(now());
    },
    onError: tell,
  });
  let stop: () => Promise<void> = async () => undefined;

  async function look(): Promise<void> {
    try {
      await keeper.refresh(now());
      const releases = await taker.refresh();
      if (releases > 0) log.info({ place: store.place, releases }, 'releases fetched');
      logged.clear();
    } catch (error) {
      tell(error);
    }
  }

  return {
    ensure: taker.ensure,
    /** Takes what there is by now. */
    refresh: taker.refresh,
    /** Whether there are releases to serve, from the store or from before. */
    hasReleases: taker.hasReleases,
    /** Takes releases, now and from now on. Resolves after the first try, whether or not the store can be reached. */
    open: async () => {
      await look();
      if (!isClosed) stop = lookRegularly(database, ASK_EVERY_MS, look);
    },
    close: async () => {
      isClosed = true;
      await stop();
      await taker.close();
    },
  };
}

/** Writes the definitions from the bucket into the node's own database. */
async function adoptCopy(database: Database, index: ReleaseIndex, sealed: Buffer | null, key: SiteKey): Promise<void> {
  if (index.site === null)
    throw new StatusError({
      code: 'TARGET_REFUSED',
      message:
        'The uploaded releases don’t say which pages there are and who may see them. On the nodes that upload, set access.key to the same value as here.',
    });
  if (sealed !== null) {
    const text = openEntries(sealed.toString('utf8'), key);
    const copy = text === null ? null : parseJson(SiteCopySchema, text);
    if (copy === null)
      throw new StatusError({
        code: 'TARGET_REFUSED',
        message:
          'The list of pages and access rules in the uploaded releases is encrypted with another key, so new releases are ignored. Set access.key to the same value on all nodes.',
      });
    await writeSiteCopy(database, copy);
  }
  await writeTimes(database, index.times);
}

// The part of the database that a node without it needs, to know the pages and their access rules: definitions and
// identities of pages, announcements, and names of monitors. States aren't included, because releases have them.

const SiteCopySchema = z.object({
  upstreams: z.array(z.object({ id: z.string(), definitions: z.string(), announcements: z.string() })),
  monitors: z.array(z.tuple([z.string(), z.string(), z.boolean().nullable(), z.string()])),
  /** Of each current page: key, slug, origin, access type, and version of the gate. */
  pages: z.array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.number()])).default([]),
});
type SiteCopy = z.output<typeof SiteCopySchema>;

/** When each part of an upstream was last read: monitors, incidents, pages. */
type CopiedTimes = Record<string, [number | null, number | null, number | null]>;

async function readSiteCopy(reader: Reader): Promise<SiteCopy> {
  const upstreams = await reader.all('SELECT id, definitions, announcements FROM upstream ORDER BY id');
  const monitors = await reader.all('SELECT id, upstream, document FROM monitor WHERE gone_at IS NULL ORDER BY id');
  const pages = await readPages(reader);
  return {
    pages: pages.map(({ key, slug, origin, access, gate }) => [key, slug, origin, access, gate]),
    upstreams: upstreams.map((row) => ({
      id: String(row['id']),
      definitions: String(row['definitions']),
      announcements: String(row['announcements']),
    })),
    monitors: monitors.map((row) => {
      const { name, isPublic } = JSON.parse(String(row['document'])) as { name: string; isPublic: boolean | null };
      return [String(row['id']), name, isPublic, String(row['upstream'])];
    }),
  };
}

async function readTimes(reader: Reader): Promise<CopiedTimes> {
  const rows = await reader.all('SELECT id, monitors_at, incidents_at, pages_at FROM upstream ORDER BY id');
  const at = (value: unknown): number | null => (value === null ? null : Number(value));
  return Object.fromEntries(
    rows.map((row) => [String(row['id']), [at(row['monitors_at']), at(row['incidents_at']), at(row['pages_at'])]]),
  );
}

/** Writes the copy into the node's own database. */
async function writeSiteCopy(database: Database, { upstreams, monitors, pages }: SiteCopy): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.run('DELETE FROM upstream');
    await tx.runMany(
      'INSERT INTO upstream (id, definitions, announcements) VALUES (?, ?, ?)',
      upstreams.map(({ id, definitions, announcements }) => [id, definitions, announcements]),
    );
    await tx.run('DELETE FROM page');
    await tx.runMany(
      'INSERT INTO page (key, slug, origin, access, gate, began_at) VALUES (?, ?, ?, ?, ?, 0)',
      pages.map((page) => [...page]),
    );
    await tx.run('UPDATE monitor SET gone_at = 0');
    await tx.runMany(
      `INSERT INTO monitor (id, upstream, state, document, first_seen_at) VALUES (?, ?, ?, ?, 0)
       ON CONFLICT (id) DO UPDATE SET document = excluded.document, gone_at = NULL`,
      monitors.map(([id, name, isPublic, upstream]) => [id, upstream, 'unknown', monitorDocument(id, name, isPublic)]),
    );
    const all = (await tx.all('SELECT id FROM monitor')).map((row) => String(row['id']) as MonitorId);
    for (const [index, { id }] of upstreams.entries())
      await recordChanges(tx, id, { monitors: index === 0 ? all : [], hasNewDefinitions: true });
  });
}

async function writeTimes(database: Database, times: CopiedTimes): Promise<void> {
  await database.transaction(
    (tx) =>
      tx.runMany(
        'UPDATE upstream SET monitors_at = ?, incidents_at = ?, pages_at = ? WHERE id = ?',
        Object.entries(times).map(([id, [monitors, incidents, pages]]) => [monitors, incidents, pages, id]),
      ),
    { isDurable: false },
  );
}

function monitorDocument(id: string, name: string, isPublic: boolean | null): string {
  const rest = { description: null, kind: 'http', target: null, state: 'unknown', createdAt: null };
  return JSON.stringify({ ...rest, id, name, isPublic });
}
