/** Sends notices: one lane of the outbox for subscribers, and one for each channel. */

import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import type { Handover, Job, Settlement } from '../outbox/outbox.ts';
import { createSender, type Lane, type Sender } from '../outbox/sender.ts';
import type { Database } from '../store/database.ts';
import { noticeIn } from './news.ts';
import type { NoticeChannel } from './queue.ts';
import { PARKED_AFTER_MS, queueSome, readNotices, SUBSCRIBERS, tidyOutbox } from './queue.ts';

/** Mails to subscribers sent at once. */
const MAILS_AT_ONCE = 2;
/** Notices in one mail at most. */
const DIGEST_MAX = 100;
/** After a message to a subscriber, what is new waits so long and goes as one. */
const QUIET_MS = 2 * MINUTE_MS;
const RETRY = { firstMs: 15 * SECOND_MS, maxMs: 30 * MINUTE_MS } as const;

const RESULTS = {
  delivered: 'delivered',
  rejected: 'rejected',
  parked: 'parked',
  postponed: 'postponed',
  released: 'postponed',
  dropped: null,
} as const satisfies Record<Settlement['outcome'], string | null>;

export interface NoticeSenderOptions {
  readonly database: Database;
  readonly now: () => EpochMs;
  readonly random: () => number;
  /** Sends one message to a subscriber; null: there is no mail server, and mails wait. */
  readonly email: () => ((job: Job) => Promise<Handover>) | null;
  readonly channels: () => readonly NoticeChannel[];
  /** Work of every run before anything is queued. */
  readonly prepare: () => Promise<void>;
  readonly onResult: (
    channel: string,
    result: 'delivered' | 'postponed' | 'rejected' | 'parked',
    count: number,
  ) => void;
  readonly onError: (error: unknown) => void;
  readonly quietMs?: number;
  readonly claimMs?: number;
}

export function createNoticeSender(options: NoticeSenderOptions): Sender {
  const { database, now, onResult, onError, quietMs = QUIET_MS } = options;
  let tidiedAt = toEpochMs(0);

  async function prepare(): Promise<void> {
    const at = now();
    if (at - tidiedAt >= MINUTE_MS) {
      tidiedAt = at;
      for (const [channel, count] of await tidyOutbox(database, at)) {
        onResult(channel, 'parked', count);
        onError(parkedError(channel, count));
      }
    }
    await options.prepare();
    // One step after the other, so that others get at the database between them.
    while (await queueSome(database, { channels: options.channels(), now: now() }));
  }

  function lane(id: string, rest: Pick<Lane, 'atOnce' | 'itemsMax' | 'send' | 'onClaimed'>): Lane {
    return {
      id,
      retry: RETRY,
      parkedAfterMs: PARKED_AFTER_MS,
      onSettled: (_job, { outcome }) => {
        const result = RESULTS[outcome];
        if (result !== null) onResult(id, result, 1);
        if (result === 'parked') onError(parkedError(id, 1));
      },
      ...rest,
    };
  }

  /** What is due for a subscriber goes as one mail. */
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

  /** Each notice goes as a message of its own. */
  const channelLane = (channel: NoticeChannel): Lane =>
    lane(channel.id, {
      atOnce: 1,
      itemsMax: 1,
      send: async ({ items, recipient }) => {
        const [told] = await readNotices(database, items);
        return told === undefined ? { outcome: 'dropped' } : channel.deliver(noticeIn(told, channel.locale), recipient);
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
