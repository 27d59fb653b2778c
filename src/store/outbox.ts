/** What is sent out: queued, sent, rejected, or parked since it cannot be taken as it is. An event enters once and leaves once. */

import { createHash } from 'node:crypto';
import type { EpochMs } from '../model/time.ts';
import type { Database, Row } from './database.ts';

export const OUTBOX_STATES = ['queued', 'sent', 'rejected', 'parked'] as const;
type OutboxState = (typeof OUTBOX_STATES)[number];

interface OutboxEvent {
  readonly exportId: string;
  readonly id: string;
  readonly incident: string;
  readonly state: OutboxState;
  /** JSON as it is sent. */
  readonly document: string;
  /** Of a rejection, or why it is parked. */
  readonly reason: string | null;
  readonly queuedAt: EpochMs;
  readonly endedAt: EpochMs | null;
}

export interface OutboxBatch {
  /** The Idempotency-Key. */
  readonly key: string;
  readonly attempts: number;
  /** When it was put together; its events never change afterwards. */
  readonly madeAt: EpochMs;
  /** In their order. */
  readonly events: readonly OutboxEvent[];
}

interface Rejection {
  readonly index: number;
  readonly reason: string;
}

export interface Outbox {
  /** From when on incidents count; set to `now` the first time an export is seen. */
  readonly since: (exportId: string, now: EpochMs) => Promise<EpochMs>;
  /** Queues events that are not known yet; how many were new. */
  readonly enqueue: (
    exportId: string,
    events: readonly { readonly id: string; readonly incident: string; readonly document: string }[],
    now: EpochMs,
  ) => Promise<number>;
  /** The batch to send next: one that was tried before and is due, else a new one of at most `size`; null: nothing is due. */
  readonly nextBatch: (exportId: string, size: number, now: EpochMs) => Promise<OutboxBatch | null>;
  /** The batch was taken: its events are sent, but for the rejected ones. */
  readonly settle: (key: string, rejections: readonly Rejection[], now: EpochMs) => Promise<void>;
  /** The batch was not taken, or nobody knows; the same batch goes out again at `nextAt`. */
  readonly postpone: (key: string, error: string, nextAt: EpochMs) => Promise<void>;
  /** The batch as it is can never be taken: its events wait for an operator, and the next ones go on. */
  readonly park: (key: string, error: string, now: EpochMs) => Promise<void>;
  /** Queues what is parked again, for a new batch; how many events. */
  readonly unpark: (exportId: string) => Promise<number>;
  readonly events: (exportId: string, limit: number) => Promise<readonly OutboxEvent[]>;
  readonly counts: (exportId: string) => Promise<Readonly<Record<OutboxState, number>>>;
  /** Words of the last failed attempt of batches still waiting; null: none failed. */
  readonly lastError: (exportId: string) => Promise<string | null>;
}

/** Makes the outbox over a database. */
export function createOutbox(database: Database): Outbox {
  return {
    since: (exportId, now) =>
      database.transaction(async (tx) => {
        await tx.run('INSERT INTO export (id, since_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING', [exportId, now]);
        const [row] = await tx.all('SELECT since_at FROM export WHERE id = ?', [exportId]);
        return Number(row?.['since_at']) as EpochMs;
      }),
    enqueue: (exportId, events, now) =>
      database.transaction(async (tx) => {
        let added = 0;
        for (const event of events) {
          added += await tx.run(
            `INSERT INTO export_event (export, id, incident, document, state, queued_at) VALUES (?, ?, ?, ?, 'queued', ?)
             ON CONFLICT (export, id) DO NOTHING`,
            [exportId, event.id, event.incident, event.document, now],
          );
        }
        return added;
      }),
    nextBatch: (exportId, size, now) =>
      database.transaction(async (tx) => {
        const [waiting] = await tx.all(
          'SELECT * FROM export_batch WHERE export = ? AND done_at IS NULL ORDER BY made_at, key LIMIT 1',
          [exportId],
        );
        if (waiting !== undefined) {
          if (Number(waiting['next_at']) > now) return null;
          const key = String(waiting['key']);
          const rows = await tx.all('SELECT * FROM export_event WHERE export = ? AND batch = ? ORDER BY position', [
            exportId,
            key,
          ]);
          return {
            key,
            attempts: Number(waiting['attempts']),
            madeAt: Number(waiting['made_at']) as EpochMs,
            events: rows.map(toEvent),
          };
        }
        const rows = await tx.all(
          `SELECT * FROM export_event WHERE export = ? AND state = 'queued' AND batch IS NULL ORDER BY queued_at, id LIMIT ?`,
          [exportId, size],
        );
        if (rows.length === 0) return null;
        const events = rows.map(toEvent);
        const key = `pharos-${createHash('sha256')
          .update(JSON.stringify([exportId, ...events.map((event) => event.id)]))
          .digest('hex')}`;
        await tx.run('INSERT INTO export_batch (key, export, made_at, next_at) VALUES (?, ?, ?, ?)', [
          key,
          exportId,
          now,
          now,
        ]);
        await tx.runMany(
          'UPDATE export_event SET batch = ?, position = ? WHERE export = ? AND id = ?',
          events.map((event, position) => [key, position, exportId, event.id]),
        );
        return { key, attempts: 0, madeAt: now, events };
      }),
    settle: (key, rejections, now) =>
      database.transaction(async (tx) => {
        await tx.run(`UPDATE export_event SET state = 'sent', ended_at = ? WHERE batch = ?`, [now, key]);
        await tx.runMany(
          `UPDATE export_event SET state = 'rejected', reason = ? WHERE batch = ? AND position = ?`,
          rejections.map(({ index, reason }) => [reason, key, index]),
        );
        await tx.run('UPDATE export_batch SET done_at = ?, attempts = attempts + 1, last_error = NULL WHERE key = ?', [
          now,
          key,
        ]);
      }),
    postpone: (key, error, nextAt) =>
      database.transaction(async (tx) => {
        await tx.run('UPDATE export_batch SET attempts = attempts + 1, next_at = ?, last_error = ? WHERE key = ?', [
          nextAt,
          error,
          key,
        ]);
      }),
    park: (key, error, now) =>
      database.transaction(async (tx) => {
        await tx.run(`UPDATE export_event SET state = 'parked', reason = ?, ended_at = ? WHERE batch = ?`, [
          error,
          now,
          key,
        ]);
        await tx.run('UPDATE export_batch SET done_at = ?, attempts = attempts + 1, last_error = ? WHERE key = ?', [
          now,
          error,
          key,
        ]);
      }),
    unpark: (exportId) =>
      database.transaction(async (tx) => {
        // The same events make the same key again.
        await tx.run(
          `DELETE FROM export_batch WHERE export = ? AND key IN (SELECT batch FROM export_event WHERE export = ? AND state = 'parked')`,
          [exportId, exportId],
        );
        return tx.run(
          `UPDATE export_event SET state = 'queued', reason = NULL, ended_at = NULL, batch = NULL, position = NULL WHERE export = ? AND state = 'parked'`,
          [exportId],
        );
      }),
    events: async (exportId, limit) =>
      (
        await database.all('SELECT * FROM export_event WHERE export = ? ORDER BY queued_at DESC, id LIMIT ?', [
          exportId,
          limit,
        ])
      ).map(toEvent),
    counts: async (exportId) => {
      const rows = await database.all(
        'SELECT state, COUNT(*) AS total FROM export_event WHERE export = ? GROUP BY state',
        [exportId],
      );
      const counts = { queued: 0, sent: 0, rejected: 0, parked: 0 };
      for (const row of rows) counts[String(row['state']) as OutboxState] = Number(row['total']);
      return counts;
    },
    lastError: async (exportId) => {
      const [row] = await database.all(
        'SELECT last_error FROM export_batch WHERE export = ? AND done_at IS NULL AND last_error IS NOT NULL LIMIT 1',
        [exportId],
      );
      return row === undefined ? null : String(row['last_error']);
    },
  };
}

function toEvent(row: Row): OutboxEvent {
  const endedAt = row['ended_at'];
  return {
    exportId: String(row['export']),
    id: String(row['id']),
    incident: String(row['incident']),
    state: String(row['state']) as OutboxState,
    document: String(row['document']),
    reason: row['reason'] === null ? null : String(row['reason']),
    queuedAt: Number(row['queued_at']) as EpochMs,
    endedAt: endedAt === null ? null : (Number(endedAt) as EpochMs),
  };
}
