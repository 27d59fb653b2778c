/**
 * What a target holds of ours, kept in the target itself: `.pharos.json` lists the pages, `.pharos/<slug>.json` the files
 * of one. Only what is in them is ever overwritten knowingly, skipped or removed. A file whose stamp is empty may be there
 * or not, in any version.
 */

import { z } from 'zod';
import { SLUG } from '../../model/scalars.ts';
import { isInside } from './static-file.ts';

export const SITE_LEDGER = '.pharos.json';

const PageEntrySchema = z.object({
  /** Of the page that is wholly there; empty: it is being written. */
  mark: z.string(),
  files: z.number(),
  isSealed: z.boolean(),
  /** Whether it ever was wholly there. */
  isWhole: z.boolean(),
});
export type PageEntry = z.output<typeof PageEntrySchema>;

const SiteLedgerSchema = z.object({
  format: z.literal(2),
  /** How files are stored; with other settings everything is looked at again. */
  settings: z.string(),
  pages: z.record(
    z.string().refine((slug) => slug === '_site' || SLUG.test(slug)),
    PageEntrySchema,
  ),
});

const PageLedgerSchema = z.object({ format: z.literal(2), files: z.record(z.string().refine(isInside), z.string()) });

export type PageEntries = Map<string, PageEntry>;
/** Stamps by whole path. */
export type PageFiles = Map<string, string>;

export function pageLedgerPath(slug: string): string {
  return `.pharos/${slug}.json`;
}

/** Null: it cannot be understood. */
export function parseSiteLedger(text: string): { readonly settings: string; readonly pages: PageEntries } | null {
  const ledger = parsed(SiteLedgerSchema, text);
  return ledger === null ? null : { settings: ledger.settings, pages: new Map(Object.entries(ledger.pages)) };
}

export function siteLedgerText(settings: string, pages: PageEntries): string {
  return JSON.stringify({ format: 2, settings, pages: Object.fromEntries(pages) });
}

/** Null: it cannot be understood, or it lists what cannot be of that page. */
export function parsePageLedger(slug: string, text: string): PageFiles | null {
  const ledger = parsed(PageLedgerSchema, text);
  if (ledger === null) return null;
  const files = Object.entries(ledger.files);
  const isOwn = (path: string): boolean =>
    slug === '_site' ? path !== SITE_LEDGER && !path.startsWith('.pharos/') : path.startsWith(`${slug}/`);
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
