/**
 * Which page is which. A page is its origin and its era: an era begins when a page is first defined, when another definition
 * takes its slug, and when it comes back after having been removed. One transaction decides, whichever node makes it.
 */

import type { AccessType } from '../model/observation.ts';
import { type PageIdentity, type PageKey, readPageKey, toPageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database, Reader, Row, Writer } from './database.ts';
import { bumpRevision } from './revisions.ts';
import { parseInstant } from './rows.ts';

/** A slug that a definition claims. */
export interface PageClaim {
  readonly slug: string;
  /** Id of the definition. */
  readonly origin: string;
  /** `closed` also for a page that is not published. */
  readonly access: AccessType;
}

/** All that is defined now. */
export interface PageClaims {
  readonly pages: readonly PageClaim[];
  /** Slugs whose page can't be told yet, or is claimed twice: neither begins nor ends. */
  readonly held: ReadonlySet<string>;
  /** False: an upstream has not listed its pages yet, so a page that nobody claims may still be defined. */
  readonly isComplete: boolean;
}

export interface StoredPage extends PageIdentity {
  readonly slug: string;
  /** Empty: kept from before there were eras, for the page that has the slug next. */
  readonly origin: string;
  readonly access: AccessType | '';
  readonly beganAt: EpochMs;
  /** Null: it has the slug. */
  readonly endedAt: EpochMs | null;
}

/** What has to be written so that the table says what is defined. */
export interface PageChanges {
  readonly ended: readonly StoredPage[];
  /** Pages that go on with another kind of gate, or whose origin is known now. */
  readonly changed: readonly { readonly page: StoredPage; readonly claim: PageClaim }[];
  readonly begun: readonly PageClaim[];
}

/**
 * Decides on eras. Pure.
 *
 * @param mine  pages that this process has seen defined; a page that it has not is another node's, which may know more. Null:
 *   it has decided nothing yet, so that every page counts
 */
export function decidePages(
  open: readonly StoredPage[],
  { pages, held, isComplete }: PageClaims,
  mine: ReadonlySet<PageKey> | null,
): PageChanges {
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
    changed: kept.flatMap((page) => {
      const claim = claims.get(page.slug);
      return claim === undefined || (claim.access === page.access && claim.origin === page.origin)
        ? []
        : [{ page, claim }];
    }),
    begun: pages.filter(({ slug }) => !known.has(slug)),
  };
}

/** Writes what changed; gives the pages that there are by then, and what was done. */
export async function settlePages(
  database: Database,
  claims: PageClaims,
  { mine, now }: { readonly mine: ReadonlySet<PageKey> | null; readonly now: EpochMs },
): Promise<{ readonly pages: readonly StoredPage[]; readonly changes: PageChanges }> {
  const open = await readPages(database);
  const seen = decidePages(open, claims, mine);
  if (isNothing(seen)) return { pages: open, changes: seen };
  return database.transaction(async (tx) => {
    // Another node may have done it meanwhile.
    const changes = decidePages(await readPages(tx), claims, mine);
    if (!isNothing(changes)) await writeChanges(tx, changes, now);
    return { pages: await readPages(tx), changes };
  });
}

function isNothing({ ended, changed, begun }: PageChanges): boolean {
  return ended.length + changed.length + begun.length === 0;
}

async function writeChanges(tx: Writer, { ended, changed, begun }: PageChanges, now: EpochMs): Promise<void> {
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
    // Nobody knows any more behind which gate older posts were written.
    if (page.access === '' && claim.access !== 'public')
      await tx.run('UPDATE written SET is_private = 1 WHERE page = ?', [page.key]);
  }
  for (const { slug, origin, access } of begun)
    await tx.run(
      'INSERT INTO page (key, slug, origin, access, gate, began_at, revision) VALUES (?, ?, ?, ?, 1, ?, ?)',
      [nextKey(slug, await readPagesNamed(tx, slug)), slug, origin, access, now, revision],
    );
  await tx.announce();
}

/** Ends the pages of an upstream that it does not define any more, in the transaction that commits its answer. */
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
 * Gives the page that has a slug the identity of one that has none any more, and with it all that is kept for that one. What
 * was kept for the page until now stays behind under its own key.
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
    // It names the address that the page had, which may have been a secret. The log begins anew at the new one.
    if (former.slug !== slug)
      for (const table of ['page_log', 'log_entry', 'log_day'])
        await tx.run(`DELETE FROM ${table} WHERE page = ?`, [old]);
    await tx.announce();
    return 'adopted';
  });
}

/** The pages that have their slugs, or every page that ever had one. */
export async function readPages(reader: Reader, which: 'current' | 'all' = 'current'): Promise<readonly StoredPage[]> {
  const where = which === 'all' ? '' : 'WHERE ended_at IS NULL';
  return (await reader.all(`SELECT * FROM page ${where} ORDER BY slug, began_at, key`)).map(toPage);
}

async function readPagesNamed(reader: Reader, slug: string): Promise<readonly StoredPage[]> {
  // Also by key: a page that was adopted has another slug than it began with.
  const rows = await reader.all(`SELECT * FROM page WHERE slug = ? OR key LIKE ?`, [slug, `${slug}~%`]);
  return rows.map(toPage);
}

/** The identity of a page: as it is stored, or as it will be once it is. */
export async function identify(
  reader: Reader,
  pages: readonly StoredPage[],
  { slug, origin }: Pick<PageClaim, 'slug' | 'origin'>,
): Promise<PageIdentity> {
  const found = pages.find((page) => page.slug === slug && (page.origin === origin || page.origin === ''));
  return found ?? { key: nextKey(slug, await readPagesNamed(reader, slug)), gate: 1 };
}

/** The key of the page that has a slug, or that a page gets which takes it. */
export async function keyOfSlug(reader: Reader, slug: string): Promise<PageKey> {
  const known = await readPagesNamed(reader, slug);
  return known.find((page) => page.slug === slug && page.endedAt === null)?.key ?? nextKey(slug, known);
}

/** What operators call a page: its slug, or its key once it has none. */
export async function pageNames(reader: Reader): Promise<(key: PageKey) => string> {
  const slugs = new Map((await readPages(reader)).map(({ key, slug }) => [key, slug]));
  return (key) => slugs.get(key) ?? key;
}

function nextKey(slug: string, known: readonly StoredPage[]): PageKey {
  const eras = known.map(({ key }) => readPageKey(key)).filter((one) => one.slug === slug);
  return toPageKey(slug, 1 + Math.max(0, ...eras.map(({ era }) => era)));
}

function toPage(row: Row): StoredPage {
  return {
    key: String(row['key']) as PageKey,
    slug: String(row['slug']),
    origin: String(row['origin']),
    access: String(row['access']) as StoredPage['access'],
    gate: Number(row['gate']),
    beganAt: parseInstant(row['began_at']) ?? (0 as EpochMs),
    endedAt: parseInstant(row['ended_at']),
  };
}
