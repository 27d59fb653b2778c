/**
 * The record of our files on a target, stored on the target itself. `.pharos.json` lists the pages, sealed ones encrypted;
 * `.pharos/<slug>.json` lists the files of one page. Only files in these lists are ever overwritten knowingly, skipped or
 * removed. A file with an empty stamp may or may not be there, in any version.
 */

import { z } from 'zod';
import { SLUG } from '../../model/scalars.ts';
import { PAGE_FOLDERS, SITE_FILES } from '../../model/slugs.ts';
import { openEntries, type SiteKey, sealEntries } from './sealed-entries.ts';
import { isInside } from './static-file.ts';

export const SITE_LEDGER = '.pharos.json';

const PageEntrySchema = z.object({
  /** Digest of the page's state; empty: the page is being written. */
  mark: z.string(),
  files: z.number(),
  isSealed: z.boolean(),
  /** Whether it was ever complete. */
  isWhole: z.boolean(),
  /** Number of its newest release that was ever written. No other release may get this number. */
  number: z.int().nonnegative().default(0),
});
type PageEntry = z.output<typeof PageEntrySchema>;

const PageEntriesSchema = z.record(
  z.string().refine((slug) => slug === '_site' || slug === '_home' || SLUG.test(slug)),
  PageEntrySchema,
);

const SiteLedgerSchema = z.object({
  /** In format 2, sealed pages are listed among the others. */
  format: z.literal([2, 3]),
  /** How files are stored. With other settings, everything is compared again. */
  settings: z.string(),
  pages: PageEntriesSchema,
  sealed: z.string().optional(),
});

const PageLedgerSchema = z.object({ format: z.literal(2), files: z.record(z.string().refine(isInside), z.string()) });

export type PageEntries = Map<string, PageEntry>;
/** Stamps by whole path. */
export type PageFiles = Map<string, string>;

export function pageLedgerPath(slug: string): string {
  return `.pharos/${slug}.json`;
}

interface SiteLedger {
  readonly settings: string;
  readonly pages: PageEntries;
  /** False: the list of sealed pages was encrypted with another key and can't be read. */
  readonly isWhole: boolean;
}

/** Null: unreadable. */
export function parseSiteLedger(text: string, key: SiteKey): SiteLedger | null {
  const ledger = parsed(SiteLedgerSchema, text);
  if (ledger === null) return null;
  const { settings, sealed } = ledger;
  const opened = sealed === undefined ? '{}' : openEntries(sealed, key);
  const entries = opened === null ? null : parsed(PageEntriesSchema, opened);
  const pages = new Map([...Object.entries(ledger.pages), ...Object.entries(entries ?? {})]);
  return { settings, pages, isWhole: entries !== null };
}

export function siteLedgerText(settings: string, entries: PageEntries, key: SiteKey): string {
  const [closed, pages] = [true, false].map((isSealed) =>
    Object.fromEntries([...entries].filter(([, entry]) => entry.isSealed === isSealed)),
  );
  // Also written without sealed pages, so that the ledger doesn't reveal whether there are any.
  return JSON.stringify({ format: 3, settings, pages, sealed: sealEntries(JSON.stringify(closed), key) });
}

/**
 * Whether a file at the root can belong to the home page: one in a folder of a page (which is no slug), or directly at the
 * root.
 */
function isOfHome(path: string): boolean {
  const [first = '', ...rest] = path.split('/');
  if (rest.length > 0) return FOLDERS_OF_PAGE.has(first);
  return !/^[._]/.test(first) && !FILES_OF_SITE.has(first);
}

const FOLDERS_OF_PAGE: ReadonlySet<string> = new Set(PAGE_FOLDERS);
const FILES_OF_SITE: ReadonlySet<string> = new Set(SITE_FILES);

/** Returns the release numbers in use on the target, by slug. */
export function numbersIn(pages: PageEntries): ReadonlyMap<string, number> {
  return new Map([...pages].map(([slug, { number }]) => [slug, number]));
}

/** Null: unreadable, or it lists files that can't belong to the page. */
export function parsePageLedger(slug: string, text: string): PageFiles | null {
  const ledger = parsed(PageLedgerSchema, text);
  if (ledger === null) return null;
  const files = Object.entries(ledger.files);
  const isOwn = (path: string): boolean => {
    if (slug === '_home') return isOfHome(path);
    return slug === '_site' ? path !== SITE_LEDGER && !path.startsWith('.pharos/') : path.startsWith(`${slug}/`);
  };
  return files.every(([path]) => isOwn(path)) ? new Map(files) : null;
}

export function pageLedgerText(files: PageFiles): string {
  return JSON.stringify({ format: 2, files: Object.fromEntries(files) });
}

function parsed<Output>(schema: z.ZodType<Output>, text: string): Output | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
