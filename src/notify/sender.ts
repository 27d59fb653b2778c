/** Sends what is owed, beside publishing and one mechanism for mail and channels: claimed, handed over, settled. */

import pLimit from 'p-limit';
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import type { Database } from '../store/database.ts';
import type { Delivery } from './channels/channel.ts';
import {
  claimDue,
  EMAIL,
  forgetOld,
  type Job,
  PARKED_AFTER_MS,
  parkOld,
  queueSome,
  type SettledJob,
  type Settlement,
  settle,
} from './outbox.ts';
import type { NoticeChannel } from './recipients.ts';

/** Longer than one round of messages takes, so that two processes do not send the same. */
const CLAIM_MS = 2 * MINUTE_MS;
/** Recipients of one round. */
const ROUND = 32;
/** Mails under way at once. Each of them may be sent twice when the process ends at this moment. */
const EMAILS_AT_ONCE = 2;
/** After a message to a subscriber, what is new waits so long and goes as one. */
const QUIET_MS = 2 * MINUTE_MS;
const RETRY_MS = 15 * SECOND_MS;
const RETRY_MAX_MS = 30 * MINUTE_MS;
/** A channel that cannot be reached at all is left alone for a moment, and nothing is counted against its messages. */
const PAUSE_MS = 5 * SECOND_MS;
const PAUSE_MAX_MS = MINUTE_MS;
/** Longer than a notice is told, so that one never comes twice. */
const KEPT_MS = 7 * DAY_MS;

/** How a message went. `unreachable`: whoever should take it cannot be reached, whatever the message. */
export type Handover =
  | Delivery
  | { readonly outcome: 'dropped' }
  | { readonly outcome: 'unreachable'; readonly reason: string };

export type NoticeResult = 'delivered' | 'postponed' | 'rejected' | 'parked';

export interface SenderOptions {
  readonly database: Database;
  readonly now: () => EpochMs;
  /** Hands one message to a subscriber; null: there is no mail server, and mails wait. */
  readonly email: () => ((job: Job) => Promise<Handover>) | null;
  readonly channels: () => readonly NoticeChannel[];
  /** Hands the one notice of a job to a channel. */
  readonly handOver: (job: Job, channel: NoticeChannel) => Promise<Handover>;
  /** Work of every round before anything is sent. */
  readonly prepare: (now: EpochMs) => Promise<void>;
  readonly onResult: (channel: string, result: NoticeResult, count: number) => void;
  readonly onError: (error: unknown) => void;
  readonly quietMs?: number;
  readonly claimMs?: number;
}

export interface Sender {
  /** Sends what is due. Resolves when nothing is left that can be sent now; a call meanwhile joins. */
  readonly run: () => Promise<void>;
  /** Begins a run in a moment, without waiting for it. */
  readonly wake: () => void;
  /** Waits for messages under way; what is owed stays in the store. */
  readonly close: () => Promise<void>;
}

interface Pause {
  readonly until: EpochMs;
  readonly failures: number;
}

export function createSender(options: SenderOptions): Sender {
  const { database, now } = options;
  const inTurn = pLimit(1);
  const settler = createSettler(database);
  const pauses = new Map<string, Pause>();
  let lastTended = toEpochMs(0);
  let isClosing = false;

  async function run(): Promise<void> {
    await tend();
    await options.prepare(now());
    while (!isClosing && (await queueSome(database, { channels: options.channels(), now: now() }))) {
      // One step after the other, with room for others between them.
    }
    const email = options.email();
    await Promise.all([
      ...(email === null ? [] : [drain(EMAIL, EMAILS_AT_ONCE, email)]),
      ...options.channels().map((channel) => drain(channel.id, 1, (job) => options.handOver(job, channel))),
    ]);
  }

  async function tend(): Promise<void> {
    const at = now();
    if (at - lastTended < MINUTE_MS) return;
    lastTended = at;
    const parked = await database.transaction(async (tx) => {
      await forgetOld(tx, toEpochMs(at - KEPT_MS));
      return parkOld(tx, at);
    });
    for (const [channel, count] of parked) sayParked(channel, count);
  }

  function sayParked(channel: string, count: number): void {
    options.onResult(channel, 'parked', count);
    const messages = count === 1 ? 'One message' : `${count} messages`;
    options.onError(new Error(`${messages} via ${channel} could not be delivered for five days and will not be sent.`));
  }

  async function drain(channel: string, atOnce: number, send: (job: Job) => Promise<Handover>): Promise<void> {
    const limit = pLimit(atOnce);
    while (!isClosing) {
      const at = now();
      if ((pauses.get(channel)?.until ?? 0) > at) return;
      const jobs = await claimDue(database, {
        channel,
        now: at,
        until: toEpochMs(at + (options.claimMs ?? CLAIM_MS)),
        quietUntil: toEpochMs(at + (options.quietMs ?? QUIET_MS)),
        limit: ROUND,
      });
      if (jobs.length === 0) return;
      await limit.map(jobs, (job) => sendOne(job, send));
    }
  }

  async function sendOne(job: Job, send: (job: Job) => Promise<Handover>): Promise<void> {
    const { channel } = job;
    if (isClosing || (pauses.get(channel)?.until ?? 0) > now())
      return settler({ job, settlement: { result: 'released', reason: 'not tried yet' } });
    const handover = await send(job).catch(
      (error: unknown): Handover => ({ outcome: 'postponed', reason: String(error), afterMs: null }),
    );
    if (handover.outcome === 'unreachable') return pause(job, handover.reason);
    pauses.delete(channel);
    const settlement = settlementOf(job, handover);
    await settler({ job, settlement });
    if (settlement.result === 'parked') sayParked(channel, 1);
    else if (settlement.result !== 'dropped') options.onResult(channel, settlement.result, 1);
  }

  async function pause(job: Job, reason: string): Promise<void> {
    const { channel } = job;
    const before = pauses.get(channel);
    // Messages that were under way together failed for one reason.
    if (before === undefined || before.until <= now()) {
      const failures = (before?.failures ?? 0) + 1;
      const waitMs = Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MAX_MS);
      pauses.set(channel, { until: toEpochMs(now() + waitMs), failures });
      options.onError(
        new Error(`Can’t deliver messages via ${channel}: ${reason}. They are queued and will be retried.`),
      );
    }
    options.onResult(channel, 'postponed', 1);
    await settler({ job, settlement: { result: 'released', reason } });
  }

  function settlementOf(
    job: Job,
    handover: Exclude<Handover, { outcome: 'unreachable' }>,
  ): Exclude<Settlement, { result: 'released' }> {
    if (handover.outcome === 'delivered' || handover.outcome === 'dropped') return { result: handover.outcome };
    const { reason } = handover;
    if (handover.outcome === 'rejected') return { result: 'rejected', reason };
    const at = now();
    if (at - job.createdAt >= PARKED_AFTER_MS) return { result: 'parked', reason };
    const waitMs = handover.afterMs ?? Math.min(RETRY_MS * 2 ** job.attempts, RETRY_MAX_MS);
    return { result: 'postponed', reason, dueAt: toEpochMs(at + waitMs) };
  }

  let soon: NodeJS.Timeout | null = null;
  const begin = (): void => {
    soon = null;
    if (isClosing || inTurn.pendingCount > 0) return;
    inTurn(run).catch(options.onError);
  };
  return {
    run: () => inTurn(run),
    wake: () => {
      soon ??= setTimeout(begin, 20).unref();
    },
    close: async () => {
      isClosing = true;
      if (soon !== null) clearTimeout(soon);
      await inTurn(() => undefined);
    },
  };
}

/** The sooner it is written down, the less is sent twice when the process ends; after a power cut more is. */
const QUICKLY = { isDurable: false } as const;

/** Writes down how attempts ended: those that end while one transaction is under way share the next. */
function createSettler(database: Database): (settled: SettledJob) => Promise<void> {
  let waiting: SettledJob[] = [];
  let next: Promise<void> | null = null;
  return (settled) => {
    waiting.push(settled);
    next ??= database
      .transaction(async (tx) => {
        const mine = waiting;
        waiting = [];
        next = null;
        await settle(tx, mine);
      }, QUICKLY)
      .catch((error: unknown) => {
        // It may not have begun; what was to be written is sent again once the claims end.
        waiting = [];
        next = null;
        throw error;
      });
    return next;
  };
}
