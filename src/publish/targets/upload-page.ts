/** Writes one page to a target. Before a file is touched, the ledger marks it as possibly there in any version. */

import { isStatusError } from '../../errors.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import { type PageFiles, pageLedgerPath, pageLedgerText, parsePageLedger } from './ledger.ts';
import { ReleaseGoneError, STAGES, type StaticFile } from './static-file.ts';
import type { StaticPage } from './static-listing.ts';
import { contentStamp, eachOf, faultText, InterruptedError, numberAfter, type TargetRun } from './target-run.ts';

/** Writes all files of one page. Its failure is reported and doesn't stop other pages. */
export async function uploadPage(run: TargetRun, page: StaticPage): Promise<void> {
  const { memory, tally } = run;
  try {
    const files = await uploadFiles(run, page);
    const { slug, mark, isSealed } = page;
    memory.pages.set(slug, { mark, files, isSealed, isWhole: true, number: numberAfter(run, page) });
  } catch (error) {
    const isOfPage = error instanceof ReleaseGoneError || (isStatusError(error) && error.context['isOfFile'] === true);
    if (!isOfPage) throw error;
    tally.failures.push(faultText(error));
  }
}

async function uploadFiles(run: TargetRun, { slug, files: list }: StaticPage): Promise<number> {
  const { store, tally } = run;
  const ledgerPath = pageLedgerPath(slug);
  const ledger = await store.readLedger(ledgerPath);
  const read = ledger === null ? null : parsePageLedger(slug, ledger.text);
  if (ledger !== null && read === null)
    tally.warnings.push(`${ledgerPath} on the target is unreadable, so all of ${slug} is written again.`);
  const there: PageFiles = read ?? new Map();
  const files = list();
  const isThere = ({ path, identity }: StaticFile): boolean =>
    there.get(path) === contentStamp(run, identity) && (!run.isThorough || store.has?.(path) !== false);
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
    // The home page's files at the root were written before and stay.
    const homePaths = slug === SITE_SLUG ? run.site.homePaths() : new Set<string>();
    for (const path of gone) {
      if (!homePaths.has(path)) {
        await store.remove(path);
        tally.filesRemoved += 1;
      }
      there.delete(path);
    }
  } catch (error) {
    // Records what was done so far. If that fails too, the first error is reported.
    await note().catch(() => undefined);
    throw error;
  }
  await note();
  return files.length;
}

async function putAll(
  run: TargetRun,
  missing: readonly StaticFile[],
  { there, note }: { readonly there: PageFiles; readonly note: () => Promise<void> },
): Promise<void> {
  const { store, tally } = run;
  for (const stage of STAGES) {
    const files = missing.filter((file) => file.stage === stage);
    for (let from = 0; from < files.length; from += store.checkpointFiles) {
      if (from > 0) await note();
      await eachOf(files.slice(from, from + store.checkpointFiles), store.concurrency, async (file) => {
        if (run.isInterrupted()) throw new InterruptedError();
        tally.bytesWritten += await store.put(file);
        tally.filesWritten += 1;
        there.set(file.path, contentStamp(run, file.identity));
      });
    }
  }
}
