/** Removes what is no longer public from a target, before anything is written. */

import { SITE_SLUG } from '../releases/folders.ts';
import { pageLedgerPath, pageLedgerText, parsePageLedger } from './ledger.ts';
import type { StaticPage } from './static-listing.ts';
import { contentStamp, eachOf, type TargetRun } from './target-run.ts';
import { uploadPage } from './upload-page.ts';

/** Pages that must be removed from the target, or replaced by sealed ones. */
export function leavingPages({ site, memory }: TargetRun): string[] {
  const listed = new Map(site.pages.map((page) => [page.slug, page]));
  const there = [...memory.pages.keys(), ...(memory.doubts === 'none' ? [] : site.gated)];
  return [...new Set(there)].filter((slug) => {
    if (site.unreadable.has(slug)) return false;
    const page = listed.get(slug);
    return page === undefined || (page.isSealed && memory.pages.get(slug)?.isSealed === false);
  });
}

/** Documents are removed first, then the files they link to. */
function inOrderOfLeaving(paths: readonly string[]): readonly string[] {
  const depth = (path: string): number => (path.endsWith('.html') ? path.split('/').length : Number.MAX_SAFE_INTEGER);
  return paths.toSorted((a, b) => depth(a) - depth(b));
}

/** @returns whether a ledger of the page is there, empty by now */
export async function removePage({ store, site, memory, tally }: TargetRun, slug: string): Promise<boolean> {
  const ledger = await store.readLedger(pageLedgerPath(slug));
  const files = ledger === null ? null : parsePageLedger(slug, ledger.text);
  // Nothing is written before a ledger lists it. A page that was never complete and has no ledger has no files.
  const isLost = files === null && (ledger !== null || memory.pages.get(slug)?.isWhole === true);
  if (isLost)
    tally.warnings.push(
      `Pharos doesn’t know which files of ${slug} are on the target. Check ${slug}/ yourself, because the page is no longer public.`,
    );
  // The files of its current release are the best guess at what was there.
  const guessed = isLost || memory.doubts === 'unreadable' ? site.pathsOf(slug) : [];
  const paths = inOrderOfLeaving(files === null ? guessed : [...files.keys()]);
  await eachOf(paths, store.concurrency, async (path) => {
    await store.remove(path);
    tally.filesRemoved += 1;
  });
  // Emptied before the site's ledger forgets the page, and removed after that. A crash in between does no harm.
  if (ledger !== null) await store.writeLedger(pageLedgerPath(slug), pageLedgerText(new Map()));
  memory.pages.delete(slug);
  return ledger !== null;
}

/**
 * The root may be a copy of a page that is no longer public. It is replaced first, unless its links point to files that are
 * still to be written; then it is removed with that page.
 */
export async function hideFromSite(
  run: TargetRun,
  { own, others, known }: { own: StaticPage; others: readonly StaticPage[]; known: ReadonlySet<string> },
): Promise<void> {
  if (others.every(({ slug }) => known.has(slug))) return uploadPage(run, own);
  const ledger = await run.store.readLedger(pageLedgerPath(SITE_SLUG));
  const before = (ledger === null ? null : parsePageLedger(SITE_SLUG, ledger.text)) ?? new Map<string, string>();
  const stale = own
    .files()
    .filter(({ path, identity }) => before.has(path) && before.get(path) !== contentStamp(run, identity));
  for (const { path } of stale) {
    await run.store.remove(path);
    run.tally.filesRemoved += 1;
  }
}
