/**
 * Posts written by operators. Writers pass their transaction in, so that a change and everything that belongs to it are
 * atomic.
 */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader, Row, Writer } from '../database.ts';
import { parseInstant } from '../rows.ts';

export interface WrittenRow {
  readonly id: string;
  /** The page it was written on, the only one that shows it. */
  readonly page: PageKey;
  /** Whether the page was private at the time. If the page becomes public, such a post still stays hidden. */
  readonly isPrivate: boolean;
  /** From 1; incremented with every change. */
  readonly version: number;
  /** The post as JSON. */
  readonly document: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** Who changed it last, as in the audit log. */
  readonly actor: string;
}

/** Posts not deleted, of one page or of all; oldest first. */
export async function readWritten(reader: Reader, page?: PageKey): Promise<readonly WrittenRow[]> {
  const rows =
    page === undefined
      ? await reader.all('SELECT * FROM written WHERE deleted_at IS NULL ORDER BY created_at, id')
      : await reader.all('SELECT * FROM written WHERE deleted_at IS NULL AND page = ? ORDER BY created_at, id', [page]);
  return rows.map(toRow);
}

/** A post by id; null: there is none, or it was deleted. */
export async function findWritten(reader: Reader, id: string): Promise<WrittenRow | null> {
  const [row] = await reader.all('SELECT * FROM written WHERE id = ? AND deleted_at IS NULL', [id]);
  return row === undefined ? null : toRow(row);
}

/** Inserts a post, or updates the stored one. */
export async function saveWritten(tx: Writer, row: WrittenRow): Promise<void> {
  const { id, page, isPrivate, version, document, createdAt, updatedAt, actor } = row;
  await tx.run(
    `INSERT INTO written (id, page, is_private, version, document, created_at, updated_at, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, document = excluded.document,
       updated_at = excluded.updated_at, actor = excluded.actor, is_private = excluded.is_private`,
    [id, page, Number(isPrivate), version, document, createdAt, updatedAt, actor],
  );
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

/** A request with an idempotency key. */
interface KnownRequest {
  readonly actor: string;
  readonly key: string;
  /** Digest of the whole request. */
  readonly digest: string;
  /** Id of the resulting post. */
  readonly post: string;
}

/** The earlier request with this key; null: none. */
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

// Alerts by their sender's key: the incident of each, and the latest state received.

export interface KnownAlert {
  readonly intake: string;
  /** An alert is only known on its page. */
  readonly page: PageKey;
  readonly key: string;
  /** Id of the post; null: it was resolved before it was first received. */
  readonly post: string | null;
  readonly state: 'firing' | 'resolved';
  /** When the alert began or was resolved, by the sender's clock; null: not given. */
  readonly toldAt: EpochMs | null;
}

/** The stored alert of a key; null: none. */
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
