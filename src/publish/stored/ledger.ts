/**
 * A ledger names everything that is in a store, page by page. It is one small object, replaced only by whoever has read its last
 * version. A target has one of the files that visitors get; a bucket of releases has one of the releases that web nodes take.
 */

import { z } from 'zod';
import { SLUG } from '../../model/scalars.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import type { ObjectStore } from './object-store.ts';

/** What every ledger says of a page. */
export const LedgerEntrySchema = z.object({
  /** Number of its newest release that was ever written. No other release may get this number. */
  number: z.int().nonnegative().default(0),
});

/** The copy of the home page at the root of a static host, beside the slugs of pages and the site's own files. */
export const HOME_SLUG = '_home';

/** Entries by slug. */
export function ledgerEntries<Entry extends z.ZodType>(entry: Entry) {
  return z.record(
    z.string().refine((slug) => slug === SITE_SLUG || slug === HOME_SLUG || SLUG.test(slug)),
    entry,
  );
}

export interface LedgerFormat<Ledger> {
  readonly key: string;
  /** Null: not a ledger, or from a newer version. */
  readonly parse: (text: string) => Ledger | null;
}

type LedgerReading<Ledger> =
  | { readonly kind: 'missing' | 'unreadable' | 'unchanged'; readonly version: string | null }
  | { readonly kind: 'read'; readonly version: string | null; readonly ledger: Ledger };

/** @param since the version that is known; null: none */
export async function readLedger<Ledger>(
  store: ObjectStore,
  { key, parse }: LedgerFormat<Ledger>,
  since: string | null = null,
): Promise<LedgerReading<Ledger>> {
  const found = await store.getIfOther(key, since);
  if (found === null) return { kind: 'unchanged', version: since };
  const { bytes, version } = found;
  if (bytes === null) return { kind: 'missing', version: null };
  const ledger = parse(bytes.toString('utf8'));
  return ledger === null ? { kind: 'unreadable', version } : { kind: 'read', version, ledger };
}

/** @returns null: not JSON of this shape */
export function parseJson<Output>(schema: z.ZodType<Output>, text: string): Output | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Whether a path stays below the root. Paths come from a ledger, which others may have changed. */
export function isInside(path: string): boolean {
  return (
    path !== '' &&
    !path.startsWith('/') &&
    !path.includes('\\') &&
    !path.split('/').some((part) => /^\.{0,2}$/.test(part))
  );
}
