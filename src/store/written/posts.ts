/** What operators wrote, row by row. Writers hand their transaction in, so that a change and all that belongs to it is one. */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader, Row, Writer } from '../database.ts';
import { parseInstant } from '../rows.ts';

export interface WrittenRow {
  readonly id: string;
  /** The page that it was written on, which alone shows it. */
  readonly page: PageKey;
  /** Whether the page was private then: a page that becomes public does not show it by itself. */
  readonly isPrivate: boolean;
  /** From 1; grows by one with every change. */
  readonly version: number;
  /** JSON of the post. */
  readonly document: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** Who changed it last, as in the audit. */
  readonly actor: string;
}

/** Everything that was not deleted, or that of one page; oldest first. */
export async function readWritten(reader: Reader, page?: PageKey): Promise<readonly WrittenRow[]> {
  const rows =
    page === undefined
      ? await reader.all('SELECT * FROM written WHERE deleted_at IS NULL ORDER BY created_at, id')
      : await reader.all('SELECT * FROM written WHERE deleted_at IS NULL AND page = ? ORDER BY created_at, id', [page]);
  return rows.map(toRow);
}

/** One of them; null: there is none, or it was deleted. */
export async function findWritten(reader: Reader, id: string): Promise<WrittenRow | null> {
  const [row] = await reader.all('SELECT * FROM written WHERE id = ? AND deleted_at IS NULL', [id]);
  return row === undefined ? null : toRow(row);
}

/** Writes it: version 1 is new, any other follows the one before. */
export async function saveWritten(tx: Writer, row: WrittenRow): Promise<void> {
  const { id, page, isPrivate, version, document, createdAt, updatedAt, actor } = row;
  await tx.run(
    `INSERT INTO written (id, page, is_private, version, document, created_at, updated_at, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, document = excluded.document,
       updated_at = excluded.updated_at, actor = excluded.actor, is_private = excluded.is_private`,
    [id, page, Number(isPrivate), version, document, createdAt, updatedAt, actor],
  );
}

/** Takes it away for good; what it was is kept as long as history is. */
export async function deleteWritten(tx: Writer, id: string, at: EpochMs, actor: string): Promise<void> {
  await tx.run('UPDATE written SET deleted_at = ?, updated_at = ?, actor = ?, version = version + 1 WHERE id = ?', [
    at,
    at,
    actor,
    id,
  ]);
}

/** How many posts of a page were written while it was private. */
export async function countPrivate(reader: Reader, page: PageKey): Promise<number> {
  const [row] = await reader.all(
    'SELECT COUNT(*) AS n FROM written WHERE page = ? AND is_private = 1 AND deleted_at IS NULL',
    [page],
  );
  return Number(row?.['n'] ?? 0);
}

/** A request that carried a key of its own. */
interface KnownRequest {
  readonly actor: string;
  readonly key: string;
  /** Of all that was asked for. */
  readonly digest: string;
  /** Id of the post that came of it. */
  readonly post: string;
}

/** The request of this key; null: there was none. */
export async function findRequest(
  reader: Reader,
  { actor, key }: Pick<KnownRequest, 'actor' | 'key'>,
): Promise<KnownRequest | null> {
  const [row] = await reader.all('SELECT digest, post FROM written_request WHERE actor = ? AND request_key = ?', [
    actor,
    key,
  ]);
  return row === undefined ? null : { actor, key, digest: String(row['digest']), post: String(row['post']) };
}

/** Remembers it. */
export async function keepRequest(tx: Writer, { actor, key, digest, post }: KnownRequest, at: EpochMs): Promise<void> {
  await tx.run('INSERT INTO written_request (actor, request_key, digest, post, at) VALUES (?, ?, ?, ?, ?)', [
    actor,
    key,
    digest,
    post,
    at,
  ]);
}

function toRow(row: Row): WrittenRow {
  return {
    id: String(row['id']),
    page: String(row['page']) as PageKey,
    isPrivate: Number(row['is_private']) === 1,
    version: Number(row['version']),
    document: String(row['document']),
    createdAt: parseInstant(row['created_at']) ?? (0 as EpochMs),
    updatedAt: parseInstant(row['updated_at']) ?? (0 as EpochMs),
    actor: String(row['actor']),
  };
}

// Alerts by the key of their sender: which incident each is, and what was heard of it last.

export interface KnownAlert {
  readonly intake: string;
  /** An alert is known on its page only. */
  readonly page: PageKey;
  readonly key: string;
  /** Id of the post; null: it was resolved before it was heard of. */
  readonly post: string | null;
  readonly state: 'firing' | 'resolved';
  /** When that began or ended by the sender's clock; null: it does not tell. */
  readonly toldAt: EpochMs | null;
}

/** What is known of a key; null: nothing. */
export async function findAlert(
  reader: Reader,
  { intake, page, key }: Pick<KnownAlert, 'intake' | 'page' | 'key'>,
): Promise<KnownAlert | null> {
  const [row] = await reader.all(
    'SELECT post, state, told_at FROM written_alert WHERE intake = ? AND page = ? AND alert_key = ?',
    [intake, page, key],
  );
  if (row === undefined) return null;
  return {
    intake,
    page,
    key,
    post: row['post'] === null ? null : String(row['post']),
    state: row['state'] === 'firing' ? 'firing' : 'resolved',
    toldAt: parseInstant(row['told_at']),
  };
}

/** Remembers it. */
export async function keepAlert(
  tx: Writer,
  { intake, page, key, post, state, toldAt }: KnownAlert,
  at: EpochMs,
): Promise<void> {
  await tx.run(
    `INSERT INTO written_alert (intake, page, alert_key, post, state, told_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (intake, alert_key) DO UPDATE SET page = excluded.page, post = excluded.post, state = excluded.state,
       told_at = excluded.told_at, changed_at = excluded.changed_at`,
    [intake, page, key, post, state, toldAt, at],
  );
}
