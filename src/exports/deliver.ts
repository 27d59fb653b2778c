/** Queues the events of resolved incidents and sends them in batches; each event counts once at the receiver. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isStatusError, messageOf } from '../errors.ts';
import type { Incident } from '../model/observation.ts';
import { DAY_MS, type EpochMs, HOUR_MS, type Interval, MINUTE_MS, SECOND_MS, toEpochMs, toIso } from '../model/time.ts';
import { createSender, enqueue, type Handover, type Job, type Lane, type NewRow } from '../outbox/outbox.ts';
import { shorten } from '../shorten.ts';
import { type Database, type Reader, readIn } from '../store/database.ts';
import type { PayrollOptions, Rota } from './options.ts';

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
  const onError = (error: unknown): never => {
    throw error;
  };
  await createSender({ database, now, random, lanes: () => [lane], onError }).run();
  return { exportId, ...counts, error: error ?? (await lastExportError(database, exportId)) };
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

// Events of exports in the outbox: each enters it once, and stays there, so that nothing is sent twice.

export const EVENT_STATES = ['queued', 'sent', 'rejected', 'parked'] as const;
type EventState = (typeof EVENT_STATES)[number];

/** The channel of an export in the outbox. */
function channelName(exportId: string): string {
  return `export:${exportId}`;
}

/** Since when incidents count; null: the export has never run. */
async function exportedSince(reader: Reader, exportId: string): Promise<EpochMs | null> {
  const [row] = await reader.all('SELECT since_at FROM export WHERE id = ?', [exportId]);
  return row === undefined ? null : (Number(row['since_at']) as EpochMs);
}

/** The same; an export that has never run begins now. */
function beginExport(database: Database, exportId: string, now: EpochMs): Promise<EpochMs> {
  return database.transaction(async (tx) => {
    await tx.run('INSERT INTO export (id, since_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING', [exportId, now]);
    return (await exportedSince(tx, exportId)) ?? now;
  });
}

/** Queues events that are not known yet; how many were new. */
function queueEvents(database: Database, exportId: string, events: readonly TimeEvent[], now: EpochMs) {
  return database.transaction(async (tx) => {
    const added: NewRow[] = [];
    for (const event of events) {
      const { external_event_id: item, payload } = event;
      const isNew = await tx.run(
        'INSERT INTO export_event (export, id, incident, document) VALUES (?, ?, ?, ?) ON CONFLICT (export, id) DO NOTHING',
        [exportId, item, payload.incident, JSON.stringify(event)],
      );
      if (isNew === 1) added.push({ channel: channelName(exportId), recipient: '', kind: 'event', item });
    }
    await enqueue(tx, added, now);
    return added.length;
  });
}

/** The newest events of an export. */
export async function listEvents(reader: Reader, exportId: string, limit: number) {
  const rows = await reader.all(
    `SELECT event.id, incident, document, state, reason, created_at, ended_at
     FROM export_event AS event JOIN outbox ON outbox.item = event.id AND outbox.channel = ?
     WHERE event.export = ? ORDER BY created_at DESC, event.id LIMIT ?`,
    [channelName(exportId), exportId, limit],
  );
  return rows.map((row) => ({
    exportId,
    id: String(row['id']),
    incident: String(row['incident']),
    state: String(row['state']) as EventState,
    /** JSON as it is sent. */
    document: String(row['document']),
    /** Why it was rejected or parked, or why the last attempt failed. */
    reason: row['reason'] === null ? null : String(row['reason']),
    queuedAt: Number(row['created_at']) as EpochMs,
    endedAt: row['ended_at'] === null ? null : (Number(row['ended_at']) as EpochMs),
  }));
}

export async function countEvents(reader: Reader, exportId: string): Promise<Readonly<Record<EventState, number>>> {
  const rows = await reader.all('SELECT state, COUNT(*) AS total FROM outbox WHERE channel = ? GROUP BY state', [
    channelName(exportId),
  ]);
  const counts = { queued: 0, sent: 0, rejected: 0, parked: 0 };
  for (const row of rows) counts[String(row['state']) as EventState] = Number(row['total']);
  return counts;
}

/** Why the last attempt failed of what is still queued; null: none failed. */
export async function lastExportError(reader: Reader, exportId: string): Promise<string | null> {
  const [row] = await reader.all(
    `SELECT reason FROM outbox WHERE channel = ? AND state = 'queued' AND reason IS NOT NULL LIMIT 1`,
    [channelName(exportId)],
  );
  return row === undefined ? null : String(row['reason']);
}

/** Queues what is parked again; how many events. */
export function retryParked(database: Database, exportId: string): Promise<number> {
  return database.transaction((tx) =>
    tx.run(
      `UPDATE outbox SET state = 'queued', reason = NULL, ended_at = NULL, batch = NULL, due_at = created_at, attempts = 0
       WHERE channel = ? AND state = 'parked'`,
      [channelName(exportId)],
    ),
  );
}

// Makes time events for the payroll API from resolved incidents. Pure.

/** One event, with the field names of the API. */
export type TimeEvent = ReturnType<typeof makeTimeEvents>[number];

const SOURCE = 'pharos';

/**
 * One event for each employee and turn of a resolved incident; none if it is open or too short. The same incident, rota and
 * export always give the same ids.
 */
export function makeTimeEvents(incident: Incident, options: PayrollOptions) {
  const { startedAt, endedAt } = incident;
  if (endedAt === null || endedAt <= startedAt || endedAt - startedAt < options.minMinutes * MINUTE_MS) return [];
  return onCall(options.rota, { from: startedAt, to: endedAt }).map((turn) => ({
    external_event_id: eventId(options.id, incident, turn),
    employee_id: turn.employee,
    event_type: options.eventType,
    occurred_at: toIso(endedAt),
    starts_at: toIso(turn.from),
    ends_at: toIso(turn.to),
    // Four digits are a third of a second.
    hours: Math.round(((turn.to - turn.from) / HOUR_MS) * 10_000) / 10_000,
    source: SOURCE,
    payload: { incident: incident.id, title: incident.title.slice(0, 200) },
  }));
}

function eventId(exportId: string, incident: Incident, turn: Turn): string {
  const facts = JSON.stringify([exportId, incident.id, turn.employee, turn.from]);
  return `pharos-${createHash('sha256').update(facts).digest('hex').slice(0, 40)}`;
}

/** One employee on call over `[from, to)`. */
interface Turn extends Interval {
  readonly employee: number;
}

/** More turns than any incident lasts; stops a rota that would never end. */
const TURNS_MAX = 10_000;

/**
 * Splits `window` into turns, in order and without overlaps. Shifts take precedence over the rotation, and earlier shifts of the
 * list over later ones. Time when nobody was on call is left out.
 */
export function onCall(rota: Rota, window: Interval): readonly Turn[] {
  let free: Interval[] = [window];
  const turns: Turn[] = [];
  for (const shift of rota.shifts) {
    const stretch = { from: toEpochMs(shift.from), to: toEpochMs(shift.to) };
    turns.push(...free.flatMap((gap) => overlap(gap, stretch)).map((part) => ({ ...part, employee: shift.employee })));
    free = free.flatMap((gap) => without(gap, stretch));
  }
  for (const gap of free) turns.push(...rotationOver(rota, gap));
  return turns.toSorted((a, b) => a.from - b.from);
}

function rotationOver({ rotation }: Rota, window: Interval): Turn[] {
  if (rotation === undefined) return [];
  const { employees, everyDays, timezone } = rotation;
  const start = Temporal.PlainDateTime.from(rotation.startsAt);
  // Turns change at the same local time, so a day may have 23 or 25 hours.
  const turnBegin = (index: number): EpochMs =>
    toEpochMs(start.add({ days: index * everyDays }).toZonedDateTime(timezone).epochMilliseconds);
  const local = Temporal.Instant.fromEpochMilliseconds(window.from).toZonedDateTimeISO(timezone).toPlainDateTime();
  const days = start.until(local, { largestUnit: 'days' }).days;
  const turns: Turn[] = [];
  const first = Math.floor(days / everyDays) - 1;
  for (let index = first; index < first + TURNS_MAX; index += 1) {
    const turn = { from: turnBegin(index), to: turnBegin(index + 1) };
    if (turn.from >= window.to) break;
    // Before the first turn nobody was on call.
    const employee = index < 0 ? undefined : employees[index % employees.length];
    if (employee !== undefined) turns.push(...overlap(window, turn).map((part) => ({ ...part, employee })));
  }
  return turns;
}

function overlap(a: Interval, b: Interval): Interval[] {
  const from = toEpochMs(Math.max(a.from, b.from));
  const to = toEpochMs(Math.min(a.to, b.to));
  return from < to ? [{ from, to }] : [];
}

function without(gap: Interval, cut: Interval): Interval[] {
  return [
    { from: gap.from, to: toEpochMs(Math.min(gap.to, cut.from)) },
    { from: toEpochMs(Math.max(gap.from, cut.to)), to: gap.to },
  ].filter((part) => part.from < part.to);
}
