/**
 * Updates a target: first removes what is no longer public, then writes each changed page (data, HTML, its index), then removes
 * files that pages no longer have, and finally writes the site's own files, which link to all pages. A ledger is written before
 * any file is touched, so after a crash nothing is forgotten and little is written twice. Once a minute, each page gets a new
 * `api/now.json`.
 */

import pLimit from 'p-limit';
import { SITE_SLUG } from '../releases/folders.ts';
import { numbersIn, pageLedgerPath, parseSiteLedger, SITE_LEDGER, siteLedgerText } from './ledger.ts';
import { hideFromSite, leavingPages, removePage } from './remove-files.ts';
import type { SiteKey } from './sealed-entries.ts';
import { NoLongerPublicError } from './static-file.ts';
import type { StaticListing, StaticPage } from './static-listing.ts';
import type { OnPage, Target, TargetReport, TargetStore } from './target.ts';
import {
  eachOf,
  faultText,
  InterruptedError,
  numberAfter,
  RestlessError,
  type Tally,
  type TargetLedger,
  type TargetRun,
} from './target-run.ts';
import { uploadPage } from './upload-page.ts';

export interface TargetOptions {
  readonly store: TargetStore;
  readonly listing: StaticListing;
  /** Key for the encrypted part of the ledger. */
  readonly key: SiteKey;
  /** Called with the release numbers that are in use on the target, by slug. */
  readonly onNumbers: (numbers: ReadonlyMap<string, number>) => Promise<void>;
  readonly elapsed?: () => number;
}

/** After this many restarts, an update leaves the rest to the next one. */
const RESTARTS_MAX = 20;
/** Limits writes of `api/now.json`, because buckets charge for them. */
const REFRESH_EVERY_MS = 60_000;

/** Creates a target; its first run reads the ledger. */
export function createTarget({
  store,
  listing,
  key,
  onNumbers,
  elapsed = () => performance.now(),
}: TargetOptions): Target {
  let memory: TargetLedger | null = null;
  let isFirstRun = true;
  let isInterrupted = false;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  const warningsOfOpening: string[] = [];
  const inTurn = pLimit(1);

  async function remember(tally: Tally): Promise<TargetLedger> {
    if (memory !== null) return memory;
    const found = await readMemory({ store, key, tally });
    await onNumbers(numbersIn(found.pages));
    memory = found;
    return found;
  }

  async function update(onPage: OnPage = () => undefined): Promise<TargetReport> {
    const started = elapsed();
    const tally: Tally = { ...emptyTally(), warnings: warningsOfOpening.splice(0) };
    try {
      const ledger = await remember(tally);
      // In a folder, it costs nothing to check whether files were deleted.
      const isThorough = isFirstRun && store.has !== undefined;
      for (let restarts = 0; restarts === 0 || isInterrupted; restarts += 1) {
        if (restarts > RESTARTS_MAX) throw new RestlessError(RESTARTS_MAX);
        isInterrupted = false;
        const run = {
          store,
          key,
          site: listing.look(),
          memory: ledger,
          tally,
          isThorough,
          isInterrupted: () => isInterrupted,
        };
        await bring(run, onPage).catch((error: unknown) => {
          const isLeaving = error instanceof NoLongerPublicError;
          if (!isLeaving && !(error instanceof InterruptedError)) throw error;
          isInterrupted = true;
        });
      }
      isFirstRun = false;
    } catch (error) {
      // After an error, the contents of the target are uncertain. A RestlessError is none: each restart stopped at a safe
      // point.
      if (!(error instanceof RestlessError)) memory = null;
      tally.failures.push(faultText(error));
    }
    const { failures, ...counted } = tally;
    return {
      kind: store.kind,
      place: store.place,
      result: failures.length === 0 ? 'current' : 'failed',
      ...counted,
      durationMs: elapsed() - started,
      message: failures.length === 0 ? null : failures.join(' '),
    };
  }

  /** Brings the target up to date, and at most once a minute writes every page's `api/now.json`. */
  async function bring(run: TargetRun, onPage: OnPage): Promise<void> {
    const unchanged = run.site.pages.filter(({ slug, mark }) => run.memory.pages.get(slug)?.mark === mark);
    await updateFiles(run, onPage);
    if (elapsed() - refreshedAt < REFRESH_EVERY_MS) return;
    await refreshNow(run, unchanged);
    refreshedAt = elapsed();
  }

  return {
    kind: store.kind,
    place: store.place,
    // If the target can't be read, the update fails too, and reports the error.
    open: () =>
      inTurn(() => remember({ ...emptyTally(), warnings: warningsOfOpening })).then(
        () => undefined,
        () => undefined,
      ),
    update: (onPage) => inTurn(() => update(onPage)),
    interrupt: () => {
      isInterrupted = true;
    },
    probe: store.probe,
    close: async () => {
      await store.close();
      await inTurn(() => undefined);
    },
  };
}

function emptyTally(): Tally {
  return { filesWritten: 0, filesKept: 0, filesRemoved: 0, bytesWritten: 0, warnings: [], failures: [] };
}

async function readMemory({ store, key, tally }: Pick<TargetRun, 'store' | 'key' | 'tally'>): Promise<TargetLedger> {
  const found = await store.readLedger(SITE_LEDGER);
  if (found === null) return { pages: new Map(), version: null, doubts: 'missing' };
  const ledger = parseSiteLedger(found.text, key);
  if (ledger === null) {
    tally.warnings.push(`${SITE_LEDGER} on the target is unreadable, so everything is written again.`);
    return { pages: new Map(), version: found.version, doubts: 'unreadable' };
  }
  if (ledger.settings !== store.settings)
    for (const [slug, entry] of ledger.pages) ledger.pages.set(slug, { ...entry, mark: '' });
  if (!ledger.isWhole)
    tally.warnings.push(
      `${SITE_LEDGER} on the target was written with another key, so Pharos can’t tell which sealed pages are there. Set the same access.key wherever this site is built.`,
    );
  return { pages: ledger.pages, version: found.version, doubts: ledger.isWhole ? 'none' : 'unreadable' };
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
  for (const slug of emptied) await store.remove(pageLedgerPath(slug));
  if (leaving.length > 0 && own !== undefined) await hideFromSite(run, { own, others, known });
  for (const [index, page] of others.entries()) {
    onPage(index, others.length);
    await uploadPage(run, page);
  }
  if (own !== undefined && tally.failures.length === 0) await uploadPage(run, own);
  await writeSiteLedger(run);
}

/** Not counted as written files, because they only get a newer time. */
async function refreshNow(run: TargetRun, pages: readonly StaticPage[]): Promise<void> {
  const { store, tally } = run;
  const files = pages.flatMap((page) => page.now() ?? []);
  try {
    await eachOf(files, store.concurrency, async (file) => {
      if (run.isInterrupted()) throw new InterruptedError();
      tally.bytesWritten += await store.put(file);
    });
  } catch (error) {
    if (error instanceof InterruptedError || error instanceof NoLongerPublicError) throw error;
    tally.failures.push(faultText(error));
  }
}

/** From here on, the pages count as partly written, whatever happens. */
async function noteChanging(run: TargetRun, changed: readonly StaticPage[]): Promise<void> {
  const { memory } = run;
  for (const page of changed) {
    const { slug, isSealed } = page;
    const { files = 0, isWhole = false } = memory.pages.get(slug) ?? {};
    memory.pages.set(slug, { mark: '', files, isSealed, isWhole, number: numberAfter(run, page) });
  }
  await writeSiteLedger(run);
  memory.doubts = 'none';
}

async function writeSiteLedger({ store, key, memory }: TargetRun): Promise<void> {
  const text = siteLedgerText(store.settings, memory.pages, key);
  memory.version = await store.writeLedger(SITE_LEDGER, text, memory.version);
}
