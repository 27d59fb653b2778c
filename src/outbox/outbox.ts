/**
 * Messages to others: one row for each item and recipient. A process claims rows for a while before it sends them, so several
 * processes can send at once, and another one sends what a process had claimed when it died. Delivery is at least once.
 */

import { createHash } from 'node:crypto';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import { type Database, type Row, readIn, type Writer } from '../store/database.ts';

type JobKind = 'notice' | 'confirm' | 'known' | 'sign-in' | 'event';

/** One message to one recipient. */
export interface Job {
  readonly channel: string;
  /** Empty: the channel itself. */
  readonly recipient: string;
  readonly kind: JobKind;
  /** Id of the message, the same for every attempt. */
  readonly batch: string;
  /** In order. */
  readonly items: readonly string[];
  readonly attempts: number;
  readonly createdAt: EpochMs;
}

/** How an attempt to send a message ended. */
export type Handover =
  /** `refused`: reasons by item, for those that were rejected. */
  | { readonly outcome: 'delivered'; readonly refused?: ReadonlyMap<string, string> }
  /** The recipient no longer wants it. */
  | { readonly outcome: 'dropped' }
  /** Try again; `afterMs` if the receiver said when. */
  | { readonly outcome: 'postponed'; readonly reason: string; readonly afterMs: number | null }
  /** The receiver will never accept it. */
  | { readonly outcome: 'rejected'; readonly reason: string }
  /** It waits for an operator, and doesn’t hold up later messages. */
  | { readonly outcome: 'parked'; readonly reason: string }
  /** The channel can’t be reached at the moment. */
  | { readonly outcome: 'unreachable'; readonly reason: string };

export interface NewRow {
  readonly channel: string;
  readonly recipient: string;
  readonly kind: JobKind;
  readonly item: string;
  /** Default: at once. */
  readonly dueAt?: EpochMs;
  /** Lowest first for each recipient. Default: 0. */
  readonly sortAt?: EpochMs;
  /** True: sent as a message of its own. */
  readonly isAlone?: boolean;
}

/** Adds rows that aren’t in the outbox yet. */
export async function enqueue(tx: Writer, rows: readonly NewRow[], now: EpochMs): Promise<void> {
  await tx.runMany(
    `INSERT INTO outbox (channel, recipient, kind, item, state, batch, sort_at, created_at, due_at, claimed_until, attempts)
     VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, 0, 0) ON CONFLICT (channel, recipient, item) DO NOTHING`,
    rows.map(({ channel, recipient, kind, item, dueAt = now, sortAt = 0, isAlone = false }) => [
      ...[channel, recipient, kind, item],
      ...[isAlone ? item : null, sortAt, now, dueAt],
    ]),
  );
}

/** One channel of the outbox, sent beside the others. */
export interface Lane {
  /** The channel. */
  readonly id: string;
  /** Messages sent at once. Each of them may be sent twice if the process dies at that moment. */
  readonly atOnce: number;
  /** Maximum number of items in one message. */
  readonly itemsMax: number;
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
  /** A message this old is parked instead of tried again; null: never. */
  readonly parkedAfterMs: number | null;
  readonly send: (job: Job) => Promise<Handover>;
  readonly onClaimed?: (tx: Writer, jobs: readonly Job[]) => Promise<void>;
  readonly onSettled?: (job: Job, settlement: Settlement) => void;
}

/** Recipients per round. */
const ROUND = 32;

/**
 * Claims what is due: one message for each recipient, who gets the next one when this one has ended.
 *
 * @param until no other process sends it before this time
 */
export function claimDue(
  database: Database,
  { id: channel, itemsMax, onClaimed }: Pick<Lane, 'id' | 'itemsMax' | 'onClaimed'>,
  now: EpochMs,
  until: EpochMs,
): Promise<readonly Job[]> {
  return database.transaction(
    async (tx) => {
      const recipients = await tx.all(
        `SELECT DISTINCT recipient FROM (
         SELECT recipient FROM outbox AS one
         WHERE channel = ? AND state = 'queued' AND due_at <= ? AND claimed_until <= ? AND NOT EXISTS (
           SELECT 1 FROM outbox AS other
           WHERE other.channel = one.channel AND other.recipient = one.recipient AND other.state = 'queued'
             AND (other.claimed_until > ? OR (other.batch IS NOT NULL AND other.due_at > ?)))
         ORDER BY due_at LIMIT ?) AS due`,
        [channel, now, now, now, now, ROUND],
      );
      const rows = await readIn(
        tx,
        recipients.map((row) => String(row['recipient'])),
        (list) => ({
          // The sum keeps SQLite from reading all that is due for a few recipients.
          sql: `SELECT * FROM outbox WHERE channel = ? AND state = 'queued' AND due_at + 0 <= ? AND recipient IN (${list})
                ORDER BY sort_at, created_at, item`,
          before: [channel, now],
        }),
      );
      // Lists with `IN` are padded with their last value, and a database may answer it twice in different parts.
      const unique = new Map(rows.map((row) => [`${String(row['recipient'])} ${String(row['item'])}`, row])).values();
      const own = Map.groupBy(unique, (row) => String(row['recipient']));
      const jobs = [...own.values()].map((due) => toJob(due, itemsMax));
      await tx.runMany(
        'UPDATE outbox SET batch = ?, claimed_until = ? WHERE channel = ? AND recipient = ? AND item = ?',
        jobs.flatMap(({ batch, recipient, items }) => items.map((item) => [batch, until, channel, recipient, item])),
      );
      await onClaimed?.(tx, jobs);
      return jobs;
    },
    { isDurable: false },
  );
}

/** Repeats a message that was sent before unchanged; otherwise makes a new one of the first items. */
function toJob(rows: readonly Row[], itemsMax: number): Job {
  const batch = rows.find((row) => row['batch'] !== null)?.['batch'];
  const mine = batch === undefined ? rows.slice(0, itemsMax) : rows.filter((row) => row['batch'] === batch);
  const [first] = mine;
  if (first === undefined) throw new TypeError('a job without rows');
  const items = mine.map((row) => String(row['item']));
  return {
    channel: String(first['channel']),
    recipient: String(first['recipient']),
    kind: String(first['kind']) as JobKind,
    batch: batch === undefined ? batchId(items) : String(batch),
    items,
    attempts: Number(first['attempts']),
    createdAt: toEpochMs(Math.min(...mine.map((row) => Number(row['created_at'])))),
  };
}

function batchId(items: readonly string[]): string {
  const [only = ''] = items;
  if (items.length === 1) return only;
  return createHash('sha256').update(JSON.stringify(items)).digest('hex').slice(0, 32);
}

/** What an attempt changes in the outbox. */
export type Settlement =
  | Extract<Handover, { outcome: 'delivered' | 'dropped' | 'rejected' | 'parked' }>
  | { readonly outcome: 'postponed'; readonly reason: string; readonly dueAt: EpochMs }
  /** Returns the claim. */
  | { readonly outcome: 'released'; readonly reason: string };

const ENDED_STATES = { delivered: 'sent', rejected: 'rejected', parked: 'parked' } as const;
const OWN_ROW = `channel = ? AND recipient = ? AND item = ? AND state = 'queued'`;

/** Records how attempts ended. Messages behind a postponed one wait with it. */
export async function settle(
  tx: Writer,
  settled: readonly (readonly [Job, Settlement])[],
  now: EpochMs,
): Promise<void> {
  for (const [{ channel, recipient, items }, settlement] of settled) {
    const keys = items.map((item) => [channel, recipient, item]);
    if (settlement.outcome === 'dropped') {
      await tx.runMany('DELETE FROM outbox WHERE channel = ? AND recipient = ? AND item = ?', keys);
    } else if (settlement.outcome === 'released') {
      await tx.runMany(
        `UPDATE outbox SET claimed_until = 0, reason = ? WHERE ${OWN_ROW}`,
        keys.map((key) => [settlement.reason, ...key]),
      );
    } else if (settlement.outcome === 'postponed') {
      const { dueAt, reason } = settlement;
      await tx.runMany(
        `UPDATE outbox SET claimed_until = 0, attempts = attempts + 1, due_at = ?, reason = ? WHERE ${OWN_ROW}`,
        keys.map((key) => [dueAt, reason, ...key]),
      );
      await tx.run(
        `UPDATE outbox SET due_at = ? WHERE channel = ? AND recipient = ? AND state = 'queued' AND due_at < ?`,
        [dueAt, channel, recipient, dueAt],
      );
    } else {
      const refused = settlement.outcome === 'delivered' ? settlement.refused : undefined;
      const reason = settlement.outcome === 'delivered' ? null : settlement.reason;
      await tx.runMany(
        `UPDATE outbox SET state = ?, claimed_until = 0, reason = ?, ended_at = ? WHERE ${OWN_ROW}`,
        items.map((item) => {
          const why = refused?.get(item);
          const state = why === undefined ? ENDED_STATES[settlement.outcome] : 'rejected';
          return [state, why ?? reason, now, channel, recipient, item];
        }),
      );
    }
  }
}
