/**
 * Posts written by operators. Writers pass their transaction in, so that a change and everything that belongs to it are
 * atomic.
 */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader, Writer } from '../database.ts';
import { flag, instant, named, number, orNull, type RowOf, table, text, word } from '../table.ts';

const WRITTEN = table('written', {
  id: text(),
  /** The page it was written on, the only one that shows it. */
  page: text<PageKey>(),
  /** Whether the page was private at the time. If the page becomes public, such a post still stays hidden. */
  isPrivate: flag(),
  /** From 1; incremented with every change. */
  version: number(),
  /** The post as JSON. */
  document: text(),
  createdAt: instant(),
  updatedAt: instant(),
  /** Who changed it last, as in the audit log. */
  actor: text(),
});
export type WrittenRow = RowOf<typeof WRITTEN>;

/** Posts not deleted, of one page or of all; oldest first. */
export async function readWritten(reader: Reader, page?: PageKey): Promise<readonly WrittenRow[]> {
  const rows =
    page === undefined
      ? await reader.all('SELECT * FROM written WHERE deleted_at IS NULL ORDER BY created_at, id')
      : await reader.all('SELECT * FROM written WHERE deleted_at IS NULL AND page = ? ORDER BY created_at, id', [page]);
  return rows.map(WRITTEN.read);
}

/** A post by id; null: there is none, or it was deleted. */
export async function findWritten(reader: Reader, id: string): Promise<WrittenRow | null> {
  const [row] = await reader.all('SELECT * FROM written WHERE id = ? AND deleted_at IS NULL', [id]);
  return row === undefined ? null : WRITTEN.read(row);
}

/** Inserts a post, or updates the stored one. */
export function saveWritten(tx: Writer, row: WrittenRow): Promise<void> {
  return WRITTEN.save(tx, [row], { key: ['id'], kept: ['page', 'created_at'] });
}

/** Marks a post as deleted for good; its row is kept as long as history is. */
export async function deleteWritten(tx: Writer, id: string, at: EpochMs, actor: string): Promise<void> {
  await tx.run('UPDATE written SET deleted_at = ?, updated_at = ?, actor = ?, version = version + 1 WHERE id = ?', [
    at,
    at,
    actor,
    id,
  ]);
}

/** Number of posts of a page that were written while it was private. */
export async function countPrivate(reader: Reader, page: PageKey): Promise<number> {
  const [row] = await reader.all(
    'SELECT COUNT(*) AS n FROM written WHERE page = ? AND is_private = 1 AND deleted_at IS NULL',
    [page],
  );
  return Number(row?.['n'] ?? 0);
}

/** Requests with an idempotency key. */
const REQUESTS = table('written_request', {
  actor: text(),
  key: named('request_key', text()),
  /** Digest of the whole request. */
  digest: text(),
  /** Id of the resulting post. */
  post: text(),
});
type KnownRequest = RowOf<typeof REQUESTS>;

/** The earlier request with this key; null: none. */
export async function findRequest(reader: Reader, { actor, key }: Pick<KnownRequest, 'actor' | 'key'>) {
  const sql = 'SELECT * FROM written_request WHERE actor = ? AND request_key = ?';
  const [row] = await reader.all(sql, [actor, key]);
  return row === undefined ? null : REQUESTS.read(row);
}

export function keepRequest(tx: Writer, request: KnownRequest, at: EpochMs): Promise<void> {
  return REQUESTS.insert(tx, [request], { at });
}

// Alerts by their sender's key: the incident of each, and the latest state received.

const ALERTS = table('written_alert', {
  intake: text(),
  /** An alert is only known on its page. */
  page: text<PageKey>(),
  key: named('alert_key', text()),
  /** Id of the post; null: it was resolved before it was first received. */
  post: orNull(text()),
  state: word(['firing', 'resolved'], 'resolved'),
  /** When the alert began or was resolved, by the sender's clock; null: not given. */
  toldAt: orNull(instant()),
});
export type KnownAlert = RowOf<typeof ALERTS>;

/** The stored alert of a key; null: none. */
export async function findAlert(reader: Reader, { intake, page, key }: Pick<KnownAlert, 'intake' | 'page' | 'key'>) {
  const sql = 'SELECT * FROM written_alert WHERE intake = ? AND page = ? AND alert_key = ?';
  const [row] = await reader.all(sql, [intake, page, key]);
  return row === undefined ? null : ALERTS.read(row);
}

export function keepAlert(tx: Writer, alert: KnownAlert, at: EpochMs): Promise<void> {
  return ALERTS.save(tx, [alert], { key: ['intake', 'alert_key'] }, { changed_at: at });
}
