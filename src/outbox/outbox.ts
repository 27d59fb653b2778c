/**
 * Messages to others: one row for each item and recipient. A process claims rows for a while before it sends them, so several
 * processes can send at once, and another one sends what a process had claimed when it died. Delivery is at least once.
 */

import { createHash } from 'node:crypto';
import pLimit, { type LimitFunction } from 'p-limit';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import { type Database, type Row, readIn, type Writer } from '../store/database.ts';

type JobKind = 'notice' | 'confirm' | 'known' | 'sign-in' | 'event';

/** One message to one recipient. */
export type Job = ReturnType<typeof toJob>;

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
/** Longest time between attempts, whatever the receiver says. */
const WAIT_MAX_MS = HOUR_MS;
/** Retries wait up to a quarter longer, so that what failed together doesn't come back together. */
const JITTER = 0.25;

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
      // What is due later than any wait, or claimed for longer than anyone claims, was stored before the clock was set back.
      const claims = [now, now + 2 * CLAIM_MS];
      await tx.run(`UPDATE outbox SET due_at = ? WHERE channel = ? AND state = 'queued' AND due_at > ?`, [
        ...[now, channel, now + WAIT_MAX_MS * (1 + JITTER)],
      ]);
      const recipients = await tx.all(
        `SELECT DISTINCT recipient FROM (
         SELECT recipient FROM outbox AS one
         WHERE channel = ? AND state = 'queued' AND due_at <= ? AND (claimed_until <= ? OR claimed_until > ?) AND NOT EXISTS (
           SELECT 1 FROM outbox AS other
           WHERE other.channel = one.channel AND other.recipient = one.recipient AND other.state = 'queued'
             AND ((other.claimed_until > ? AND other.claimed_until <= ?) OR (other.batch IS NOT NULL AND other.due_at > ?)))
         ORDER BY due_at LIMIT ?) AS due`,
        [channel, now, ...claims, ...claims, now, ROUND],
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
function toJob(rows: readonly Row[], itemsMax: number) {
  const batch = rows.find((row) => row['batch'] !== null)?.['batch'];
  const mine = batch === undefined ? rows.slice(0, itemsMax) : rows.filter((row) => row['batch'] === batch);
  const [first] = mine;
  if (first === undefined) throw new TypeError('a job without rows');
  const items = mine.map((row) => String(row['item']));
  return {
    channel: String(first['channel']),
    /** Empty: the channel itself. */
    recipient: String(first['recipient']),
    kind: String(first['kind']) as JobKind,
    /** Id of the message, the same for every attempt. */
    batch: batch === undefined ? batchId(items) : String(batch),
    /** In order. */
    items: items as readonly string[],
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
type Settlement =
  | Extract<Handover, { outcome: 'delivered' | 'dropped' | 'rejected' | 'parked' }>
  | { readonly outcome: 'postponed'; readonly reason: string; readonly dueAt: EpochMs }
  /** Returns the claim. */
  | { readonly outcome: 'released'; readonly reason: string };

const ENDED_STATES = { delivered: 'sent', rejected: 'rejected', parked: 'parked' } as const;
const OWN_ROW = `channel = ? AND recipient = ? AND item = ? AND state = 'queued'`;

/** Records how attempts ended. Messages behind a postponed one wait with it. */
async function settle(tx: Writer, settled: readonly (readonly [Job, Settlement])[], now: EpochMs): Promise<void> {
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

// Sends the messages of the outbox: claims them, delivers them and records the results.

/** Longer than one round of messages takes, so that two processes don’t send the same message. */
const CLAIM_MS = 2 * MINUTE_MS;
/** A channel that can't be reached is paused for a moment. That isn't counted as an attempt for its messages. */
const PAUSE_MS = 5 * SECOND_MS;
const PAUSE_MAX_MS = 15 * SECOND_MS;
/** Minimum time between attempts, whatever the receiver says. */
const WAIT_MIN_MS = SECOND_MS;
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
  const waitMs = Math.min(afterMs ?? Math.min(retry.firstMs * 2 ** job.attempts, retry.maxMs), WAIT_MAX_MS);
  const jitterMs = waitMs * JITTER * random();
  return { outcome: 'postponed', reason, dueAt: toEpochMs(at + Math.max(WAIT_MIN_MS, Math.round(waitMs + jitterMs))) };
}

/** Remembers which channels can't be reached, and says so when that begins or its reason changes. */
function createPauses({ now, onError }: SenderOptions) {
  const pauses = new Map<string, { readonly until: number; readonly failures: number; readonly reason: string }>();
  const isOn = (until: number): boolean => until > now() && until <= now() + PAUSE_MAX_MS;
  return {
    has: (id: string): boolean => isOn(pauses.get(id)?.until ?? 0),
    begin: (id: string, reason: string): void => {
      const before = pauses.get(id);
      // Messages that were sent together failed for one reason.
      if (before !== undefined && isOn(before.until)) return;
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
