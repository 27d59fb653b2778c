/** The ingestion of payroll time events: batches, rejects one by one, nothing taken twice. */

import { type EpochMs, HOUR_MS } from '../../src/model/time.ts';
import {
  bearerToken,
  headerOf,
  isObject,
  json,
  objectOf,
  type Reply,
  type Request,
  type Upstream,
} from './exchange.ts';
import {
  check,
  dateTime,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  refused,
  required,
  text,
} from './validation.ts';

interface PayrollOptions {
  readonly token: string;
}

/** The upstream, and what it has taken. */
interface Payroll {
  readonly upstream: Upstream;
  /** Queued events in the order they came, as they were sent. */
  events(): readonly Readonly<Record<string, unknown>>[];
}

const PATH = '/api/v1/payroll/time-events';
const EVENTS_MAX = 500;
const KEY_MAX = 128;
const IDEMPOTENCY_MS = 24 * HOUR_MS;
/** Events of these types say how long they were. */
const TYPES_WITH_HOURS = ['timesheet', 'overtime'];

const EVENT = {
  external_event_id: optional(text(128)),
  employee_id: required(integer),
  event_type: required(oneOf('timesheet', 'punch', 'overtime', 'leave_impact')),
  occurred_at: required(dateTime),
  starts_at: optional(nullable(dateTime)),
  ends_at: optional(nullable(dateTime)),
  hours: optional(nullable(number)),
  source: optional(nullable(text(80))),
  payload: optional(object),
};

interface Reject {
  readonly index: number;
  readonly external_event_id: string;
  readonly reason: string;
}

export function createPayroll({ token }: PayrollOptions): Payroll {
  const queued: Readonly<Record<string, unknown>>[] = [];
  const known = new Set<string>();
  const answers = new Map<string, { readonly at: EpochMs; readonly reply: Reply }>();

  /** Null: queued or skipped as known. */
  function take(event: unknown): string | null {
    const reason = faultOf(event);
    if (reason !== null || !isObject(event)) return reason ?? 'is not an object';
    const id = event['external_event_id'];
    if (typeof id === 'string') {
      if (known.has(id)) return null;
      known.add(id);
    }
    queued.push(event);
    return null;
  }

  function ingest(events: readonly unknown[]): Reply {
    const before = queued.length;
    const errors = events.flatMap((event, index): Reject[] => {
      const reason = take(event);
      return reason === null ? [] : [{ index, external_event_id: externalId(event), reason }];
    });
    return json(202, { accepted: queued.length - before, rejected: errors.length, errors });
  }

  function upstream(request: Request): Reply {
    if (request.path !== PATH) return json(404, { message: 'Not found.' });
    if (request.method !== 'POST') return json(405, { message: 'Method not allowed.' }, { allow: 'POST' });
    if (bearerToken(request.headers) !== token) return json(401, { message: 'Unauthenticated.' });
    const key = headerOf(request.headers, 'idempotency-key');
    const earlier = key === null ? undefined : answers.get(key);
    if (earlier !== undefined && request.now < earlier.at + IDEMPOTENCY_MS) return earlier.reply;
    const events = eventsIn(request, key);
    if (!Array.isArray(events)) return events;
    const reply = ingest(events);
    if (key !== null) answers.set(key, { at: request.now, reply });
    return reply;
  }

  return { upstream, events: () => [...queued] };
}

/** The batch, or why the request as a whole is refused. */
function eventsIn({ headers, body }: Request, key: string | null): unknown[] | Reply {
  const isJson = /^application\/json\b/i.test(headers['content-type'] ?? '');
  const fields = (isJson ? objectOf(body) : null) ?? {};
  const events = fields['events'];
  const invalid = refused({
    ...check(fields, { payroll_run_id: optional(integer), events: required(batch) }),
    ...check({ 'Idempotency-Key': key ?? undefined }, { 'Idempotency-Key': optional(text(KEY_MAX)) }),
  });
  return invalid ?? (Array.isArray(events) ? events : []);
}

function batch(value: unknown): string | null {
  return Array.isArray(value) && value.length >= 1 && value.length <= EVENTS_MAX
    ? null
    : `must be a list of 1 to ${EVENTS_MAX} events`;
}

function faultOf(event: unknown): string | null {
  if (!isObject(event)) return 'The event is not an object.';
  const needsHours = TYPES_WITH_HOURS.includes(String(event['event_type']));
  const rules = needsHours ? { ...EVENT, hours: required(number) } : EVENT;
  return Object.values(check(event, rules)).flat()[0] ?? null;
}

function externalId(event: unknown): string {
  const id = isObject(event) ? event['external_event_id'] : undefined;
  return typeof id === 'string' ? id : '';
}
