/**
 * Writes and removes the files of one page on a target. Before a file is touched, the page's ledger marks it as possibly there
 * in any version.
 */

import { z } from 'zod';
import { isStatusError, messageOf } from '../../errors.ts';
import { isOfHome, splitLocale } from '../../model/slugs.ts';
import { parseJson } from '../../transparency/entries.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import {
  HOME_SLUG,
  isInside,
  LedgerEntrySchema,
  type LedgerFormat,
  ledgerEntries,
  openEntries,
  readLedger,
  type SiteKey,
  sealEntries,
} from './ledger.ts';
import { forEachLimited, LEDGER_HEADERS, type ObjectStore } from './object-store.ts';
import {
  type ContentEncoding,
  encodedFile,
  NoLongerPublicError,
  ReleaseGoneError,
  STAGES,
  type StaticFile,
} from './static-file.ts';
import type { StaticPage, StaticSite } from './static-listing.ts';

/** What is remembered about the target between updates. */
interface TargetLedger {
  readonly pages: PageEntries;
  /** Version of the site ledger; null: there is none. */
  version: string | null;
  /** True until the ledger is written, if there was none that could be read. Private pages may then be there unlisted. */
  doubts: 'none' | 'missing' | 'unreadable';
}

export type Tally = ReturnType<typeof emptyTally>;

export function emptyTally() {
  const words = { warnings: [] as string[], failures: [] as string[] };
  return { filesWritten: 0, filesKept: 0, filesRemoved: 0, bytesWritten: 0, ...words };
}

export interface TargetRun {
  readonly store: ObjectStore;
  readonly encoding: ContentEncoding;
  /** Files written in parallel. */
  readonly concurrency: number;
  /** The ledger is written after this many files, so that no more are written twice after a crash. */
  readonly checkpointFiles: number;
  readonly key: SiteKey;
  readonly site: StaticSite;
  readonly memory: TargetLedger;
  readonly tally: Tally;
  /** What to say of pages whose release was removed while it was read, by slug. */
  readonly gone: Map<string, string>;
  /** Compare every file, even of pages that seem complete. */
  readonly isThorough: boolean;
  /** True: something must be removed at once, so no further write is started. */
  readonly isInterrupted: () => boolean;
}

/** Thrown to restart the update. */
export class InterruptedError extends Error {
  constructor() {
    super('a page must be removed first');
    this.name = 'InterruptedError';
  }
}

/** How files are stored, in the ledger. If this changes, everything is written again. */
export function storageSettings(encoding: ContentEncoding): string {
  return encoding === 'identity' ? '' : ` ${encoding}`;
}

/** Stamp of a file in the ledger: its identity, and how it is stored. */
function contentStamp({ encoding }: TargetRun, identity: string): string {
  return `${identity.slice(0, 40)}${storageSettings(encoding)}`;
}

/** Release numbers in a page's entry, which only grow. */
export function numberAfter({ memory }: TargetRun, { slug, number }: Pick<StaticPage, 'slug' | 'number'>): number {
  return Math.max(memory.pages.get(slug)?.number ?? 0, number);
}

/** What went wrong, for the report. */
export function faultText(error: unknown): string {
  if (error instanceof NoLongerPublicError || error instanceof ReleaseGoneError)
    return `Stopped part-way because ${error.message}. The next run continues.`;
  return messageOf(error);
}

/** Writes all files of one page. Its failure is reported and doesn't stop other pages. */
export async function uploadPage(run: TargetRun, page: StaticPage): Promise<void> {
  const { memory, tally } = run;
  try {
    const files = await uploadFiles(run, page);
    const { slug, mark, isSealed } = page;
    memory.pages.set(slug, { mark, files, isSealed, isWhole: true, number: numberAfter(run, page), page: page.page });
  } catch (error) {
    if (error instanceof ReleaseGoneError) run.gone.set(page.slug, faultText(error));
    else if (isStatusError(error) && error.context['isOfFile'] === true) tally.failures.push(faultText(error));
    else throw error;
  }
}

async function uploadFiles(run: TargetRun, { slug, files: list }: StaticPage): Promise<number> {
  const { store, tally } = run;
  const found = await readLedger(store, pageLedger(slug));
  if (found.kind === 'unreadable')
    tally.warnings.push(`${pageLedger(slug).key} on the target is unreadable, so all of ${slug} is written again.`);
  const there: PageFiles = found.kind === 'read' ? found.ledger : new Map();
  const files = list();
  const isThere = ({ path, identity }: StaticFile): boolean =>
    there.get(path) === contentStamp(run, identity) && (!run.isThorough || store.has?.(path) !== false);
  const missing = files.filter((file) => !isThere(file));
  const listed = new Set(files.map(({ path }) => path));
  const gone = [...there.keys()].filter((path) => !listed.has(path));
  tally.filesKept += files.length - missing.length;
  if (missing.length === 0 && gone.length === 0 && found.kind === 'read') return files.length;
  for (const { path } of missing) there.set(path, '');
  const note = (): Promise<void> => writePageLedger(run, slug, there);
  await note();
  try {
    await putAll(run, missing, there, note);
    // The home page's files at the root were written before and stay.
    const homePaths = slug === SITE_SLUG ? run.site.homePaths() : new Set<string>();
    for (const path of gone) {
      if (!homePaths.has(path)) await removeFile(run, path);
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

async function putAll(run: TargetRun, missing: readonly StaticFile[], there: PageFiles, note: () => Promise<void>) {
  const { concurrency, checkpointFiles, tally } = run;
  for (const stage of STAGES) {
    const files = missing.filter((file) => (file.stage ?? 'data') === stage);
    for (let from = 0; from < files.length; from += checkpointFiles) {
      if (from > 0) await note();
      await forEachLimited(files.slice(from, from + checkpointFiles), concurrency, async (file) => {
        if (run.isInterrupted()) throw new InterruptedError();
        await putFile(run, file);
        tally.filesWritten += 1;
        there.set(file.path, contentStamp(run, file.identity));
      });
    }
  }
}

async function removeFile({ store, tally }: TargetRun, path: string): Promise<void> {
  await store.remove(path);
  tally.filesRemoved += 1;
}

export async function putFile({ store, encoding, tally }: TargetRun, file: StaticFile): Promise<void> {
  const { body, headers } = await encodedFile(file, encoding);
  await store.put(file.path, body, headers);
  tally.bytesWritten += body.length;
}

function writePageLedger({ store }: TargetRun, slug: string, files: PageFiles): Promise<void> {
  const text = JSON.stringify({ format: 2, files: Object.fromEntries(files) });
  return store.put(pageLedger(slug).key, Buffer.from(text), LEDGER_HEADERS);
}

/** Documents are removed first, then the files they link to. */
function documentsFirst(paths: Iterable<string>): readonly string[] {
  const depth = (path: string): number => (path.endsWith('.html') ? path.split('/').length : Number.MAX_SAFE_INTEGER);
  return [...paths].toSorted((a, b) => depth(a) - depth(b));
}

/** @returns whether a ledger of the page is there, empty by now */
export async function removePage(run: TargetRun, slug: string): Promise<boolean> {
  const { store, site, memory, tally } = run;
  const found = await readLedger(store, pageLedger(slug));
  const hasLedger = found.kind !== 'missing';
  // Nothing is written before a ledger lists it. A page that was never complete and has no ledger has no files.
  const isLost = found.kind !== 'read' && (hasLedger || memory.pages.get(slug)?.isWhole === true);
  if (isLost)
    tally.warnings.push(
      `Pharos doesn’t know which files of ${slug} are on the target. Check ${slug}/ yourself, because the page is no longer public.`,
    );
  // The files of its current release are the best guess at what was there.
  const guessed = isLost || memory.doubts === 'unreadable' ? site.pathsOf(slug) : [];
  const paths = documentsFirst(found.kind === 'read' ? found.ledger.keys() : guessed);
  await forEachLimited(paths, run.concurrency, (path) => removeFile(run, path));
  // Emptied before the site's ledger forgets the page, and removed after that. A crash in between does no harm.
  if (hasLedger) await writePageLedger(run, slug, new Map());
  memory.pages.delete(slug);
  return hasLedger;
}

/**
 * The root may be a copy of a page that is no longer public. It is replaced first, unless its links point to files that are
 * still to be written; then it is removed with that page.
 *
 * @param hasTargets  whether every page that it links to was complete once
 */
export async function hideFromSite(run: TargetRun, own: StaticPage, hasTargets: boolean): Promise<void> {
  if (hasTargets) return uploadPage(run, own);
  const found = await readLedger(run.store, pageLedger(SITE_SLUG));
  const before: PageFiles = found.kind === 'read' ? found.ledger : new Map();
  for (const { path, identity } of own.files())
    if (before.has(path) && before.get(path) !== contentStamp(run, identity)) await removeFile(run, path);
}

/**
 * The record of our files on a target, stored on the target itself. `.pharos.json` lists the pages, sealed ones and keys of pages encrypted;
 * `.pharos/<slug>.json` lists the files of one page. Only files in these lists are ever overwritten knowingly, skipped or
 * removed. A file with an empty stamp may or may not be there, in any version.
 */
const SITE_LEDGER = '.pharos.json';

const PageEntrySchema = LedgerEntrySchema.extend({
  /** Digest of the page's state; empty: the page is being written. */
  mark: z.string(),
  files: z.number(),
  isSealed: z.boolean(),
  /** Whether it was ever complete. */
  isWhole: z.boolean(),
  /** The page that the files are of. Absent: the first that had the slug, or the site's own files. */
  page: z.string().optional(),
});
const PageEntriesSchema = ledgerEntries(PageEntrySchema);

const SiteLedgerSchema = z.object({
  /** In format 2, sealed pages are listed among the others. */
  format: z.literal([2, 3]),
  /** How files are stored. With other settings, everything is compared again. */
  settings: z.string(),
  pages: PageEntriesSchema,
  sealed: z.string().optional(),
});

const PageLedgerSchema = z.object({ format: z.literal(2), files: z.record(z.string().refine(isInside), z.string()) });

type PageEntries = Map<string, z.output<typeof PageEntrySchema>>;
/** Stamps by whole path. */
type PageFiles = Map<string, string>;

export function siteLedger(key: SiteKey) {
  return {
    key: SITE_LEDGER,
    parse: (text: string) => {
      const ledger = parseJson(SiteLedgerSchema, text);
      if (ledger === null) return null;
      const { settings, sealed } = ledger;
      const opened = sealed === undefined ? '{}' : openEntries(sealed, key);
      const entries = opened === null ? null : parseJson(PageEntriesSchema, opened);
      const pages = new Map([...Object.entries(ledger.pages), ...Object.entries(entries ?? {})]);
      // Not whole: the list of sealed pages was encrypted with another key and can't be read.
      return { settings, pages, isWhole: entries !== null };
    },
  };
}

export function siteLedgerText(settings: string, entries: PageEntries, key: SiteKey): string {
  const all = [...entries];
  const pages = all.flatMap(([slug, { page: _, ...entry }]) => (entry.isSealed ? [] : [[slug, entry]]));
  // The key of a page names a slug that it had before, which may have been a secret.
  const closed = all.filter(([, { isSealed, page }]) => isSealed || page !== undefined);
  // Also written without sealed pages, so that the ledger doesn't reveal whether there are any.
  const sealed = sealEntries(JSON.stringify(Object.fromEntries(closed)), key);
  return JSON.stringify({ format: 3, settings, pages: Object.fromEntries(pages), sealed });
}

/** Unreadable too if it lists files that can't belong to the page. */
export function pageLedger(slug: string): LedgerFormat<PageFiles> {
  return {
    key: `.pharos/${slug}.json`,
    parse: (text) => {
      const ledger = parseJson(PageLedgerSchema, text);
      if (ledger === null) return null;
      const files = Object.entries(ledger.files);
      return files.every(([path]) => belongsTo(slug, path)) ? new Map(files) : null;
    },
  };
}

function belongsTo(slug: string, path: string): boolean {
  if (slug === HOME_SLUG) return belongsToHome(path);
  return slug === SITE_SLUG ? path !== SITE_LEDGER && !path.startsWith('.pharos/') : path.startsWith(`${slug}/`);
}

/** Whether a file at the root can be of the home page's copy there, also below the folder of a language. */
function belongsToHome(path: string): boolean {
  const { locale, rest } = splitLocale(path);
  // The site's own files stand only at the root itself.
  if (locale !== null && !rest.includes('/')) return true;
  return !/^[._]/.test(path) && isOfHome(rest);
}
