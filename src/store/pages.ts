/**
 * Identities of pages. A page is its origin and its era. An era begins when a page is first defined, when another
 * definition takes its slug, and when it comes back after having been removed. This is decided in one transaction,
 * whichever node runs it.
 */

import type { AccessType } from '../model/observation.ts';
import { type PageIdentity, type PageKey, readPageKey, toPageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import {
  type Database,
  instant,
  number,
  orNull,
  type Reader,
  type RowOf,
  table,
  text,
  type Writer,
} from './database.ts';
import { bumpRevision } from './revisions.ts';

/** A slug that a definition claims. */
export interface PageClaim {
  readonly slug: string;
  /** Id of the definition. */
  readonly origin: string;
  /** `closed` also if the page is not published. */
  readonly access: AccessType;
}

/** All pages defined now. */
export interface PageClaims {
  readonly pages: readonly PageClaim[];
  /** Slugs whose page is not known yet, or that are claimed twice: their eras neither begin nor end. */
  readonly held: ReadonlySet<string>;
  /** False: an upstream has not listed its pages yet, so a page without a claim may still be defined. */
  readonly isComplete: boolean;
}

const PAGES = table('page', {
  key: text<PageKey>(),
  slug: text(),
  /** Empty: stored before eras existed; belongs to the next page with this slug. */
  origin: text(),
  access: text<AccessType | ''>(),
  gate: number(),
  beganAt: instant(),
  /** Null: the page still has its slug. */
  endedAt: orNull(instant()),
});
export type StoredPage = RowOf<typeof PAGES>;

export type OwnPages = ReadonlyMap<PageKey, AccessType | ''>;

/** The changes that bring the table in line with what is defined. */
export type PageChanges = ReturnType<typeof decidePages>;

/**
 * Decides which eras begin and end. Pure.
 *
 * @param mine  pages that this process has seen defined, and their access; others may belong to a node that knows more. Null:
 * nothing decided yet, so all pages count
 */
export function decidePages(
  open: readonly StoredPage[],
  { pages, held, isComplete }: PageClaims,
  mine: OwnPages | null,
) {
  const claims = new Map(pages.map((claim) => [claim.slug, claim]));
  const isSame = ({ slug, origin }: StoredPage): boolean =>
    origin === '' ? claims.has(slug) : claims.get(slug)?.origin === origin;
  const isOver = (page: StoredPage): boolean => {
    if (held.has(page.slug) || isSame(page)) return false;
    return claims.has(page.slug) || (isComplete && (mine === null || mine.has(page.key)));
  };
  const kept = open.filter(isSame);
  const known = new Set([...kept.map(({ slug }) => slug), ...held]);
  return {
    ended: open.filter(isOver),
    /** Pages whose access type changed, or whose origin is now known. */
    changed: kept.flatMap((page) => {
      const claim = claims.get(page.slug);
      // Nodes with different configurations agree on the private one, and don't take turns.
      const isTheirs = page.access !== 'public' && mine?.get(page.key) === claim?.access;
      return claim === undefined || ((claim.access === page.access || isTheirs) && claim.origin === page.origin)
        ? []
        : [{ page, claim }];
    }),
    begun: pages.filter(({ slug }) => !known.has(slug)),
  };
}

/** Writes the changes; returns the pages afterwards, and the changes. */
export async function settlePages(
  database: Database,
  claims: PageClaims,
  { mine, now }: { readonly mine: OwnPages | null; readonly now: EpochMs },
) {
  const open = await readPages(database);
  const seen = decidePages(open, claims, mine);
  if (isNothing(seen)) return { pages: open, changes: seen };
  return database.transaction(async (tx) => {
    // Another node may have written them in the meantime.
    const changes = decidePages(await readPages(tx), claims, mine);
    if (!isNothing(changes)) await writeChanges(tx, changes, mine, now);
    return { pages: await readPages(tx), changes };
  });
}

function isNothing({ ended, changed, begun }: PageChanges): boolean {
  return ended.length + changed.length + begun.length === 0;
}

async function writeChanges(tx: Writer, { ended, changed, begun }: PageChanges, mine: OwnPages | null, now: EpochMs) {
  const revision = await bumpRevision(tx);
  await tx.runMany(
    'UPDATE page SET ended_at = ?, revision = ? WHERE key = ?',
    ended.map(({ key }) => [now, revision, key]),
  );
  for (const { page, claim } of changed) {
    const isAnother = page.access !== '' && page.access !== claim.access;
    await tx.run('UPDATE page SET origin = ?, access = ?, gate = gate + ?, revision = ? WHERE key = ?', [
      claim.origin,
      claim.access,
      Number(isAnother),
      revision,
      page.key,
    ]);
    // The access type at the time older posts were written is unknown.
    if (page.access === '' && claim.access !== 'public')
      await tx.run('UPDATE written SET is_private = 1 WHERE page = ?', [page.key]);
  }
  for (const claim of begun) {
    const named = await readPagesNamed(tx, claim.slug);
    const own = named.find((page) => mine?.has(page.key) && page.slug === claim.slug && page.origin === claim.origin);
    // A node with another configuration ended it when it started; upstreams' pages are ended by their upstream.
    if (own?.origin.startsWith('config/')) {
      await tx.run('UPDATE page SET ended_at = NULL, revision = ? WHERE key = ?', [revision, own.key]);
      continue;
    }
    const key = nextKey(claim.slug, named);
    await PAGES.insert(tx, [{ ...claim, key, gate: 1, beganAt: now, endedAt: null }], { revision });
  }
  await tx.announce();
}

/** Ends the pages that an upstream no longer defines, in the transaction that commits its answer. */
export async function endPages(
  tx: Writer,
  upstreamId: string,
  { defined, now }: { readonly defined: ReadonlySet<string>; readonly now: EpochMs },
): Promise<void> {
  const gone = (await readPages(tx)).filter(
    ({ origin }) => origin.startsWith(`${upstreamId}/`) && !defined.has(origin),
  );
  await tx.runMany(
    'UPDATE page SET ended_at = ? WHERE key = ?',
    gone.map(({ key }) => [now, key]),
  );
}

/**
 * Gives the current page of a slug the identity of a former page, and with it all data of the former page. The current
 * page's own data stays under its old key.
 */
export function adoptPage(
  database: Database,
  { old, slug, now }: { readonly old: PageKey; readonly slug: string; readonly now: EpochMs },
): Promise<'adopted' | 'unknown' | 'in use'> {
  return database.transaction(async (tx) => {
    const pages = await readPages(tx, 'all');
    const former = pages.find(({ key }) => key === old);
    const current = pages.find((page) => page.slug === slug && page.endedAt === null);
    if (former === undefined || current === undefined) return 'unknown';
    if (former.endedAt === null) return 'in use';
    const revision = await bumpRevision(tx);
    await tx.run('UPDATE page SET ended_at = ?, revision = ? WHERE key = ?', [now, revision, current.key]);
    await tx.run(
      `UPDATE page SET slug = ?, origin = ?, access = ?, gate = gate + 1, ended_at = NULL, revision = ? WHERE key = ?`,
      [slug, current.origin, current.access, revision, old],
    );
    // The log contains the page's former address, which may have been secret. It starts afresh at the new address.
    if (former.slug !== slug)
      for (const table of ['page_log', 'log_entry', 'log_day'])
        await tx.run(`DELETE FROM ${table} WHERE page = ?`, [old]);
    await tx.announce();
    return 'adopted';
  });
}

/** The current pages, or all pages that ever existed. */
export async function readPages(reader: Reader, which: 'current' | 'all' = 'current'): Promise<readonly StoredPage[]> {
  const where = which === 'all' ? '' : 'WHERE ended_at IS NULL';
  return (await reader.all(`SELECT * FROM page ${where} ORDER BY slug, began_at, key`)).map(PAGES.read);
}

async function readPagesNamed(reader: Reader, slug: string): Promise<readonly StoredPage[]> {
  // By key too, because an adopted page no longer has its first slug.
  const rows = await reader.all(`SELECT * FROM page WHERE slug = ? OR key LIKE ?`, [slug, `${slug}~%`]);
  return rows.map(PAGES.read);
}

/** The identity of a page: as stored, or the one it will get. */
export async function identify(
  reader: Reader,
  pages: readonly StoredPage[],
  { slug, origin }: Pick<PageClaim, 'slug' | 'origin'>,
): Promise<PageIdentity> {
  const found = pages.find((page) => page.slug === slug && (page.origin === origin || page.origin === ''));
  return found ?? { key: nextKey(slug, await readPagesNamed(reader, slug)), gate: 1 };
}

/** The key of the page that has a slug, or of the next page to take it. */
export async function keyOfSlug(reader: Reader, slug: string): Promise<PageKey> {
  const known = await readPagesNamed(reader, slug);
  return known.find((page) => page.slug === slug && page.endedAt === null)?.key ?? nextKey(slug, known);
}

/** The name operators know a page by: its slug, or its key once the slug is gone. */
export async function pageNames(reader: Reader): Promise<(key: PageKey) => string> {
  const slugs = new Map((await readPages(reader)).map(({ key, slug }) => [key, slug]));
  return (key) => slugs.get(key) ?? key;
}

function nextKey(slug: string, known: readonly StoredPage[]): PageKey {
  const eras = known.map(({ key }) => readPageKey(key)).filter((one) => one.slug === slug);
  return toPageKey(slug, 1 + Math.max(0, ...eras.map(({ era }) => era)));
}
