/** Queues the events of resolved incidents and delivers them in batches, each taken once. */

import { z } from 'zod';
import { isStatusError, messageOf, StatusError } from '../errors.ts';
import type { Incident } from '../model/observation.ts';
import { DAY_MS, type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import type { Outbox, OutboxBatch } from '../store/outbox.ts';
import type { PayrollOptions } from './options.ts';
import { type TimeEvent, timeEventsOf } from './time-events.ts';

/** One POST: the address, headers and JSON body; resolves with status and parsed body, throws a StatusError. */
type Post = (request: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}) => Promise<{ readonly status: number; readonly payload: unknown }>;

export interface DeliveryDeps {
  readonly outbox: Outbox;
  readonly incidents: (from: EpochMs) => Promise<readonly Incident[]>;
  readonly post: Post;
  readonly now: () => EpochMs;
}

export interface DeliveryReport {
  readonly exportId: string;
  readonly queued: number;
  readonly sent: number;
  readonly rejected: number;
  /** Events of a batch that can never be taken as it is. */
  readonly parked: number;
  /** Why the last batch was not taken; null: nothing failed. */
  readonly error: string | null;
}

/** Body of a 202. Counts are not trusted to be there; rejections are what counts. */
const AcceptedSchema = z.object({
  errors: z
    .array(z.object({ index: z.int().min(0), reason: z.string().max(2_000).catch('no reason given') }))
    .nullish()
    .transform((errors) => errors ?? []),
});

/** The receiver understood the request and says that its structure is wrong: the same again gives the same answer. */
const FINAL_STATUSES: ReadonlySet<unknown> = new Set([400, 413, 415, 422]);
const BACKOFF_FIRST_MS = 30 * SECOND_MS;
const BACKOFF_MAX_MS = HOUR_MS;
/** Batches in one go; the rest waits for the next. */
const BATCHES_MAX = 50;

/** Events that resolved incidents would give and that are not queued yet; changes nothing but the export's first day. */
export async function pendingEvents(options: PayrollOptions, deps: DeliveryDeps): Promise<readonly TimeEvent[]> {
  const since = await deps.outbox.since(options.id, deps.now());
  // An incident reported late still counts when it ended after the export was set up.
  const incidents = await deps.incidents(toEpochMs(since - DAY_MS));
  return incidents
    .filter((incident) => incident.endedAt !== null && incident.endedAt > since)
    .flatMap((incident) => timeEventsOf(incident, options));
}

/** Queues what is new and sends what is due. Never throws for the receiver's sake: the report says what went wrong. */
export async function deliver(options: PayrollOptions, deps: DeliveryDeps): Promise<DeliveryReport> {
  const events = await pendingEvents(options, deps);
  const queued = await deps.outbox.enqueue(
    options.id,
    events.map((event) => ({
      id: event.external_event_id,
      incident: event.payload['incident'] ?? '',
      document: JSON.stringify(event),
    })),
    deps.now(),
  );
  let sent = 0;
  let rejected = 0;
  for (let count = 0; count < BATCHES_MAX; count += 1) {
    const batch = await deps.outbox.nextBatch(options.id, options.batchSize, deps.now());
    if (batch === null) break;
    const result = await sendBatch(options, batch, deps);
    if (result.error !== null)
      return { exportId: options.id, queued, sent, rejected, parked: result.parked, error: result.error };
    sent += batch.events.length - result.rejected;
    rejected += result.rejected;
  }
  return { exportId: options.id, queued, sent, rejected, parked: 0, error: await deps.outbox.lastError(options.id) };
}

async function sendBatch(
  options: PayrollOptions,
  batch: OutboxBatch,
  deps: DeliveryDeps,
): Promise<{ rejected: number; parked: number; error: string | null }> {
  try {
    const { payload, status } = await deps.post({
      url: `${options.tenantBaseUrl.replace(/\/+$/, '')}/api/v1/payroll/time-events`,
      headers: { ...options.headers, accept: 'application/json', 'idempotency-key': batch.key },
      body: {
        ...(options.payrollRunId === undefined ? {} : { payroll_run_id: options.payrollRunId }),
        events: batch.events.map((event) => JSON.parse(event.document) as unknown),
      },
    });
    const accepted = AcceptedSchema.safeParse(payload);
    if (status !== 202 || !accepted.success) {
      throw new StatusError({
        code: 'UPSTREAM_SHAPE',
        message: `${options.id}: unexpected response with status ${status}. Check tenantBaseUrl. The events stay queued.`,
      });
    }
    const rejections = accepted.data.errors.filter((error) => error.index < batch.events.length);
    await deps.outbox.settle(batch.key, rejections, deps.now());
    return { rejected: new Set(rejections.map((rejection) => rejection.index)).size, parked: 0, error: null };
  } catch (error) {
    if (isStatusError(error) && FINAL_STATUSES.has(error.context['status'])) {
      await deps.outbox.park(batch.key, messageOf(error), deps.now());
      return { rejected: 0, parked: batch.events.length, error: messageOf(error) };
    }
    // The same batch under the same key goes out again: whether it arrived or not, it counts once.
    await deps.outbox.postpone(
      batch.key,
      messageOf(error),
      toEpochMs(deps.now() + waitMs(error, batch.attempts, deps.now())),
    );
    return { rejected: 0, parked: 0, error: messageOf(error) };
  }
}

function waitMs(error: unknown, attempts: number, now: EpochMs): number {
  const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(attempts, 20));
  return isStatusError(error) && error.retryAt !== null ? Math.max(backoff, error.retryAt - now) : backoff;
}
