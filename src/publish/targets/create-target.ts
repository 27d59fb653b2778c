/**
 * Updates a target: first removes what is no longer public, then writes each changed page (data, HTML, its index), then removes
 * files that pages no longer have, and finally writes the site's own files, which link to all pages. A ledger is written before
 * any file is touched, so after a crash nothing is forgotten and little is written twice. Once a minute, each page gets a new
 * `api/now.json`.
 */

import pLimit from 'p-limit';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import { HOME_SLUG, readLedger, type SiteKey } from './ledger.ts';
import { forEachLimited, LEDGER_HEADERS, type ObjectStore } from './object-store.ts';
import { type ContentEncoding, NoLongerPublicError } from './static-file.ts';
import type { StaticListing, StaticPage } from './static-listing.ts';
import {
  emptyTally,
  faultText,
  hideFromSite,
  InterruptedError,
  numberAfter,
  pageLedger,
  putFile,
  removePage,
  siteLedger,
  siteLedgerText,
  storageSettings,
  type Tally,
  type TargetRun,
  uploadPage,
} from './write-page.ts';

interface TargetOptions {
  readonly store: ObjectStore;
  /** Default: files are stored as they are. */
  readonly encoding?: ContentEncoding;
  readonly listing: StaticListing;
  /** Key for the encrypted part of the ledger. */
  readonly key: SiteKey;
  /** Called with the release numbers that are in use on the target, by slug. */
  readonly onNumbers: (numbers: ReadonlyMap<string, number>) => Promise<void>;
  readonly elapsed?: () => number;
}

export type Target = ReturnType<typeof createTarget>;

export type TargetReport = Awaited<ReturnType<Target['update']>>;

/** Called with the number of changed pages that are complete. */
type OnPage = (done: number, total: number) => void;

/** After this many restarts, an update leaves the rest to the next one. */
const RESTARTS_MAX = 20;
/** Limits writes of `api/now.json`, because buckets charge for them. */
const REFRESH_EVERY_MS = 60_000;
/** In a bucket, writing the ledger costs a request, like a file. */
const PACE = {
  folder: { concurrency: 16, checkpointFiles: 500 },
  s3: { concurrency: 8, checkpointFiles: 50 },
} as const;

/** Creates a target; its first run reads the ledger. */
export function createTarget(options: TargetOptions) {
  const { store, listing, key, encoding = 'identity', elapsed = () => performance.now() } = options;
  let memory: TargetRun['memory'] | null = null;
  let isFirstRun = true;
  let isInterrupted = false;
  let isClosed = false;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  const warningsOfOpening: string[] = [];
  const inTurn = pLimit(1);

  async function remember(tally: Tally): Promise<TargetRun['memory']> {
    if (memory !== null) return memory;
    const found = await readMemory({ store, key, encoding, tally });
    await options.onNumbers(new Map([...found.pages].map(([slug, { number }]) => [slug, number])));
    memory = found;
    return found;
  }

  async function updateUntilDone(tally: Tally, onPage: OnPage): Promise<void> {
    const ledger = await remember(tally);
    // In a folder, it costs nothing to check whether files were deleted.
    const isThorough = isFirstRun && store.has !== undefined;
    const common = { store, encoding, ...PACE[store.kind], key, memory: ledger, tally, isThorough };
    for (let restarts = 0; restarts <= RESTARTS_MAX; restarts += 1) {
      isInterrupted = false;
      tally.filesKept = 0;
      const site = listing.look();
      const run = { ...common, site, gone: new Map(), isInterrupted: () => isInterrupted || isClosed };
      await updateOnce(run, onPage).catch((error: unknown) => {
        const isLeaving = error instanceof NoLongerPublicError;
        if (isClosed || (!isLeaving && !(error instanceof InterruptedError))) throw error;
        isInterrupted = true;
      });
      if (isInterrupted || hasNewer(run, listing)) continue;
      for (const fault of run.gone.values()) tally.failures.push(fault);
      isFirstRun = false;
      return;
    }
    tally.failures.push(
      `Stopped part-way after starting over ${RESTARTS_MAX} times, because pages became private or were published again. The next run continues.`,
    );
  }

  /** Brings the target up to date, and at most once a minute writes every page's `api/now.json`. */
  async function updateOnce(run: TargetRun, onPage: OnPage): Promise<void> {
    const unchanged = run.site.pages.filter(({ slug, mark }) => run.memory.pages.get(slug)?.mark === mark);
    await updateFiles(run, onPage);
    if (elapsed() - refreshedAt < REFRESH_EVERY_MS) return;
    await refreshNow(run, unchanged);
    refreshedAt = elapsed();
  }

  async function update(onPage: OnPage = () => undefined) {
    const started = elapsed();
    const tally = { ...emptyTally(), warnings: warningsOfOpening.splice(0) };
    try {
      await updateUntilDone(tally, onPage);
    } catch (error) {
      // After an error, the contents of the target are uncertain.
      memory = null;
      tally.failures.push(faultText(error));
    }
    const { failures, ...counted } = tally;
    return {
      kind: store.kind,
      place: store.place,
      result: failures.length === 0 ? ('current' as const) : ('failed' as const),
      ...counted,
      durationMs: elapsed() - started,
      /** What went wrong, and what to do; the next run tries again. */
      message: failures.length === 0 ? null : failures.join(' '),
    };
  }

  return {
    kind: store.kind,
    place: store.place,
    /** Reads the ledger before the first update. If it can't be read, the update fails too, and reports the error. */
    open: () =>
      inTurn(async () => {
        await remember({ ...emptyTally(), warnings: warningsOfOpening }).catch(() => undefined);
      }),
    /** Brings the target up to date. Never throws, because errors are in the report. One call at a time. */
    update: (onPage?: OnPage) => inTurn(() => update(onPage)),
    /** Restarts the current update, beginning with removals. */
    interrupt: () => {
      isInterrupted = true;
    },
    /** Writes and removes a test file. @throws if the site can't be written there */
    probe: () => probe(store, key),
    // An update stops at the next file, and leaves ledgers from which the next one continues.
    close: async () => {
      isClosed = true;
      await store.close();
      await inTurn(() => undefined);
    },
  };
}

/** Whether a page whose release was removed while it was written has another one by now. */
function hasNewer({ site, gone }: TargetRun, listing: StaticListing): boolean {
  if (gone.size === 0) return false;
  const numbers = new Map(site.pages.map(({ slug, number }) => [slug, number]));
  return listing.look().pages.some(({ slug, number }) => gone.has(slug) && numbers.get(slug) !== number);
}

async function probe(store: ObjectStore, key: SiteKey): Promise<void> {
  try {
    await readLedger(store, siteLedger(key));
    await store.put('.pharos-probe', Buffer.from('Written by Pharos to check that it can write here.\n'), {
      ...LEDGER_HEADERS,
      'content-type': 'text/plain; charset=utf-8',
    });
    await store.remove('.pharos-probe');
  } catch (error) {
    throw isStatusError(error) ? error : new StatusError({ code: 'TARGET_REFUSED', message: messageOf(error) });
  }
}

type Opening = Pick<TargetRun, 'store' | 'key' | 'encoding' | 'tally'>;

async function readMemory({ store, key, encoding, tally }: Opening): Promise<TargetRun['memory']> {
  const format = siteLedger(key);
  const found = await readLedger(store, format);
  const { version } = found;
  if (found.kind === 'unreadable')
    tally.warnings.push(`${format.key} on the target is unreadable, so everything is written again.`);
  if (found.kind !== 'read')
    return { pages: new Map(), version, doubts: found.kind === 'unreadable' ? 'unreadable' : 'missing' };
  const { pages, settings, isWhole } = found.ledger;
  if (settings !== storageSettings(encoding))
    for (const [slug, entry] of pages) pages.set(slug, { ...entry, mark: '' });
  if (!isWhole)
    tally.warnings.push(
      `${format.key} on the target was written with another key, so Pharos can’t tell which sealed pages are there. Set the same access.key wherever this site is built.`,
    );
  return { pages, version, doubts: isWhole ? 'none' : 'unreadable' };
}

async function updateFiles(run: TargetRun, onPage: OnPage): Promise<void> {
  const { store, site, memory, tally, isThorough } = run;
  const leaving = leavingPages(run);
  const changed = site.pages.filter(({ slug, mark }) => isThorough || memory.pages.get(slug)?.mark !== mark);
  const isChanged = new Set(changed.map(({ slug }) => slug));
  for (const { slug } of site.pages) if (!isChanged.has(slug)) tally.filesKept += memory.pages.get(slug)?.files ?? 0;
  for (const slug of site.unreadable)
    tally.warnings.push(`${slug} is unreadable on this machine; its files on the target stay as they are.`);
  if (leaving.length === 0 && changed.length === 0) return;
  const known = new Set([...memory.pages].filter(([, { isWhole }]) => isWhole).map(([slug]) => slug));
  const emptied: string[] = [];
  for (const slug of leaving) if (await removePage(run, slug)) emptied.push(slug);
  const own = changed.find(({ slug }) => slug === SITE_SLUG);
  const others = changed.filter((page) => page !== own);
  await noteChanging(run, changed);
  for (const slug of emptied) await store.remove(pageLedger(slug).key);
  if (leaving.length > 0 && own !== undefined)
    await hideFromSite(
      run,
      own,
      others.every(({ slug }) => known.has(slug)),
    );
  for (const [index, page] of others.entries()) {
    onPage(index, others.length);
    await uploadPage(run, page);
  }
  if (own !== undefined && tally.failures.length + run.gone.size === 0) await uploadPage(run, own);
  await writeSiteLedger(run);
}

/** Pages that must be removed from the target first, also where a sealed page or another page follows. */
function leavingPages({ site, memory }: TargetRun): string[] {
  const listed = new Map(site.pages.map((page) => [page.slug, page]));
  const there = [...memory.pages.keys(), ...(memory.doubts === 'none' ? [] : [...site.gated, HOME_SLUG])];
  return [...new Set(there)].filter((slug) => {
    if (site.unreadable.has(slug)) return false;
    const page = listed.get(slug);
    const entry = memory.pages.get(slug);
    // What another page left at the slug is never mixed with the files of this one.
    // Older versions don't say of which page the copy at the root is.
    const isTold = slug !== HOME_SLUG || entry?.page !== undefined;
    const isReplaced = entry !== undefined && isTold && entry.page !== page?.page;
    return page === undefined || isReplaced || (page.isSealed && entry?.isSealed === false);
  });
}

/** Not counted as written files, because they only get a newer time. */
async function refreshNow(run: TargetRun, pages: readonly StaticPage[]): Promise<void> {
  const files = pages.flatMap((page) => page.now());
  try {
    await forEachLimited(files, run.concurrency, async (file) => {
      if (run.isInterrupted()) throw new InterruptedError();
      await putFile(run, file);
    });
  } catch (error) {
    if (error instanceof InterruptedError || error instanceof NoLongerPublicError) throw error;
    run.tally.failures.push(faultText(error));
  }
}

/** From here on, the pages count as partly written, whatever happens. */
async function noteChanging(run: TargetRun, changed: readonly StaticPage[]): Promise<void> {
  const { memory } = run;
  for (const page of changed) {
    const { slug, isSealed } = page;
    const { files = 0, isWhole = false } = memory.pages.get(slug) ?? {};
    memory.pages.set(slug, { mark: '', files, isSealed, isWhole, number: numberAfter(run, page), page: page.page });
  }
  await writeSiteLedger(run);
  memory.doubts = 'none';
}

async function writeSiteLedger({ store, key, encoding, memory }: TargetRun): Promise<void> {
  const text = siteLedgerText(storageSettings(encoding), memory.pages, key);
  memory.version = await store.replace(siteLedger(key).key, Buffer.from(text), memory.version);
}
