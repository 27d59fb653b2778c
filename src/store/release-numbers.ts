/**
 * Numbers of releases. They only grow and are never reused, even after a page was removed, on another node, or after a
 * backup was restored.
 */

import type { Database, TransactionOptions, Writer } from './database.ts';

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
