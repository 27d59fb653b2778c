/** Puts notices into the outbox: a row for each notice and recipient. */

import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import { enqueue, type Handover } from '../outbox/outbox.ts';
import { type Database, type Reader, type Row, readIn, type Writer } from '../store/database.ts';
import type { PageNotice } from './news.ts';
import type { Notice } from './notice.ts';
import { toPageNotice } from './record.ts';

/** The channel of subscribers in the outbox. */
export const SUBSCRIBERS = 'email';
/** A message that could not be delivered for so long is parked. */
export const PARKED_AFTER_MS = 5 * DAY_MS;
/** Longer than a notice is told, so that one never comes twice. */
const KEPT_MS = 7 * DAY_MS;
/** Subscribers that one step looks at, so that nobody waits long for the database. */
const STEP = 500;
/** Rows of the outbox that are about subscribers and channels. */
const OURS = `kind IN ('notice', 'confirm', 'known')`;

interface ChannelScope {
  /** As configured; it names the channel in the outbox, in metrics and on the operators' page. */
  readonly id: string;
  /** Slugs; absent: all pages. */
  readonly pages?: readonly string[] | undefined;
  /** `<page slug>/<component id>`. */
  readonly components?: readonly string[] | undefined;
  /** `<upstream id>/<external id>`. */
  readonly monitors?: readonly string[] | undefined;
}

/** A configured channel, and how to send a notice to it. */
export interface NoticeChannel extends ChannelScope {
  /** Whom it reaches, each by a message of its own. */
  readonly recipients: readonly string[];
  /** Language of its messages; absent: that of the page. */
  readonly locale?: string | undefined;
  /** Never throws because of the other side. */
  readonly deliver: (notice: Notice, recipient: string) => Promise<Handover>;
}

/** Queues the oldest new notice for some hundred subscribers. False: there is none. */
export function queueSome(
  database: Database,
  { channels, now }: { readonly channels: readonly NoticeChannel[]; readonly now: EpochMs },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [row] = await tx.all(`SELECT * FROM notice WHERE state = 'new' ORDER BY recorded_at, at, id LIMIT 1`);
    if (row === undefined) return false;
    const told = toPageNotice(row);
    const reached = String(row['reached']);
    const { id: item, at: sortAt } = told.notice;
    const common = { kind: 'notice', item, sortAt } as const;
    const toChannels = (reached === '' ? channels : []).filter((channel) => isTold(channel, told));
    const subscribers = await tx.all(
      `SELECT id, components, quiet_until, confirmed_at FROM subscriber WHERE page = ? AND state = 'active' AND id > ?
       ORDER BY id LIMIT ${STEP}`,
      [String(row['page']), reached],
    );
    const toSubscribers = subscribers.filter(
      (one) => Number(one['confirmed_at']) <= Number(row['recorded_at']) && wants(one, told),
    );
    await enqueue(
      tx,
      [
        ...toChannels.flatMap(({ id: channel, recipients }) =>
          recipients.map((recipient) => ({ ...common, channel, recipient })),
        ),
        ...toSubscribers.map((one) => ({
          ...common,
          channel: SUBSCRIBERS,
          recipient: String(one['id']),
          dueAt: toEpochMs(Math.max(now, Number(one['quiet_until']))),
        })),
      ],
      now,
    );
    const isLast = subscribers.length < STEP;
    await tx.run('UPDATE notice SET state = ?, reached = ? WHERE id = ?', [
      isLast ? 'queued' : 'new',
      String(subscribers.at(-1)?.['id'] ?? reached),
      item,
    ]);
    return true;
  });
}

/** Whether a notice is of one of the channel's pages, and about one of its components or monitors if it names any. */
function isTold(scope: ChannelScope, { notice, componentIds, monitors }: PageNotice): boolean {
  const { slug } = notice.page;
  const isOnPage = scope.pages === undefined || scope.pages.includes(slug);
  const namesParts = scope.components !== undefined || scope.monitors !== undefined;
  return (
    isOnPage &&
    (!namesParts ||
      componentIds.some((id) => scope.components?.includes(`${slug}/${id}`)) ||
      monitors.some((id) => scope.monitors?.includes(id)))
  );
}

/** A notice about none of the page's components is for everybody. */
function wants(subscriber: Row, { componentIds }: PageNotice): boolean {
  const chosen = JSON.parse(String(subscriber['components'])) as readonly string[];
  return chosen.length === 0 || componentIds.length === 0 || componentIds.some((id) => chosen.includes(id));
}

/** Queues a mail with a link for a subscriber. */
export async function queueLink(
  tx: Writer,
  { subscriber, kind, request, now }: { subscriber: string; kind: 'confirm' | 'known'; request: string; now: EpochMs },
): Promise<void> {
  await enqueue(tx, [{ channel: SUBSCRIBERS, recipient: subscriber, kind, item: request, isAlone: true }], now);
}

/** Reads notices by their ids, in their order, without those that were withdrawn. */
export async function readNotices(reader: Reader, ids: readonly string[]): Promise<readonly PageNotice[]> {
  const rows = await readIn(reader, ids, (list) => ({
    sql: `SELECT id, document FROM notice WHERE state <> 'withdrawn' AND id IN (${list})
          AND page NOT IN (SELECT key FROM page WHERE ended_at IS NOT NULL)`,
  }));
  const known = new Map<string, Row>(rows.map((row) => [String(row['id']), row]));
  return ids.flatMap((id) => {
    const row = known.get(id);
    return row === undefined ? [] : [toPageNotice(row)];
  });
}

/** Parks messages that are too old, and forgets settled ones; how many were parked, by channel. */
export function tidyOutbox(database: Database, now: EpochMs): Promise<ReadonlyMap<string, number>> {
  return database.transaction(async (tx) => {
    const until = now - KEPT_MS;
    await tx.run(`DELETE FROM outbox WHERE created_at <= ? AND state NOT IN ('queued', 'parked') AND ${OURS}`, [until]);
    await tx.run(
      'DELETE FROM notice WHERE recorded_at <= ? AND NOT EXISTS (SELECT 1 FROM outbox WHERE item = notice.id)',
      [until],
    );
    const old = `state = 'queued' AND created_at <= ? AND claimed_until <= ? AND ${OURS}`;
    const values = [now - PARKED_AFTER_MS, now];
    const rows = await tx.all(`SELECT channel, COUNT(*) AS n FROM outbox WHERE ${old} GROUP BY channel`, values);
    if (rows.length > 0) await tx.run(`UPDATE outbox SET state = 'parked' WHERE ${old}`, values);
    return new Map(rows.map((row) => [String(row['channel']), Number(row['n'])]));
  });
}

interface ChannelCounts {
  readonly channel: string;
  readonly queued: number;
  readonly sent: number;
  readonly rejected: number;
  readonly parked: number;
  /** Why the last attempt failed of what still waits; null: none failed. */
  readonly lastError: string | null;
}

/** Counts messages by channel and state. */
export async function deliveryCounts(reader: Reader): Promise<readonly ChannelCounts[]> {
  const rows = await reader.all(
    `SELECT channel, state, COUNT(*) AS n, MAX(reason) AS reason FROM outbox WHERE ${OURS}
     GROUP BY channel, state ORDER BY channel`,
  );
  return [...Map.groupBy(rows, (row) => String(row['channel']))].map(([channel, own]) => {
    const count = (state: string): number => Number(own.find((row) => row['state'] === state)?.['n'] ?? 0);
    const error = own.find((row) => row['state'] === 'queued')?.['reason'] ?? null;
    return {
      channel,
      queued: count('queued'),
      sent: count('sent'),
      rejected: count('rejected'),
      parked: count('parked'),
      lastError: error === null ? null : String(error),
    };
  });
}
