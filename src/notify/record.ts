/** Writes down what pages have to tell, each update once, and which of it nobody is told of. */

import type { PageIdentity } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database, Row, Writer } from '../store/database.ts';
import { readIn } from '../store/database.ts';
import { type PageNews, type PageNotice, TOLD_FOR_MS } from './news.ts';

/**
 * Records the news of a page. What is known is left as it is, so the same news may come again, from several processes.
 *
 * Nobody is told of what was there when its page or its list was first seen (a first pass, a back-fill, an import), of
 * what is older than a day, and of what its writer wants to be silent. What a page tells no more is withdrawn, and what
 * was not sent of it yet is not sent any more.
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

/** Those of the origins that nobody had seen before. */
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
  // An hour less than the day, since a page is computed to an instant that lies a little back.
  const recent = await tx.all(`SELECT id FROM notice WHERE page = ? AND at > ? AND state IN ('new', 'queued')`, [
    page.key,
    now - TOLD_FOR_MS + 3_600_000,
  ]);
  for (const id of recent.map((row) => String(row['id'])).filter((one) => !current.has(one))) {
    await tx.run(`UPDATE notice SET state = 'withdrawn' WHERE id = ?`, [id]);
    await tx.run(`DELETE FROM outbox WHERE item = ? AND state = 'queued' AND claimed_until <= ?`, [id, now]);
  }
}

/** The components that the form of a page offers; none before it was first published behind the gate that it has. */
export async function componentsOf(
  database: Pick<Database, 'all'>,
  page: PageIdentity,
): Promise<PageNews['components']> {
  const [row] = await database.all('SELECT components FROM notice_page WHERE page = ? AND gate = ?', [
    page.key,
    page.gate,
  ]);
  return row === undefined ? [] : (JSON.parse(String(row['components'])) as PageNews['components']);
}

/** A notice as it was recorded. */
export function toPageNotice(row: Row): PageNotice {
  return JSON.parse(String(row['document'])) as PageNotice;
}
