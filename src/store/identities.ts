/**
 * What is never published twice in different ways: ids and dates of pages, components and automatic incidents, and numbers of
 * releases.
 */

import type { EpochMs } from '../model/time.ts';
import {
  type Database,
  instant,
  named,
  type Reader,
  type RowOf,
  readIn,
  type TransactionOptions,
  table,
  text,
  type Writer,
} from './database.ts';
import type { Subject } from './revisions.ts';
import { parseInstant } from './rows.ts';

/** Automatic incidents that were published, with the data needed to recognise them later. */
const ENTRIES = table('entry', {
  /** Unique on its page. */
  id: text(),
  /** The component whose outage opened it. */
  componentId: named('component', text()),
  fellAt: instant(),
  firstSeenAt: instant(),
});
type StoredEntry = RowOf<typeof ENTRIES>;

/** @see Store.firstSeenAt */
export async function readFirstSeen(reader: Reader, about: readonly Subject[]): Promise<ReadonlyMap<Subject, EpochMs>> {
  const rows = await readIn(reader, about, (list) => ({
    sql: `SELECT subject, at FROM first_seen WHERE subject IN (${list})`,
  }));
  return new Map(rows.map((row) => [String(row['subject']) as Subject, Number(row['at']) as EpochMs]));
}

/** @see Store.firstPublishedAt */
export async function readFirstPublished(reader: Reader): Promise<EpochMs | null> {
  const [row] = await reader.all('SELECT MIN(at) AS at FROM first_seen');
  return parseInstant(row?.['at']);
}

/** @see Store.entries */
export async function readEntries(reader: Reader, page: string): Promise<readonly StoredEntry[]> {
  const rows = await reader.all('SELECT * FROM entry WHERE page = ? ORDER BY first_seen_at, id', [page]);
  return rows.map(ENTRIES.read);
}

/** What a page publishes for the first time. */
export interface PageFirsts {
  /** The id of its definition. */
  readonly page: string;
  readonly at: EpochMs;
  /** The page itself, and components of it. */
  readonly subjects: readonly Subject[];
  readonly entries: readonly Omit<StoredEntry, 'firstSeenAt'>[];
}

/** Stores what is published for the first time. Earlier records stay, unless they lie in the future. */
export async function rememberFirsts(database: Database, { page, at, subjects, entries }: PageFirsts): Promise<void> {
  await database.transaction(
    async (tx) => {
      await tx.runMany(
        'INSERT INTO first_seen (subject, at) VALUES (?, ?) ON CONFLICT (subject) DO UPDATE SET at = excluded.at WHERE first_seen.at > excluded.at',
        subjects.map((subject) => [subject, at]),
      );
      await tx.runMany(
        `INSERT INTO entry (page, id, component, fell_at, first_seen_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (page, id) DO NOTHING`,
        entries.map(({ id, componentId, fellAt }) => [page, id, componentId, fellAt, at]),
      );
      // The number of the release, which is taken after this, makes it durable.
    },
    { isDurable: false },
  );
}

/**
 * Reserves the next release number of a page.
 *
 * @param above  the highest number known to be in use, on this disk or on a target
 */
export function nextReleaseNumber(database: Database, slug: string, above: number, options?: TransactionOptions) {
  return database.transaction(async (tx) => {
    const last = await lastNumber(tx, slug);
    const number = Math.max(last, above) + 1;
    await writeNumber(tx, slug, number);
    return number;
  }, options);
}

/** Raises the next numbers of pages above those found elsewhere. */
export async function raiseReleaseNumbers(database: Database, found: ReadonlyMap<string, number>): Promise<void> {
  if (found.size === 0) return;
  await database.transaction(async (tx) => {
    for (const [slug, number] of found) if ((await lastNumber(tx, slug)) < number) await writeNumber(tx, slug, number);
  });
}

async function lastNumber(tx: Writer, slug: string): Promise<number> {
  const [row] = await tx.all('SELECT number FROM release_number WHERE slug = ?', [slug]);
  return Number(row?.['number'] ?? 0);
}

async function writeNumber(tx: Writer, slug: string, number: number): Promise<void> {
  await tx.run(
    'INSERT INTO release_number (slug, number) VALUES (?, ?) ON CONFLICT (slug) DO UPDATE SET number = excluded.number',
    [slug, number],
  );
}
