/** Sends the messages of the outbox: claims them, delivers them and records the results. */

import pLimit, { type LimitFunction } from 'p-limit';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import type { Database } from '../store/database.ts';
import { claimDue, type Handover, type Job, type Lane, type Settlement, settle } from './outbox.ts';

/** Longer than one round of messages takes, so that two processes don’t send the same message. */
const CLAIM_MS = 2 * MINUTE_MS;
/** A channel that can't be reached is paused for a moment. That isn't counted as an attempt for its messages. */
const PAUSE_MS = 5 * SECOND_MS;
const PAUSE_MAX_MS = 15 * SECOND_MS;
/** Minimum time between attempts, whatever the receiver says. */
const WAIT_MIN_MS = SECOND_MS;
/** Retries wait up to a quarter longer, so that what failed together doesn't come back together. */
const JITTER = 0.25;
/** Several calls of `wake` begin one run. */
const WAKE_MS = 20;

export interface SenderOptions {
  readonly database: Database;
  readonly now: () => EpochMs;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly lanes: () => readonly Lane[];
  /** Runs before each round. What takes long ends as soon as the sender is closing. */
  readonly prepare?: (isClosing: () => boolean) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** How long others leave a claimed message alone. */
  readonly claimMs?: number;
}

export type Sender = ReturnType<typeof createSender>;

export function createSender(options: SenderOptions) {
  const { database, now } = options;
  const record = createRecorder(database, now);
  const pauses = createPauses(options);
  const preparing = pLimit(1);
  const turns = new Map<string, LimitFunction>();
  let isClosing = false;
  let timer: NodeJS.Timeout | null = null;

  async function drain(lane: Lane): Promise<void> {
    const limit = pLimit(lane.atOnce);
    while (!isClosing && !pauses.has(lane.id)) {
      const at = now();
      const jobs = await claimDue(database, lane, at, toEpochMs(at + (options.claimMs ?? CLAIM_MS)));
      if (jobs.length === 0) return;
      await limit.map(jobs, (job) => sendOne(lane, job));
    }
  }

  async function sendOne(lane: Lane, job: Job): Promise<void> {
    if (isClosing || pauses.has(lane.id)) return record([job, { outcome: 'released', reason: 'not tried yet' }]);
    const handover = await lane
      .send(job)
      .catch((error: unknown): Handover => ({ outcome: 'postponed', reason: String(error), afterMs: null }));
    if (handover.outcome === 'unreachable') pauses.begin(lane.id, handover.reason);
    else pauses.end(lane.id);
    const settlement = settlementFor(lane, job, handover, options);
    await record([job, settlement]);
    lane.onSettled?.(job, settlement);
  }

  async function run(isJoining: boolean): Promise<void> {
    if (isClosing || (!isJoining && preparing.pendingCount > 0)) return;
    await preparing(async () => {
      if (!isClosing) await options.prepare?.(() => isClosing);
    });
    await Promise.all(
      options.lanes().map((lane) => {
        const turn = turns.getOrInsertComputed(lane.id, () => pLimit(1));
        return !isJoining && turn.pendingCount > 0 ? undefined : turn(() => drain(lane));
      }),
    );
  }

  return {
    /** Sends what is due. Resolves when nothing is left that can be sent now. */
    run: () => run(true),
    /** Begins a run after `delayMs`, or a moment, without waiting for it. */
    wake: (delayMs = WAKE_MS): void => {
      timer ??= setTimeout(() => {
        timer = null;
        run(false).catch(options.onError);
      }, delayMs).unref();
    },
    /** Waits for messages being sent; the others stay in the outbox. */
    close: async () => {
      isClosing = true;
      if (timer !== null) clearTimeout(timer);
      await Promise.all([preparing, ...turns.values()].map((turn) => turn(() => undefined)));
    },
  };
}

/** How an attempt changes a message in the outbox. */
function settlementFor(
  { retry, parkedAfterMs }: Lane,
  job: Job,
  handover: Handover,
  { now, random }: SenderOptions,
): Settlement {
  if (handover.outcome === 'unreachable') return { outcome: 'released', reason: handover.reason };
  if (handover.outcome !== 'postponed') return handover;
  const { reason, afterMs } = handover;
  const at = now();
  if (parkedAfterMs !== null && at - job.createdAt >= parkedAfterMs) return { outcome: 'parked', reason };
  const waitMs = afterMs ?? Math.min(retry.firstMs * 2 ** job.attempts, retry.maxMs);
  const jitterMs = waitMs * JITTER * random();
  return { outcome: 'postponed', reason, dueAt: toEpochMs(at + Math.max(WAIT_MIN_MS, Math.round(waitMs + jitterMs))) };
}

/** Remembers which channels can't be reached, and says so when that begins or its reason changes. */
function createPauses({ now, onError }: SenderOptions) {
  const pauses = new Map<string, { readonly until: number; readonly failures: number; readonly reason: string }>();
  return {
    has: (id: string): boolean => (pauses.get(id)?.until ?? 0) > now(),
    begin: (id: string, reason: string): void => {
      const before = pauses.get(id);
      // Messages that were sent together failed for one reason.
      if (before !== undefined && before.until > now()) return;
      const failures = (before?.failures ?? 0) + 1;
      const until = now() + Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MAX_MS);
      pauses.set(id, { until, failures, reason });
      if (before?.reason !== reason)
        onError(new Error(`Can’t deliver messages via ${id}: ${reason}. They are queued and will be retried.`));
    },
    end: (id: string): void => void pauses.delete(id),
  };
}

/** The sooner it is recorded, the less is sent twice if the process dies; after a power cut more is. */
const QUICKLY = { isDurable: false } as const;

/** Records how attempts ended: those that end during one transaction share the next one. */
function createRecorder(database: Database, now: () => EpochMs) {
  let waiting: (readonly [Job, Settlement])[] = [];
  let next: Promise<void> | null = null;
  return (settled: (typeof waiting)[number]): Promise<void> => {
    waiting.push(settled);
    next ??= database
      .transaction(async (tx) => {
        const mine = waiting;
        waiting = [];
        next = null;
        await settle(tx, mine, now());
      }, QUICKLY)
      .catch((error: unknown) => {
        // It may not have begun; what was to be recorded is sent again once the claims end.
        waiting = [];
        next = null;
        throw error;
      });
    return next;
  };
}
