/** Queues the events of resolved incidents and sends them in batches; each event counts once at the receiver. */

import { z } from 'zod';
import { isStatusError, messageOf } from '../errors.ts';
import type { Incident } from '../model/observation.ts';
import { DAY_MS, type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import { createSender, type Handover, type Job, type Lane } from '../outbox/outbox.ts';
import { shorten } from '../shorten.ts';
import { type Database, type Reader, readIn } from '../store/database.ts';
import {
  beginExport,
  channelName,
  exportedSince,
  lastExportError,
  makeTimeEvents,
  queueEvents,
  type TimeEvent,
} from './event-queue.ts';
import type { PayrollOptions } from './options.ts';

export interface DeliveryDeps {
  readonly database: Database;
  readonly incidents: (from: EpochMs) => Promise<readonly Incident[]>;
  /** One POST, whose body is read as text also with the statuses of `accepts`; throws a StatusError. */
  readonly post: (request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly accepts: readonly number[];
  }) => Promise<{ readonly status: number; readonly text: string }>;
  readonly now: () => EpochMs;
  readonly random: () => number;
}

/** What one run of an export did, in events. `error`: why the last batch was not taken; null: nothing failed. */
export type DeliveryReport = Awaited<ReturnType<typeof deliver>>;

/** Body of a 202. */
const AcceptedSchema = z.object({
  rejected: z.int().min(0).catch(0),
  errors: z
    .array(
      z.object({
        index: z.int().min(0),
        external_event_id: z.string().optional().catch(undefined),
        reason: z.string().catch('no reason given'),
      }),
    )
    .nullish()
    .transform((errors) => errors ?? []),
});

/** The receiver understood the request and says that its structure is wrong: the same again gives the same answer. */
const FINAL_STATUSES: readonly number[] = [400, 413, 415, 422];
const RETRY = { firstMs: 30 * SECOND_MS, maxMs: HOUR_MS } as const;
const EXCERPT_MAX = 300;

/** Events that resolved incidents would give, whether they are queued or not. Changes nothing. */
async function resolvedEvents(options: PayrollOptions, incidentsFrom: DeliveryDeps['incidents'], since: EpochMs) {
  // An incident reported late still counts when it ended after the export was set up.
  const incidents = await incidentsFrom(toEpochMs(since - DAY_MS));
  return incidents
    .filter((incident) => incident.endedAt !== null && incident.endedAt > since)
    .flatMap((incident) => makeTimeEvents(incident, options));
}

/** What `deliver` would queue now. Changes nothing. */
export async function newEvents(
  options: PayrollOptions,
  { database, incidents, now }: Pick<DeliveryDeps, 'incidents' | 'now'> & { readonly database: Reader },
): Promise<readonly TimeEvent[]> {
  const events = await resolvedEvents(options, incidents, (await exportedSince(database, options.id)) ?? now());
  const known = await database.all('SELECT id FROM export_event WHERE export = ?', [options.id]);
  const ids = new Set(known.map((row) => String(row['id'])));
  return events.filter((event) => !ids.has(event.external_event_id));
}

/** Queues what is new and sends what is due. Never throws because of the receiver: the report says what went wrong. */
export async function deliver(options: PayrollOptions, deps: DeliveryDeps) {
  const { database, now, random } = deps;
  const { id: exportId } = options;
  const since = await beginExport(database, exportId, now());
  const events = await resolvedEvents(options, deps.incidents, since);
  const counts = { queued: await queueEvents(database, exportId, events, now()), sent: 0, rejected: 0, parked: 0 };
  let error: string | null = null;
  const lane: Lane = {
    id: channelName(exportId),
    atOnce: 1,
    itemsMax: options.batchSize,
    retry: RETRY,
    parkedAfterMs: null,
    send: (job) => sendBatch(options, job, deps),
    onSettled: ({ items }, settlement) => {
      if (settlement.outcome === 'delivered') {
        const refused = settlement.refused?.size ?? 0;
        counts.sent += items.length - refused;
        counts.rejected += refused;
      } else if (settlement.outcome === 'parked') {
        counts.parked += items.length;
        error = settlement.reason;
      }
    },
  };
  await createSender({ database, now, random, lanes: () => [lane], onError: rethrow }).run();
  return { exportId, ...counts, error: error ?? (await lastExportError(database, exportId)) };
}

function rethrow(error: unknown): never {
  throw error;
}

/** Sends one batch. The same batch under the same key goes out again: whether it arrived or not, it counts once. */
async function sendBatch(options: PayrollOptions, job: Job, deps: DeliveryDeps): Promise<Handover> {
  const rows = await readIn(deps.database, job.items, (list) => ({
    sql: `SELECT id, document FROM export_event WHERE export = ? AND id IN (${list})`,
    before: [options.id],
  }));
  const documents = new Map(rows.map((row) => [String(row['id']), JSON.parse(String(row['document'])) as unknown]));
  try {
    const { status, text } = await deps.post({
      url: `${options.tenantBaseUrl.replace(/\/+$/, '')}/api/v1/payroll/time-events`,
      headers: { ...options.headers, accept: 'application/json', 'idempotency-key': job.batch },
      body: {
        ...(options.payrollRunId === undefined ? {} : { payroll_run_id: options.payrollRunId }),
        events: job.items.map((item) => documents.get(item)),
      },
      accepts: FINAL_STATUSES,
    });
    if (FINAL_STATUSES.includes(status)) return { outcome: 'parked', reason: refusal(options, status, text) };
    const accepted = AcceptedSchema.safeParse(parseOrNull(text));
    if (status === 202 && accepted.success) return judge(options.id, job, accepted.data);
    const reason = `${options.id}: unexpected response with status ${status}. Check tenantBaseUrl. The events stay queued.`;
    return { outcome: 'postponed', reason, afterMs: null };
  } catch (error) {
    const retryAt = isStatusError(error) ? error.retryAt : null;
    return { outcome: 'postponed', reason: messageOf(error), afterMs: retryAt === null ? null : retryAt - deps.now() };
  }
}

/** Tells from the body of a 202 which events were rejected. */
function judge(exportId: string, { items }: Job, { rejected, errors }: z.output<typeof AcceptedSchema>): Handover {
  const refused = new Map<string, string>();
  for (const { index, external_event_id: id, reason } of errors) {
    const item = id !== undefined && items.includes(id) ? id : items[index];
    if (item !== undefined) refused.set(item, excerpt(reason));
  }
  if (rejected <= refused.size) return { outcome: 'delivered', refused };
  const all = new Map(items.map((item) => [item, refused.get(item) ?? 'no reason given']));
  if (rejected >= items.length) return { outcome: 'delivered', refused: all };
  const reason = `${exportId}: the receiver rejected ${rejected} of ${items.length} events and named ${refused.size} of them. Check there which events it has, then run "pharos exports --retry --send".`;
  return { outcome: 'parked', reason };
}

function refusal({ id, headers }: PayrollOptions, status: number, text: string): string {
  // Error pages like to repeat what they were sent.
  const secrets = Object.values(headers).flatMap((value) => [value, value.slice(value.lastIndexOf(' ') + 1)]);
  const masked = secrets.reduce(
    (masking, secret) => (secret === '' ? masking : masking.replaceAll(secret, '***')),
    text,
  );
  const words = excerpt(masked);
  return `${id}: the receiver rejected the batch with status ${status}${words === '' ? '' : `: ${words}`}`;
}

/** A receiver's words on one line, without control characters. */
function excerpt(text: string): string {
  const line = text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ');
  return shorten(line.trim(), EXCERPT_MAX);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
