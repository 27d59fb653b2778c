/**
 * What is owed to whom: a row for each notice and recipient. A process claims what it sends for a while, so that several
 * may send at once, and whatever a process that ended had claimed is sent by the next: at least once.
 */

import { createHash } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import { type Database, type Reader, type Row, readIn, type Writer } from '../store/database.ts';
import type { PageNotice } from './news.ts';
import { isTold, type NoticeChannel } from './recipients.ts';
import { toPageNotice } from './record.ts';

/** The channel of subscribers. */
export const EMAIL = 'email';
/** What could not be handed over for so long is given up. */
export const PARKED_AFTER_MS = 5 * DAY_MS;

type DeliveryKind = 'notice' | 'confirm' | 'known';

/** What goes to one recipient as one message. */
export interface Job {
  readonly channel: string;
  /** Id of a subscriber; empty: the channel itself. */
  readonly recipient: string;
  readonly kind: DeliveryKind;
  /** The same however often it is tried. */
  readonly batch: string;
  /** Ids of notices, in their order; of a mail with a link the request. */
  readonly notices: readonly string[];
  readonly attempts: number;
  readonly createdAt: EpochMs;
}

/** Subscribers that one step of queueing looks at. */
const STEP = 500;

/**
 * Queues the oldest notice that is not queued for everybody yet, for some hundred subscribers at a time, so that nobody
 * waits long for the database. False: there is none.
 */
export function queueSome(
  database: Database,
  { channels, now }: { readonly channels: readonly NoticeChannel[]; readonly now: EpochMs },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [row] = await tx.all(`SELECT * FROM notice WHERE state = 'new' ORDER BY recorded_at, at, id LIMIT 1`);
    if (row === undefined) return false;
    const told = toPageNotice(row);
    const reached = String(row['reached']);
    const { id } = told.notice;
    if (reached === '') {
      const to = channels.filter((channel) => isTold(channel, told));
      await insert(
        tx,
        to.map(({ id: channel }) => ({ channel, recipient: '', notice: id, dueAt: now })),
        now,
      );
    }
    const subscribers = await tx.all(
      `SELECT id, components, quiet_until, confirmed_at FROM subscriber WHERE slug = ? AND state = 'active' AND id > ?
       ORDER BY id LIMIT ${STEP}`,
      [told.notice.page.slug, reached],
    );
    const wanted = subscribers.filter(
      (one) => Number(one['confirmed_at']) <= Number(row['recorded_at']) && wants(one, told),
    );
    await insert(
      tx,
      wanted.map((one) => ({
        channel: EMAIL,
        recipient: String(one['id']),
        notice: id,
        dueAt: toEpochMs(Math.max(now, Number(one['quiet_until']))),
      })),
      now,
    );
    const isLast = subscribers.length < STEP;
    await tx.run('UPDATE notice SET state = ?, reached = ? WHERE id = ?', [
      isLast ? 'queued' : 'new',
      String(subscribers.at(-1)?.['id'] ?? reached),
      id,
    ]);
    return true;
  });
}

/** What a page says of nothing it shows is for everybody. */
function wants(subscriber: Row, { componentIds }: PageNotice): boolean {
  const chosen = JSON.parse(String(subscriber['components'])) as readonly string[];
  return chosen.length === 0 || componentIds.length === 0 || componentIds.some((id) => chosen.includes(id));
}

async function insert(
  tx: Writer,
  rows: readonly { channel: string; recipient: string; notice: string; dueAt: EpochMs }[],
  now: EpochMs,
): Promise<void> {
  await tx.runMany(
    `INSERT INTO notice_delivery (channel, recipient, kind, notice, state, created_at, due_at, claimed_until, attempts)
     VALUES (?, ?, 'notice', ?, 'queued', ?, ?, 0, 0) ON CONFLICT (channel, recipient, notice) DO NOTHING`,
    rows.map(({ channel, recipient, notice, dueAt }) => [channel, recipient, notice, now, dueAt]),
  );
}

/** Owes a mail with a link to a subscriber. */
export async function oweLink(
  tx: Writer,
  { subscriber, kind, request, now }: { subscriber: string; kind: 'confirm' | 'known'; request: string; now: EpochMs },
): Promise<void> {
  await tx.run(
    `INSERT INTO notice_delivery (channel, recipient, kind, notice, state, batch, created_at, due_at, claimed_until, attempts)
     VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, 0, 0) ON CONFLICT (channel, recipient, notice) DO NOTHING`,
    [EMAIL, subscriber, kind, request, request, now, now],
  );
}

interface ClaimInit {
  readonly channel: string;
  readonly now: EpochMs;
  /** Nobody else sends it before. */
  readonly until: EpochMs;
  /** Subscribers get no other message before; what comes meanwhile goes as one. */
  readonly quietUntil: EpochMs;
  /** Of recipients. */
  readonly limit: number;
}

/** Claims what is due: for each recipient one message at a time, in the order of the notices. */
export function claimDue(database: Database, init: ClaimInit): Promise<readonly Job[]> {
  const { channel, now, until, quietUntil, limit } = init;
  return database.transaction(
    async (tx) => {
      const recipients = await tx.all(
        `SELECT DISTINCT recipient FROM (
         SELECT recipient FROM notice_delivery AS one
         WHERE channel = ? AND state = 'queued' AND due_at <= ? AND claimed_until <= ? AND NOT EXISTS (
           SELECT 1 FROM notice_delivery AS other
           WHERE other.channel = one.channel AND other.recipient = one.recipient AND other.state = 'queued'
             AND (other.claimed_until > ? OR (other.batch IS NOT NULL AND other.due_at > ?)))
         ORDER BY due_at LIMIT ?) AS due`,
        [channel, now, now, now, now, limit],
      );
      const rows = await readIn(
        tx,
        recipients.map((row) => String(row['recipient'])),
        (list) => ({
          sql: `SELECT delivery.*, notice.at FROM notice_delivery AS delivery LEFT JOIN notice ON notice.id = delivery.notice
              WHERE channel = ? AND delivery.state = 'queued' AND due_at <= ? AND recipient IN (${list})
              ORDER BY COALESCE(notice.at, 0), delivery.created_at, delivery.notice`,
          before: [channel, now],
        }),
      );
      const jobs = [...Map.groupBy(uniqueRows(rows), (row) => String(row['recipient'])).values()].map((own) =>
        jobOf(own, channel),
      );
      await tx.runMany(
        'UPDATE notice_delivery SET batch = ?, claimed_until = ? WHERE channel = ? AND recipient = ? AND notice = ?',
        jobs.flatMap(({ batch, recipient, notices }) =>
          notices.map((notice) => [batch, until, channel, recipient, notice]),
        ),
      );
      await tx.runMany(
        'UPDATE subscriber SET quiet_until = ? WHERE id = ?',
        jobs
          .filter(({ kind, recipient }) => kind === 'notice' && recipient !== '')
          .map((job) => [quietUntil, job.recipient]),
      );
      return jobs;
    },
    { isDurable: false },
  );
}

/** Lists with `IN` are padded with their last value, and a database may answer it twice in different parts. */
function uniqueRows(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [`${String(row['recipient'])} ${String(row['notice'])}`, row])).values()];
}

/** What was put together before stays together; else a subscriber gets all that is due as one, and a channel the oldest. */
function jobOf(rows: readonly Row[], channel: string): Job {
  const [first] = rows;
  if (first === undefined) throw new TypeError('no rows of a recipient');
  const begun = rows.find((row) => row['batch'] !== null);
  const mine =
    begun !== undefined
      ? rows.filter((row) => row['batch'] === begun['batch'])
      : channel === EMAIL
        ? rows.filter((row) => row['kind'] === 'notice')
        : [first];
  const notices = mine.map((row) => String(row['notice']));
  return {
    channel,
    recipient: String(first['recipient']),
    kind: String(mine[0]?.['kind']) as DeliveryKind,
    batch: begun !== undefined ? String(begun['batch']) : batchOf(notices),
    notices,
    attempts: Number(mine[0]?.['attempts'] ?? 0),
    createdAt: toEpochMs(Math.min(...mine.map((row) => Number(row['created_at'])))),
  };
}

/** Of one notice its own id. */
function batchOf(notices: readonly string[]): string {
  const [only = ''] = notices;
  if (notices.length === 1) return only;
  return createHash('sha256').update(JSON.stringify(notices)).digest('hex').slice(0, 32);
}

/** Notices by their ids, in their order; those that are gone are left out. */
export async function noticesOf(reader: Reader, ids: readonly string[]): Promise<readonly PageNotice[]> {
  const rows = await readIn(reader, ids, (list) => ({
    sql: `SELECT id, document FROM notice WHERE state <> 'withdrawn' AND id IN (${list})`,
  }));
  const known = new Map<string, Row>(rows.map((row) => [String(row['id']), row]));
  return ids.flatMap((id) => {
    const row = known.get(id);
    return row === undefined ? [] : [toPageNotice(row)];
  });
}

/** How an attempt ended. `dropped`: whoever it was for is not to be told any more. */
export type Settlement =
  | { readonly result: 'dropped' }
  | { readonly result: 'delivered' }
  /** Not tried, since the channel as a whole cannot be reached: as good as never claimed. */
  | { readonly result: 'released'; readonly reason: string }
  | { readonly result: 'rejected' | 'parked'; readonly reason: string }
  | { readonly result: 'postponed'; readonly reason: string; readonly dueAt: EpochMs };

export interface SettledJob {
  readonly job: Job;
  readonly settlement: Settlement;
}

const STATE_OF: Readonly<Record<'delivered' | 'rejected' | 'parked', string>> = {
  delivered: 'sent',
  rejected: 'rejected',
  parked: 'parked',
};

/** Writes down how attempts ended. What waits behind one that is postponed waits too. */
export async function settle(tx: Writer, settled: readonly SettledJob[]): Promise<void> {
  for (const { job, settlement } of settled) {
    const { channel, recipient, notices } = job;
    const keys = notices.map((notice) => [channel, recipient, notice]);
    if (settlement.result === 'dropped') {
      await tx.runMany('DELETE FROM notice_delivery WHERE channel = ? AND recipient = ? AND notice = ?', keys);
    } else if (settlement.result === 'released') {
      await tx.runMany(
        `UPDATE notice_delivery SET claimed_until = 0, reason = ?
         WHERE channel = ? AND recipient = ? AND notice = ? AND state = 'queued'`,
        keys.map((key) => [settlement.reason, ...key]),
      );
    } else if (settlement.result === 'postponed') {
      const { dueAt, reason } = settlement;
      await tx.runMany(
        `UPDATE notice_delivery SET claimed_until = 0, attempts = attempts + 1, due_at = ?, reason = ?
         WHERE channel = ? AND recipient = ? AND notice = ? AND state = 'queued'`,
        keys.map((key) => [dueAt, reason, ...key]),
      );
      await tx.run(
        `UPDATE notice_delivery SET due_at = ? WHERE channel = ? AND recipient = ? AND state = 'queued' AND due_at < ?`,
        [dueAt, channel, recipient, dueAt],
      );
    } else {
      const reason = 'reason' in settlement ? settlement.reason : null;
      await tx.runMany(
        `UPDATE notice_delivery SET state = ?, claimed_until = 0, reason = ?
         WHERE channel = ? AND recipient = ? AND notice = ? AND state = 'queued'`,
        keys.map((key) => [STATE_OF[settlement.result], reason, ...key]),
      );
    }
  }
}

/** Gives up what is too old; how many messages by channel. */
export async function parkOld(tx: Writer, now: EpochMs): Promise<ReadonlyMap<string, number>> {
  const [before, values] = [
    `state = 'queued' AND created_at <= ? AND claimed_until <= ?`,
    [now - PARKED_AFTER_MS, now],
  ];
  const rows = await tx.all(
    `SELECT channel, COUNT(*) AS n FROM notice_delivery WHERE ${before} GROUP BY channel`,
    values,
  );
  if (rows.length > 0) await tx.run(`UPDATE notice_delivery SET state = 'parked' WHERE ${before}`, values);
  return new Map(rows.map((row) => [String(row['channel']), Number(row['n'])]));
}

/** Forgets what is settled and so old that it never comes again. */
export async function forgetOld(tx: Writer, until: EpochMs): Promise<void> {
  await tx.run(`DELETE FROM notice_delivery WHERE created_at <= ? AND state <> 'queued' AND state <> 'parked'`, [
    until,
  ]);
  await tx.run(
    `DELETE FROM notice WHERE recorded_at <= ? AND NOT EXISTS (SELECT 1 FROM notice_delivery WHERE notice = notice.id)`,
    [until],
  );
}

interface ChannelCounts {
  readonly channel: string;
  readonly queued: number;
  readonly sent: number;
  readonly rejected: number;
  readonly parked: number;
  /** Why the last attempt of what still waits failed; null: none did. */
  readonly lastError: string | null;
}

/** What is owed and what became of the rest, by channel. */
export async function deliveryCounts(reader: Reader): Promise<readonly ChannelCounts[]> {
  const rows = await reader.all(
    `SELECT channel, state, COUNT(*) AS n, MAX(reason) AS reason FROM notice_delivery GROUP BY channel, state ORDER BY channel`,
  );
  return [...Map.groupBy(rows, (row) => String(row['channel']))].map(([channel, own]) => {
    const of = (state: string): number => Number(own.find((row) => row['state'] === state)?.['n'] ?? 0);
    const error = own.find((row) => row['state'] === 'queued')?.['reason'] ?? null;
    return {
      channel,
      queued: of('queued'),
      sent: of('sent'),
      rejected: of('rejected'),
      parked: of('parked'),
      lastError: error === null ? null : String(error),
    };
  });
}
