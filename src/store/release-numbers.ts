/** Numbers of releases. They only grow: not a page's removal, nor another node, nor a restored backup gives one twice. */

import type { Database, Writer } from './database.ts';

/**
 * The next number of a release of a page, which nobody else gets.
 *
 * @param above  what is known to be taken: on this disk, on a target
 */
export function nextReleaseNumber(database: Database, slug: string, above: number): Promise<number> {
  return database.transaction(async (tx) => {
    const last = await lastNumber(tx, slug);
    const number = Math.max(last, above) + 1;
    await writeNumber(tx, slug, number);
    return number;
  });
}

/** Makes the next numbers of pages larger than those that were found elsewhere. */
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
