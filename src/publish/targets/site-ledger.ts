/**
 * The record of our files on a target, stored on the target itself. `.pharos.json` lists the pages, sealed ones and keys of pages encrypted;
 * `.pharos/<slug>.json` lists the files of one page. Only files in these lists are ever overwritten knowingly, skipped or
 * removed. A file with an empty stamp may or may not be there, in any version.
 */

import { z } from 'zod';
import { PAGE_FOLDERS, SITE_FILES } from '../../model/slugs.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import {
  HOME_SLUG,
  isInside,
  LedgerEntrySchema,
  type LedgerFormat,
  ledgerEntries,
  parseJson,
} from '../stored/ledger.ts';
import { openEntries, type SiteKey, sealEntries } from '../stored/sealed-entries.ts';

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

export type PageEntries = Map<string, z.output<typeof PageEntrySchema>>;
/** Stamps by whole path. */
export type PageFiles = Map<string, string>;

interface SiteLedger {
  readonly settings: string;
  readonly pages: PageEntries;
  /** False: the list of sealed pages was encrypted with another key and can't be read. */
  readonly isWhole: boolean;
}

export function siteLedger(key: SiteKey): LedgerFormat<SiteLedger> {
  return {
    key: SITE_LEDGER,
    parse: (text) => {
      const ledger = parseJson(SiteLedgerSchema, text);
      if (ledger === null) return null;
      const { settings, sealed } = ledger;
      const opened = sealed === undefined ? '{}' : openEntries(sealed, key);
      const entries = opened === null ? null : parseJson(PageEntriesSchema, opened);
      const pages = new Map([...Object.entries(ledger.pages), ...Object.entries(entries ?? {})]);
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

export function pageLedgerText(files: PageFiles): string {
  return JSON.stringify({ format: 2, files: Object.fromEntries(files) });
}

function belongsTo(slug: string, path: string): boolean {
  if (slug === HOME_SLUG) return belongsToHome(path);
  return slug === SITE_SLUG ? path !== SITE_LEDGER && !path.startsWith('.pharos/') : path.startsWith(`${slug}/`);
}

/**
 * Whether a file at the root can belong to the home page: one in a folder of a page (which is no slug), or directly at the
 * root.
 */
function belongsToHome(path: string): boolean {
  const [first = '', ...rest] = path.split('/');
  if (rest.length > 0) return FOLDERS_OF_PAGE.has(first);
  return !/^[._]/.test(first) && !FILES_OF_SITE.has(first);
}

const FOLDERS_OF_PAGE: ReadonlySet<string> = new Set(PAGE_FOLDERS);
const FILES_OF_SITE: ReadonlySet<string> = new Set(SITE_FILES);
