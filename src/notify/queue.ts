/** Records the notices of pages, queues them in the outbox (one row per notice and recipient), and sends them. */

import type { ChannelTies } from '../config/notifications.ts';
import type { PageIdentity } from '../model/slugs.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import {
  createSender,
  enqueue,
  type Handover,
  type Job,
  type Lane,
  type Sender,
  type SenderOptions,
} from '../outbox/outbox.ts';
import { type Database, type Reader, type Row, readIn, type Writer } from '../store/database.ts';
import { alertState } from './channel.ts';
import { NEWS_AGE_MAX_MS, type Notice, noticeIn, type PageNews, type PageNotice } from './news.ts';

/** The channel of subscribers in the outbox. */
const SUBSCRIBERS = 'email';
/** Messages that couldn’t be delivered for this long are parked. */
const PARKED_AFTER_MS = 5 * DAY_MS;
/** Longer than notices can take to send, so that none is sent twice. */
const KEPT_MS = 7 * DAY_MS;
/** Subscribers per transaction, so that nobody waits long for the database. */
const STEP = 200;
/** A power cut that loses steps loses how far they came, too, so they are repeated. */
const REPEATABLE = { isDurable: false } as const;
/** Rows of the outbox for subscribers and channels. */
const OURS = `kind IN ('notice', 'confirm', 'known')`;

/** A configured channel, its scope, and how to send a notice to it. Its id names it in the outbox and in metrics. */
export interface NoticeChannel
  extends Pick<ChannelTies, 'id'>,
    Partial<Pick<ChannelTies, 'pages' | 'components' | 'monitors' | 'locale'>> {
  /** Each gets a message of its own. */
  readonly recipients: readonly string[];
  /** Never throws because of the other side. */
  readonly deliver: (notice: Notice, recipient: string) => Promise<Handover>;
}

/** Queues the oldest new notice for a few hundred subscribers. False: there is none. */
function queueSome(database: Database, channels: readonly NoticeChannel[], now: EpochMs): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [row] = await tx.all(`SELECT * FROM notice WHERE state = 'new' ORDER BY recorded_at, at, id LIMIT 1`);
    if (row === undefined) return false;
    const pageNotice = toPageNotice(row);
    const reached = String(row['reached']);
    const { id: item, at: sortAt } = pageNotice.notice;
    const common = { kind: 'notice', item, sortAt } as const;
    const page = String(row['page']);
    const toChannels = reached === '' ? await channelsFor(tx, pageNotice, channels) : [];
    const subscribers = await tx.all(
      `SELECT id, components, quiet_until, confirmed_at, (SELECT COUNT(*) FROM outbox
         WHERE channel = '${SUBSCRIBERS}' AND recipient = subscriber.id AND item IN (${ENDED})) AS told
       FROM subscriber WHERE page = ? AND state = 'active' AND id > ? ORDER BY id LIMIT ${STEP}`,
      [endedBy(pageNotice), page, reached],
    );
    // What lies ahead was stored before the clock was set back.
    const isConfirmed = ({ confirmed_at: at }: Row): boolean =>
      Number(at) <= Number(row['recorded_at']) || Number(at) > now;
    const quietUntil = (at: number): number => (at > now + QUIET_MS ? now : at);
    const toSubscribers = subscribers.filter((one) => isConfirmed(one) && wants(one, pageNotice));
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
          dueAt: toEpochMs(Math.max(now, quietUntil(Number(one['quiet_until'])))),
        })),
      ],
      now,
    );
    const next = [subscribers.length < STEP ? 'queued' : 'new', String(subscribers.at(-1)?.['id'] ?? reached)];
    await tx.run('UPDATE notice SET state = ?, reached = ? WHERE id = ?', [...next, item]);
    return true;
  }, REPEATABLE);
}

/** Whether a notice is of one of the channel's pages, and about one of its components or monitors if it names any. */
function isInScope({ pages, components, monitors }: NoticeChannel, one: PageNotice): boolean {
  const { slug } = one.notice.page;
  if (pages?.includes(slug) === false) return false;
  if (components === undefined && monitors === undefined) return true;
  return (
    one.componentIds.some((id) => components?.includes(`${slug}/${id}`)) ||
    one.monitors.some((id) => monitors?.includes(id))
  );
}

/** Earlier notices of the incident that a notice ends: whoever got one is told of the end, whatever it or its page is by then. */
const ENDED = 'SELECT id FROM notice WHERE document LIKE ?';

/** What their documents contain; empty, as none is, if the notice ends no incident. */
function endedBy({ notice }: PageNotice): string {
  return alertState(notice) === 'over' ? `%"subject":{"id":${JSON.stringify(notice.subject.id)},%` : '';
}

/** Channels with the notice in their scope, or that were told of the incident that it ends. */
async function channelsFor(reader: Reader, one: PageNotice, channels: readonly NoticeChannel[]) {
  const inScope = channels.filter((channel) => isInScope(channel, one));
  if (inScope.length === channels.length) return inScope;
  const sql = `SELECT DISTINCT channel FROM outbox WHERE channel <> '${SUBSCRIBERS}' AND item IN (${ENDED})`;
  const told = await reader.all(sql, [endedBy(one)]);
  return channels.filter((channel) => inScope.includes(channel) || told.some((row) => row['channel'] === channel.id));
}

/** A notice without components of the page is for everybody. */
function wants(subscriber: Row, { componentIds }: PageNotice): boolean {
  if (Number(subscriber['told']) > 0) return true;
  const chosen = JSON.parse(String(subscriber['components'])) as readonly string[];
  return chosen.length === 0 || componentIds.length === 0 || componentIds.some((id) => chosen.includes(id));
}

/** Queues a mail with a link for a subscriber. */
export function queueLink(tx: Writer, recipient: string, kind: 'confirm' | 'known', item: string, now: EpochMs) {
  return enqueue(tx, [{ channel: SUBSCRIBERS, recipient, kind, item, isAlone: true }], now);
}

/** Reads notices by their ids, in their order, without those that were withdrawn. */
export async function readNotices(reader: Reader, ids: readonly string[]): Promise<readonly PageNotice[]> {
  const rows = await readIn(reader, ids, (list) => ({
    sql: `SELECT id, document FROM notice WHERE state <> 'withdrawn' AND id IN (${list})
          AND page NOT IN (SELECT key FROM page WHERE ended_at IS NOT NULL)`,
  }));
  const known = new Map(rows.map((row) => [String(row['id']), toPageNotice(row)]));
  return ids.flatMap((id) => known.get(id) ?? []);
}

/** Parks messages that are too old and deletes settled ones. Returns how many were parked, by channel. */
function tidyOutbox(database: Database, now: EpochMs): Promise<ReadonlyMap<string, number>> {
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

/** Counts messages by channel and state. `lastError`: of messages still waiting; null: none. */
export async function deliveryCounts(reader: Reader) {
  const rows = await reader.all(
    `SELECT channel, state, COUNT(*) AS n, MAX(reason) AS reason FROM outbox WHERE ${OURS}
     GROUP BY channel, state ORDER BY channel`,
  );
  return [...Map.groupBy(rows, (row) => String(row['channel']))].map(([channel, own]) => {
    const count = (state: string): number => Number(own.find((row) => row['state'] === state)?.['n'] ?? 0);
    const error = own.find((row) => row['state'] === 'queued')?.['reason'] ?? null;
    return {
      ...{ channel, queued: count('queued'), sent: count('sent') },
      ...{ rejected: count('rejected'), parked: count('parked') },
      lastError: error === null ? null : String(error),
    };
  });
}

// Sends notices: one lane of the outbox for subscribers, and one for each channel.

/** Mails to subscribers sent at once. */
const MAILS_AT_ONCE = 2;
/** Notices in one mail at most. */
const DIGEST_MAX = 100;
/** After a message to a subscriber, new notices wait this long and are sent as one message. */
const QUIET_MS = 2 * MINUTE_MS;
const RETRY = { firstMs: 15 * SECOND_MS, maxMs: 30 * MINUTE_MS } as const;

export interface NoticeSenderOptions
  extends Pick<SenderOptions, 'database' | 'now' | 'random' | 'onError' | 'claimMs'> {
  /** Sends one message to a subscriber; null: there is no mail server, and mails wait. */
  readonly email: () => ((job: Job) => Promise<Handover>) | null;
  readonly channels: () => readonly NoticeChannel[];
  /** Runs before anything is queued. */
  readonly prepare: () => Promise<void>;
  /** Awaited between two steps of queueing, which take this thread and the database for some milliseconds each. */
  readonly giveWay?: () => Promise<void>;
  readonly onResult: (id: string, result: 'delivered' | 'postponed' | 'rejected' | 'parked', count: number) => void;
  /** Called for a notice that a configured channel will never accept. */
  readonly onRejected?: (facts: Readonly<Record<'channel' | 'notice' | 'reason', string | undefined>>) => void;
  readonly quietMs?: number;
}

export function createNoticeSender(options: NoticeSenderOptions): Sender {
  const { database, now, onResult, onError, quietMs = QUIET_MS } = options;
  let tidiedAt = toEpochMs(0);

  async function prepare(isClosing: () => boolean): Promise<void> {
    const at = now();
    if (at - tidiedAt >= MINUTE_MS) {
      tidiedAt = at;
      for (const [channel, count] of await tidyOutbox(database, at)) {
        onResult(channel, 'parked', count);
        onError(parkedError(channel, count));
      }
    }
    await options.prepare();
    // In steps, so that others can use the database and this thread in between. What is left stays for the next run.
    while (!isClosing() && (await queueSome(database, options.channels(), now()))) await options.giveWay?.();
  }

  function lane(id: string, rest: Pick<Lane, 'atOnce' | 'itemsMax' | 'send' | 'onClaimed'>): Lane {
    return {
      id,
      retry: RETRY,
      parkedAfterMs: PARKED_AFTER_MS,
      onSettled: ({ items }, settlement) => {
        const { outcome } = settlement;
        if (outcome !== 'dropped') onResult(id, outcome === 'released' ? 'postponed' : outcome, 1);
        if (outcome === 'parked') onError(parkedError(id, 1));
        if (outcome === 'rejected' && id !== SUBSCRIBERS)
          options.onRejected?.({ channel: id, notice: items[0], reason: settlement.reason });
      },
      ...rest,
    };
  }

  /** Sends everything that is due for a subscriber as one mail. */
  const subscriberLane = (send: Lane['send']): Lane =>
    lane(SUBSCRIBERS, {
      atOnce: MAILS_AT_ONCE,
      itemsMax: DIGEST_MAX,
      send,
      onClaimed: (tx, jobs) =>
        tx.runMany(
          'UPDATE subscriber SET quiet_until = ? WHERE id = ?',
          jobs.filter(({ kind }) => kind === 'notice').map(({ recipient }) => [now() + quietMs, recipient]),
        ),
    });

  /** Sends each notice as a message of its own. */
  const channelLane = (channel: NoticeChannel): Lane =>
    lane(channel.id, {
      atOnce: 1,
      itemsMax: 1,
      send: async ({ items, recipient }) => {
        const [one] = await readNotices(database, items);
        return one === undefined ? { outcome: 'dropped' } : channel.deliver(noticeIn(one, channel.locale), recipient);
      },
    });

  return createSender({
    ...options,
    prepare,
    lanes: () => {
      const email = options.email();
      return [...(email === null ? [] : [subscriberLane(email)]), ...options.channels().map(channelLane)];
    },
  });
}

function parkedError(channel: string, count: number): Error {
  const messages = count === 1 ? 'One message' : `${count} messages`;
  return new Error(`${messages} via ${channel} could not be delivered for five days and will not be sent.`);
}

// Records the notices of pages, each once, and which of them must not be sent.

/**
 * Records the notices of a page. Several processes can record the same ones. Messages that still wait are sent as the
 * page has them by then, for example after their author corrected them.
 *
 * Not sent: updates that existed when their page or list was first seen (a first pass, a backfill, an import), those
 * older than a day, and those that their author wants silent. If the page no longer has a notice, it is withdrawn, and
 * not sent if still waiting, until the page has it again.
 *
 * @param onCall ids of channels whose alerts are closed once their incident is no longer on the page
 * @returns number of notices to send that are new or changed
 */
export function recordNews(database: Database, news: PageNews, now: EpochMs, onCall: readonly string[] = []) {
  return database.transaction(async (tx) => {
    const { key, gate } = news.page;
    const later = await tx.all('SELECT 1 FROM notice_page WHERE page = ? AND gate > ?', [key, gate]);
    // Of a node that hasn't read the page's current gate.
    if (later.length > 0) return 0;
    const newOrigins = await originsFirstSeen(tx, news.origins, now);
    await rememberComponents(tx, news);
    const [page = ''] = news.origins;
    let count = 0;
    for (const one of news.notices) {
      const isOld = newOrigins.has(page) || (one.origin !== null && newOrigins.has(one.origin));
      const isSilent = isOld || one.isSilent || one.notice.at <= now - NEWS_AGE_MAX_MS;
      const added = await recordNotice(tx, news.page.key, one, now, isSilent ? 'silent' : 'new');
      if (!isSilent) count += added;
    }
    await withdrawOthers(tx, news, now, onCall);
    return count;
  });
}

function recordNotice(tx: Writer, page: string, one: PageNotice, now: EpochMs, state: 'silent' | 'new') {
  return tx.run(
    `INSERT INTO notice (id, page, at, recorded_at, state, reached, document) VALUES (?, ?, ?, ?, ?, '', ?)
     ON CONFLICT (id) DO UPDATE SET document = excluded.document,
         state = CASE notice.state WHEN 'withdrawn' THEN excluded.state ELSE notice.state END
       WHERE notice.state = 'withdrawn' OR notice.state IN ('new', 'queued') AND notice.document <> excluded.document`,
    [one.notice.id, page, one.notice.at, now, state, JSON.stringify(one)],
  );
}

/** Records new origins and returns them. */
async function originsFirstSeen(tx: Writer, origins: readonly string[], now: EpochMs): Promise<ReadonlySet<string>> {
  const known = await readIn(tx, origins, (list) => ({
    sql: `SELECT origin FROM notice_origin WHERE origin IN (${list})`,
  }));
  const newOrigins = new Set(origins).difference(new Set(known.map((row) => String(row['origin']))));
  await tx.runMany(
    'INSERT INTO notice_origin (origin, since_at) VALUES (?, ?)',
    [...newOrigins].map((origin) => [origin, now]),
  );
  return newOrigins;
}

async function rememberComponents(tx: Writer, { page, components }: PageNews): Promise<void> {
  await tx.run(
    `INSERT INTO notice_page (page, gate, components) VALUES (?, ?, ?)
     ON CONFLICT (page) DO UPDATE SET gate = excluded.gate, components = excluded.components
       WHERE notice_page.gate <> excluded.gate OR notice_page.components <> excluded.components`,
    [page.key, page.gate, JSON.stringify(components)],
  );
}

async function withdrawOthers(tx: Writer, news: PageNews, now: EpochMs, onCall: readonly string[]): Promise<void> {
  const current = new Set(news.notices.map(({ notice }) => notice.id));
  // An hour less than a day, because the page was computed a moment ago.
  const sql = `SELECT id FROM notice WHERE page = ? AND at > ? AND state IN ('new', 'queued')`;
  const recent = await tx.all(sql, [news.page.key, now - NEWS_AGE_MAX_MS + 3_600_000]);
  const gone = recent.map((row) => String(row['id'])).filter((one) => !current.has(one));
  // Before anything is deleted: the answer to an attempt may have been lost.
  for (const one of await readNotices(tx, gone))
    if (alertState(one.notice) === 'open' && !news.subjects.includes(one.notice.subject.id))
      await closeAlert(tx, one, news.page.key, now, onCall);
  for (const id of gone) {
    await tx.run(`UPDATE notice SET state = 'withdrawn', reached = '' WHERE id = ?`, [id]);
    await tx.run(`DELETE FROM outbox WHERE item = ? AND state = 'queued' AND claimed_until <= ?`, [id, now]);
  }
}

/** Queues the end of an incident that was deleted for the channels of `onCall` that were told of it. */
async function closeAlert(tx: Writer, one: PageNotice, page: string, now: EpochMs, onCall: readonly string[]) {
  const { notice } = one;
  const row = { recipient: '', kind: 'notice', item: `over/${notice.subject.id}/${now}`, sortAt: now } as const;
  const isTried = `(state <> 'queued' OR reason IS NOT NULL OR claimed_until > ?)`;
  const sent = await tx.all(`SELECT channel FROM outbox WHERE item = ? AND ${isTried}`, [notice.id, now]);
  const rows = onCall.flatMap((id) => (sent.some(({ channel }) => channel === id) ? { ...row, channel: id } : []));
  if (rows.length === 0) return;
  const subject = { ...notice.subject, url: null, status: 'resolved', endsAt: now };
  const over: Notice = { ...notice, id: row.item, event: 'incident_resolved', subject, text: '', at: now };
  await recordNotice(tx, page, { ...one, others: {}, notice: over }, now, 'silent');
  await enqueue(tx, rows, now);
  // If the incident comes back, it opens another alert.
  const values = rows.map(({ channel }) => [channel, notice.id]);
  await tx.runMany(`DELETE FROM outbox WHERE channel = ? AND item = ? AND state = 'sent'`, values);
}

/** The components for the page's subscription form; null until it was published with its current gate. */
export async function readFormComponents(reader: Reader, { key, gate }: PageIdentity) {
  const [row] = await reader.all('SELECT components FROM notice_page WHERE page = ? AND gate = ?', [key, gate]);
  return row === undefined ? null : (JSON.parse(String(row['components'])) as PageNews['components']);
}

/** Reads a notice from its row. */
function toPageNotice(row: Row): PageNotice {
  return JSON.parse(String(row['document'])) as PageNotice;
}
