/**
 * Updates a target: first what is no longer public goes, then each changed page comes (data, HTML, its index),
 * then what it has no more goes, and at last come the site's own files, which link to all pages. Before a file is touched,
 * a ledger says so; so after a crash at any point nothing is forgotten, and little is written twice.
 */

import pLimit from 'p-limit';
import { SITE_SLUG } from '../site/site-release.ts';
import { pageLedgerPath, parseSiteLedger, SITE_LEDGER, siteLedgerText } from './ledger.ts';
import { hideFromSite, leavingPages, removePage } from './remove-files.ts';
import type { StaticListing, StaticPage } from './static-listing.ts';
import type { Target, TargetReport, TargetStore } from './target.ts';
import { faultText, type Tally, type TargetLedger, type TargetRun } from './target-run.ts';
import { uploadPage } from './upload-page.ts';

export interface TargetOptions {
  readonly store: TargetStore;
  readonly listing: StaticListing;
  readonly elapsed?: () => number;
}

/** Makes a target; its first run reads what the target holds. */
export function createTarget({ store, listing, elapsed = () => performance.now() }: TargetOptions): Target {
  let memory: TargetLedger | null = null;
  let isFirstRun = true;
  const inTurn = pLimit(1);

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
      await updateFiles({ store, site, memory, tally, isThorough: isFirstRun && store.has !== undefined });
      isFirstRun = false;
    } catch (error) {
      // What is there is not known for sure any more.
      memory = null;
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

  return {
    kind: store.kind,
    place: store.place,
    update: () => inTurn(update),
    probe: store.probe,
    close: async () => {
      await store.close();
      await inTurn(() => undefined);
    },
  };
}

async function readMemory(store: TargetStore, tally: Tally): Promise<TargetLedger> {
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

async function updateFiles(run: TargetRun): Promise<void> {
  const { store, site, memory, tally, isThorough } = run;
  const leaving = leavingPages(run);
  const changed = site.pages.filter(({ slug, mark }) => isThorough || memory.pages.get(slug)?.mark !== mark);
  const isChanged = new Set(changed.map(({ slug }) => slug));
  for (const { slug } of site.pages) if (!isChanged.has(slug)) tally.filesKept += memory.pages.get(slug)?.files ?? 0;
  for (const slug of site.unreadable) tally.warnings.push(`${slug} cannot be read here; what is there of it stays.`);
  if (leaving.length === 0 && changed.length === 0) return;
  const known = new Set([...memory.pages].filter(([, { isWhole }]) => isWhole).map(([slug]) => slug));
  const emptied: string[] = [];
  for (const slug of leaving) if (await removePage(run, slug)) emptied.push(slug);
  const own = changed.find(({ slug }) => slug === SITE_SLUG);
  const others = changed.filter((page) => page !== own);
  await noteChanging(run, changed);
  for (const slug of emptied) await store.remove(pageLedgerPath(slug));
  if (leaving.length > 0 && own !== undefined) await hideFromSite(run, { own, others, known });
  for (const page of others) await uploadPage(run, page);
  if (own !== undefined && tally.failures.length === 0) await uploadPage(run, own);
  await writeSiteLedger(run);
}

/** From here on the pages count as half written, whatever happens. */
async function noteChanging(run: TargetRun, changed: readonly StaticPage[]): Promise<void> {
  const { memory } = run;
  for (const { slug, isSealed } of changed) {
    const { files = 0, isWhole = false } = memory.pages.get(slug) ?? {};
    memory.pages.set(slug, { mark: '', files, isSealed, isWhole });
  }
  await writeSiteLedger(run);
  memory.doubts = 'none';
}

async function writeSiteLedger({ store, memory }: TargetRun): Promise<void> {
  memory.version = await store.writeLedger(SITE_LEDGER, siteLedgerText(store.settings, memory.pages), memory.version);
}
