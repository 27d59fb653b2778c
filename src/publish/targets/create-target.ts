/**
 * Brings a target up to date: first what is no longer public goes, then each changed page comes (data, HTML, its index),
 * then what it has no more goes, and at last come the site's own files, which link to all pages. Before a file is touched,
 * a ledger says so; so after a crash at any point nothing is forgotten, and little is written twice.
 */

import { isStatusError, messageOf } from '../../errors.ts';
import { SITE_SLUG } from '../site-release.ts';
import {
  type PageEntries,
  type PageFiles,
  pageLedgerPath,
  pageLedgerText,
  parsePageLedger,
  parseSiteLedger,
  SITE_LEDGER,
  siteLedgerText,
} from './ledger.ts';
import { NoLongerPublicError, ReleaseGoneError, STAGES, type StaticFile } from './static-file.ts';
import type { StaticListing, StaticPage, StaticSite } from './static-listing.ts';
import type { Target, TargetReport, TargetStore } from './target.ts';

/** What is known of the target between two runs. */
interface Memory {
  readonly pages: PageEntries;
  /** Of the site ledger; null: there is none. */
  version: string | null;
  /** Until the ledger is written: there is none, or none that can be understood, so gated pages may be there unlisted. */
  doubts: 'none' | 'missing' | 'unreadable';
}

interface Tally {
  filesWritten: number;
  filesKept: number;
  filesRemoved: number;
  bytesWritten: number;
  readonly warnings: string[];
  readonly failures: string[];
}

interface Run {
  readonly store: TargetStore;
  readonly site: StaticSite;
  readonly memory: Memory;
  readonly tally: Tally;
  /** Every file is compared, also of pages that seem to be there. */
  readonly isThorough: boolean;
}

export interface TargetOptions {
  readonly store: TargetStore;
  readonly listing: StaticListing;
  readonly elapsed?: () => number;
}

/** Makes a target; its first run reads what the target holds. */
export function createTarget({ store, listing, elapsed = () => performance.now() }: TargetOptions): Target {
  let memory: Memory | null = null;
  let isFirstRun = true;
  let last: Promise<unknown> = Promise.resolve();

  async function update(): Promise<TargetReport> {
    const started = elapsed();
    const tally: Tally = {
      filesWritten: 0,
      filesKept: 0,
      filesRemoved: 0,
      bytesWritten: 0,
      warnings: [],
      failures: [],
    };
    try {
      const site = listing.look();
      memory ??= await readMemory(store, tally);
      // A folder tells at no cost whether somebody removed files from it.
      await bringUp({ store, site, memory, tally, isThorough: isFirstRun && store.has !== undefined });
      isFirstRun = false;
    } catch (error) {
      // What is there is not known for sure any more.
      memory = null;
      tally.failures.push(wordsOf(error));
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

  return {
    kind: store.kind,
    place: store.place,
    update: () => {
      const mine = last.then(update);
      last = mine;
      return mine;
    },
    probe: store.probe,
    close: async () => {
      await store.close();
      await last;
    },
  };
}

async function readMemory(store: TargetStore, tally: Tally): Promise<Memory> {
  const found = await store.readLedger(SITE_LEDGER);
  if (found === null) return { pages: new Map(), version: null, doubts: 'missing' };
  const ledger = parseSiteLedger(found.text);
  if (ledger === null) {
    tally.warnings.push(`${SITE_LEDGER} there cannot be understood: everything is written again.`);
    return { pages: new Map(), version: found.version, doubts: 'unreadable' };
  }
  if (ledger.settings !== store.settings)
    for (const [slug, entry] of ledger.pages) ledger.pages.set(slug, { ...entry, mark: '' });
  return { pages: ledger.pages, version: found.version, doubts: 'none' };
}

async function bringUp(run: Run): Promise<void> {
  const { store, site, memory, tally, isThorough } = run;
  const leaving = leavingPages(run);
  const changed = site.pages.filter(({ slug, mark }) => isThorough || memory.pages.get(slug)?.mark !== mark);
  const isChanged = new Set(changed.map(({ slug }) => slug));
  for (const { slug } of site.pages) if (!isChanged.has(slug)) tally.filesKept += memory.pages.get(slug)?.files ?? 0;
  for (const slug of site.unreadable) tally.warnings.push(`${slug} cannot be read here; what is there of it stays.`);
  if (leaving.length === 0 && changed.length === 0) return;
  const known = new Set([...memory.pages].filter(([, { isWhole }]) => isWhole).map(([slug]) => slug));
  const emptied: string[] = [];
  for (const slug of leaving) if (await takeAway(run, slug)) emptied.push(slug);
  const own = changed.find(({ slug }) => slug === SITE_SLUG);
  const others = changed.filter((page) => page !== own);
  await noteChanging(run, changed);
  for (const slug of emptied) await store.remove(pageLedgerPath(slug));
  if (leaving.length > 0 && own !== undefined) await hideFromSite(run, { own, others, known });
  for (const page of others) await bringPage(run, page);
  if (own !== undefined && tally.failures.length === 0) await bringPage(run, own);
  await writeSiteLedger(run);
}

/** Pages that a visitor of the target must not see any more, or not in the clear. */
function leavingPages({ site, memory }: Run): string[] {
  const listed = new Map(site.pages.map((page) => [page.slug, page]));
  const there = [...memory.pages.keys(), ...(memory.doubts === 'none' ? [] : site.gated)];
  return [...new Set(there)].filter((slug) => {
    if (site.unreadable.has(slug)) return false;
    const page = listed.get(slug);
    return page === undefined || (page.isSealed && memory.pages.get(slug)?.isSealed === false);
  });
}

/** @returns whether a ledger of the page is there, empty by now */
async function takeAway({ store, site, memory, tally }: Run, slug: string): Promise<boolean> {
  const ledger = await store.readLedger(pageLedgerPath(slug));
  const files = ledger === null ? null : parsePageLedger(slug, ledger.text);
  // Nothing is put before a ledger lists it: a page that was never whole and has none is not there.
  const isLost = files === null && (ledger !== null || memory.pages.get(slug)?.isWhole === true);
  if (isLost)
    tally.warnings.push(
      `It is not known which files of ${slug} are there; look below ${slug}/ yourself, since that page is not public any more.`,
    );
  // What its release has by now is the best guess at what was there.
  const guessed = isLost || memory.doubts === 'unreadable' ? site.pathsOf(slug) : [];
  const paths = files === null ? guessed : [...files.keys()];
  await eachOf(paths, store.concurrency, async (path) => {
    await store.remove(path);
    tally.filesRemoved += 1;
  });
  // Emptied before the site's ledger forgets the page, removed after: a crash in between misleads nobody.
  if (ledger !== null) await store.writeLedger(pageLedgerPath(slug), pageLedgerText(new Map()));
  memory.pages.delete(slug);
  return ledger !== null;
}

/** From here on the pages count as half written, whatever happens. */
async function noteChanging(run: Run, changed: readonly StaticPage[]): Promise<void> {
  const { memory } = run;
  for (const { slug, isSealed } of changed) {
    const { files = 0, isWhole = false } = memory.pages.get(slug) ?? {};
    memory.pages.set(slug, { mark: '', files, isSealed, isWhole });
  }
  await writeSiteLedger(run);
  memory.doubts = 'none';
}

/**
 * The root may be a copy of a page that is not public any more. It is replaced first, if it links to nothing that is
 * still to come; otherwise it goes with that page.
 */
async function hideFromSite(
  run: Run,
  { own, others, known }: { own: StaticPage; others: readonly StaticPage[]; known: ReadonlySet<string> },
): Promise<void> {
  if (others.every(({ slug }) => known.has(slug))) return bringPage(run, own);
  const ledger = await run.store.readLedger(pageLedgerPath(SITE_SLUG));
  const before = (ledger === null ? null : parsePageLedger(SITE_SLUG, ledger.text)) ?? new Map<string, string>();
  const stale = own
    .files()
    .filter(({ path, identity }) => before.has(path) && before.get(path) !== stampOf(run, identity));
  for (const { path } of stale) {
    await run.store.remove(path);
    run.tally.filesRemoved += 1;
  }
}

/** One page with everything it has. What fails of it alone is told, and leaves the others their turn. */
async function bringPage(run: Run, page: StaticPage): Promise<void> {
  const { memory, tally } = run;
  try {
    const files = await bringFiles(run, page);
    memory.pages.set(page.slug, { mark: page.mark, files, isSealed: page.isSealed, isWhole: true });
  } catch (error) {
    const isOfPage = error instanceof ReleaseGoneError || (isStatusError(error) && error.context['isOfFile'] === true);
    if (!isOfPage) throw error;
    tally.failures.push(wordsOf(error));
  }
}

async function bringFiles(run: Run, { slug, files: list }: StaticPage): Promise<number> {
  const { store, tally } = run;
  const ledgerPath = pageLedgerPath(slug);
  const ledger = await store.readLedger(ledgerPath);
  const read = ledger === null ? null : parsePageLedger(slug, ledger.text);
  if (ledger !== null && read === null)
    tally.warnings.push(`${ledgerPath} there cannot be understood: all of ${slug} is written again.`);
  const there: PageFiles = read ?? new Map();
  const files = list();
  const isThere = ({ path, identity }: StaticFile): boolean =>
    there.get(path) === stampOf(run, identity) && (!run.isThorough || store.has?.(path) !== false);
  const missing = files.filter((file) => !isThere(file));
  const listed = new Set(files.map(({ path }) => path));
  const gone = [...there.keys()].filter((path) => !listed.has(path));
  tally.filesKept += files.length - missing.length;
  if (missing.length === 0 && gone.length === 0 && read !== null) return files.length;
  for (const { path } of missing) there.set(path, '');
  const note = async (): Promise<void> => void (await store.writeLedger(ledgerPath, pageLedgerText(there)));
  await note();
  try {
    await putAll(run, missing, { there, note });
    for (const path of gone) {
      await store.remove(path);
      there.delete(path);
      tally.filesRemoved += 1;
    }
  } catch (error) {
    // What was done so far need not be done again. Should this fail as well, the first failure is the one to tell.
    await note().catch(() => undefined);
    throw error;
  }
  await note();
  return files.length;
}

async function putAll(
  run: Run,
  missing: readonly StaticFile[],
  { there, note }: { readonly there: PageFiles; readonly note: () => Promise<void> },
): Promise<void> {
  const { store, tally } = run;
  for (const stage of STAGES) {
    const files = missing.filter((file) => file.stage === stage);
    for (let from = 0; from < files.length; from += store.checkpointFiles) {
      if (from > 0) await note();
      await eachOf(files.slice(from, from + store.checkpointFiles), store.concurrency, async (file) => {
        tally.bytesWritten += await store.put(file);
        tally.filesWritten += 1;
        there.set(file.path, stampOf(run, file.identity));
      });
    }
  }
}

async function writeSiteLedger({ store, memory }: Run): Promise<void> {
  memory.version = await store.writeLedger(SITE_LEDGER, siteLedgerText(store.settings, memory.pages), memory.version);
}

/** What the ledger says of a file: what it is, and how it is stored. */
function stampOf({ store }: Run, identity: string): string {
  return `${identity.slice(0, 40)}${store.settings}`;
}

/** Several at a time. After the first failure nothing more is begun, and what is under way is waited for. */
async function eachOf<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const todo = items.values();
  let failure: { readonly error: unknown } | null = null;
  const hand = async (): Promise<void> => {
    for (const item of todo) {
      if (failure !== null) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, hand));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}

function wordsOf(error: unknown): string {
  if (error instanceof NoLongerPublicError || error instanceof ReleaseGoneError)
    return `Stopped half-way, since ${error.message}; the next run goes on.`;
  return messageOf(error);
}
