/**
 * The part of the database that a node without it needs, to know the pages and their access rules: definitions and
 * identities of pages, announcements, and names of monitors. States aren't included, because releases have them.
 */

import { z } from 'zod';
import type { MonitorId } from '../../model/observation.ts';
import type { Database, Reader } from '../../store/database.ts';
import { readPages } from '../../store/pages.ts';
import { recordChanges } from '../../store/revisions.ts';
import { parseJson } from '../../transparency/entries.ts';

const SiteCopySchema = z.object({
  upstreams: z.array(z.object({ id: z.string(), definitions: z.string(), announcements: z.string() })),
  monitors: z.array(z.tuple([z.string(), z.string(), z.boolean().nullable(), z.string()])),
  /** Of each current page: key, slug, origin, access type, and version of the gate. */
  pages: z.array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.number()])).default([]),
});
type SiteCopy = z.output<typeof SiteCopySchema>;

/** When each part of an upstream was last read: monitors, incidents, pages. */
type CopiedTimes = Record<string, [number | null, number | null, number | null]>;

export async function readSiteCopy(reader: Reader): Promise<SiteCopy> {
  const upstreams = await reader.all('SELECT id, definitions, announcements FROM upstream ORDER BY id');
  const monitors = await reader.all('SELECT id, upstream, document FROM monitor WHERE gone_at IS NULL ORDER BY id');
  const pages = await readPages(reader);
  return {
    pages: pages.map(({ key, slug, origin, access, gate }) => [key, slug, origin, access, gate]),
    upstreams: upstreams.map((row) => ({
      id: String(row['id']),
      definitions: String(row['definitions']),
      announcements: String(row['announcements']),
    })),
    monitors: monitors.map((row) => {
      const { name, isPublic } = JSON.parse(String(row['document'])) as { name: string; isPublic: boolean | null };
      return [String(row['id']), name, isPublic, String(row['upstream'])];
    }),
  };
}

/** Null: not a valid copy. */
export function parseSiteCopy(text: string): SiteCopy | null {
  return parseJson(SiteCopySchema, text);
}

export async function readTimes(reader: Reader): Promise<CopiedTimes> {
  const rows = await reader.all('SELECT id, monitors_at, incidents_at, pages_at FROM upstream ORDER BY id');
  const at = (value: unknown): number | null => (value === null ? null : Number(value));
  return Object.fromEntries(
    rows.map((row) => [String(row['id']), [at(row['monitors_at']), at(row['incidents_at']), at(row['pages_at'])]]),
  );
}

/** Writes the copy into the node's own database. */
export async function writeSiteCopy(database: Database, { upstreams, monitors, pages }: SiteCopy): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.run('DELETE FROM upstream');
    await tx.runMany(
      'INSERT INTO upstream (id, definitions, announcements) VALUES (?, ?, ?)',
      upstreams.map(({ id, definitions, announcements }) => [id, definitions, announcements]),
    );
    await tx.run('DELETE FROM page');
    await tx.runMany(
      'INSERT INTO page (key, slug, origin, access, gate, began_at) VALUES (?, ?, ?, ?, ?, 0)',
      pages.map((page) => [...page]),
    );
    await tx.run('UPDATE monitor SET gone_at = 0');
    await tx.runMany(
      `INSERT INTO monitor (id, upstream, state, document, first_seen_at) VALUES (?, ?, ?, ?, 0)
       ON CONFLICT (id) DO UPDATE SET document = excluded.document, gone_at = NULL`,
      monitors.map(([id, name, isPublic, upstream]) => [id, upstream, 'unknown', monitorDocument(id, name, isPublic)]),
    );
    const all = (await tx.all('SELECT id FROM monitor')).map((row) => String(row['id']) as MonitorId);
    for (const [index, { id }] of upstreams.entries())
      await recordChanges(tx, id, { monitors: index === 0 ? all : [], hasNewDefinitions: true });
  });
}

export async function writeTimes(database: Database, times: CopiedTimes): Promise<void> {
  await database.transaction(
    (tx) =>
      tx.runMany(
        'UPDATE upstream SET monitors_at = ?, incidents_at = ?, pages_at = ? WHERE id = ?',
        Object.entries(times).map(([id, [monitors, incidents, pages]]) => [monitors, incidents, pages, id]),
      ),
    { isDurable: false },
  );
}

function monitorDocument(id: string, name: string, isPublic: boolean | null): string {
  const rest = { description: null, kind: 'http', target: null, state: 'unknown', createdAt: null };
  return JSON.stringify({ ...rest, id, name, isPublic });
}
