/** Events of exports in the outbox: each enters it once, and stays there, so that nothing is sent twice. */

import type { EpochMs } from '../model/time.ts';
import { enqueue } from '../outbox/outbox.ts';
import type { Database, Reader } from '../store/database.ts';
import type { TimeEvent } from './time-events.ts';

export const EVENT_STATES = ['queued', 'sent', 'rejected', 'parked'] as const;
type EventState = (typeof EVENT_STATES)[number];

interface QueuedEvent {
  readonly exportId: string;
  readonly id: string;
  readonly incident: string;
  readonly state: EventState;
  /** JSON as it is sent. */
  readonly document: string;
  /** Why it was rejected or parked, or why the last attempt failed. */
  readonly reason: string | null;
  readonly queuedAt: EpochMs;
  readonly endedAt: EpochMs | null;
}

/** The channel of an export in the outbox. */
export function channelName(exportId: string): string {
  return `export:${exportId}`;
}

/** Since when incidents count; null: the export has never run. */
export async function exportedSince(reader: Reader, exportId: string): Promise<EpochMs | null> {
  const [row] = await reader.all('SELECT since_at FROM export WHERE id = ?', [exportId]);
  return row === undefined ? null : (Number(row['since_at']) as EpochMs);
}

/** The same; an export that has never run begins now. */
export function beginExport(database: Database, exportId: string, now: EpochMs): Promise<EpochMs> {
  return database.transaction(async (tx) => {
    await tx.run('INSERT INTO export (id, since_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING', [exportId, now]);
    return (await exportedSince(tx, exportId)) ?? now;
  });
}

/** Queues events that are not known yet; how many were new. */
export function queueEvents(
  database: Database,
  exportId: string,
  events: readonly TimeEvent[],
  now: EpochMs,
): Promise<number> {
  return database.transaction(async (tx) => {
    const added: string[] = [];
    for (const event of events) {
      const isNew = await tx.run(
        'INSERT INTO export_event (export, id, incident, document) VALUES (?, ?, ?, ?) ON CONFLICT (export, id) DO NOTHING',
        [exportId, event.external_event_id, event.payload['incident'] ?? '', JSON.stringify(event)],
      );
      if (isNew === 1) added.push(event.external_event_id);
    }
    const channel = channelName(exportId);
    await enqueue(
      tx,
      added.map((item) => ({ channel, recipient: '', kind: 'event', item })),
      now,
    );
    return added.length;
  });
}

/** The newest events of an export. */
export async function listEvents(reader: Reader, exportId: string, limit: number): Promise<readonly QueuedEvent[]> {
  const rows = await reader.all(
    `SELECT event.id, incident, document, state, reason, created_at, ended_at
     FROM export_event AS event JOIN outbox ON outbox.item = event.id AND outbox.channel = ?
     WHERE event.export = ? ORDER BY created_at DESC, event.id LIMIT ?`,
    [channelName(exportId), exportId, limit],
  );
  return rows.map((row) => ({
    exportId,
    id: String(row['id']),
    incident: String(row['incident']),
    state: String(row['state']) as EventState,
    document: String(row['document']),
    reason: row['reason'] === null ? null : String(row['reason']),
    queuedAt: Number(row['created_at']) as EpochMs,
    endedAt: row['ended_at'] === null ? null : (Number(row['ended_at']) as EpochMs),
  }));
}

export async function countEvents(reader: Reader, exportId: string): Promise<Readonly<Record<EventState, number>>> {
  const rows = await reader.all('SELECT state, COUNT(*) AS total FROM outbox WHERE channel = ? GROUP BY state', [
    channelName(exportId),
  ]);
  const counts = { queued: 0, sent: 0, rejected: 0, parked: 0 };
  for (const row of rows) counts[String(row['state']) as EventState] = Number(row['total']);
  return counts;
}

/** Why the last attempt failed of what is still queued; null: none failed. */
export async function lastExportError(reader: Reader, exportId: string): Promise<string | null> {
  const [row] = await reader.all(
    `SELECT reason FROM outbox WHERE channel = ? AND state = 'queued' AND reason IS NOT NULL LIMIT 1`,
    [channelName(exportId)],
  );
  return row === undefined ? null : String(row['reason']);
}

/** Queues what is parked again; how many events. */
export function retryParked(database: Database, exportId: string): Promise<number> {
  return database.transaction((tx) =>
    tx.run(
      `UPDATE outbox SET state = 'queued', reason = NULL, ended_at = NULL, batch = NULL, due_at = created_at, attempts = 0
       WHERE channel = ? AND state = 'parked'`,
      [channelName(exportId)],
    ),
  );
}
