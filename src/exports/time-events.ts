/** Makes time events for the payroll API from resolved incidents. Pure. */

import { createHash } from 'node:crypto';
import type { Incident } from '../model/observation.ts';
import { HOUR_MS, MINUTE_MS, toIso } from '../model/time.ts';
import type { PayrollOptions } from './options.ts';
import { onCall, type Turn } from './rota.ts';

/** One event, with the field names of the API. */
export interface TimeEvent {
  readonly external_event_id: string;
  readonly employee_id: number;
  readonly event_type: 'overtime' | 'timesheet';
  readonly occurred_at: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly hours: number;
  readonly source: string;
  readonly payload: Readonly<Record<string, string>>;
}

const SOURCE = 'pharos';

/**
 * One event for each employee and turn of a resolved incident; none if it is open or too short. The same incident, rota and
 * export always give the same ids.
 */
export function makeTimeEvents(incident: Incident, options: PayrollOptions): readonly TimeEvent[] {
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
