/** Records the notices of pages, each once, and which of them are not sent. */

import type { PageIdentity } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database, Row, Writer } from '../store/database.ts';
import { readIn } from '../store/database.ts';
import { type PageNews, type PageNotice, TOLD_FOR_MS } from './news.ts';

/**
 * Records the notices of a page. Known ones stay as they are, so several processes can record the same notices.
 *
 * Not sent: what existed when its page or list was first seen (a first pass, a backfill, an import), what is older than a day,
 * and what its author wants to be silent. A notice that the page no longer has is withdrawn; what was not sent yet stays unsent.
 *
 * @returns how many notices are new and told
 */
export function recordNews(database: Database, news: PageNews, now: EpochMs): Promise<number> {
  return database.transaction(async (tx) => {
    const unheard = await originsFirstSeen(tx, news.origins, now);
    await rememberComponents(tx, news);
    const [page = ''] = news.origins;
    let told = 0;
    for (const one of news.notices) {
      const isOld = unheard.has(page) || (one.origin !== null && unheard.has(one.origin));
      const isSilent = isOld || one.isSilent || one.notice.at <= now - TOLD_FOR_MS;
      const added = await tx.run(
        `INSERT INTO notice (id, page, at, recorded_at, state, reached, document) VALUES (?, ?, ?, ?, ?, '', ?)
         ON CONFLICT (id) DO NOTHING`,
        [one.notice.id, news.page.key, one.notice.at, now, isSilent ? 'silent' : 'new', JSON.stringify(one)],
      );
      if (!isSilent) told += added;
    }
    await withdrawOthers(tx, news, now);
    return told;
  });
}

/** Returns the origins that are new, and records them. */
async function originsFirstSeen(tx: Writer, origins: readonly string[], now: EpochMs): Promise<ReadonlySet<string>> {
  const known = await readIn(tx, origins, (list) => ({
    sql: `SELECT origin FROM notice_origin WHERE origin IN (${list})`,
  }));
  const unheard = new Set(origins).difference(new Set(known.map((row) => String(row['origin']))));
  await tx.runMany(
    'INSERT INTO notice_origin (origin, since_at) VALUES (?, ?)',
    [...unheard].map((origin) => [origin, now]),
  );
  return unheard;
}

async function rememberComponents(tx: Writer, { page, components }: PageNews): Promise<void> {
  await tx.run(
    `INSERT INTO notice_page (page, gate, components) VALUES (?, ?, ?)
     ON CONFLICT (page) DO UPDATE SET gate = excluded.gate, components = excluded.components
       WHERE notice_page.gate < excluded.gate
         OR (notice_page.gate = excluded.gate AND notice_page.components <> excluded.components)`,
    [page.key, page.gate, JSON.stringify(components)],
  );
}

async function withdrawOthers(tx: Writer, { page, notices }: PageNews, now: EpochMs): Promise<void> {
  const current = new Set(notices.map(({ notice }) => notice.id));
  // An hour less than a day, because a page is computed for a moment that is already past.
  const recent = await tx.all(`SELECT id FROM notice WHERE page = ? AND at > ? AND state IN ('new', 'queued')`, [
    page.key,
    now - TOLD_FOR_MS + 3_600_000,
  ]);
  for (const id of recent.map((row) => String(row['id'])).filter((one) => !current.has(one))) {
    await tx.run(`UPDATE notice SET state = 'withdrawn' WHERE id = ?`, [id]);
    await tx.run(`DELETE FROM outbox WHERE item = ? AND state = 'queued' AND claimed_until <= ?`, [id, now]);
  }
}

/** The components in the page's subscription form; none until it was published with its current gate. */
export async function readFormComponents(
  database: Pick<Database, 'all'>,
  page: PageIdentity,
): Promise<PageNews['components']> {
  const [row] = await database.all('SELECT components FROM notice_page WHERE page = ? AND gate = ?', [
    page.key,
    page.gate,
  ]);
  return row === undefined ? [] : (JSON.parse(String(row['components'])) as PageNews['components']);
}

/** Reads a notice from its row. */
export function toPageNotice(row: Row): PageNotice {
  return JSON.parse(String(row['document'])) as PageNotice;
}
