/** Time events of resolved incidents, as the payroll interface takes them. Pure. */

import { createHash } from 'node:crypto';
import type { Incident } from '../model/observation.ts';
import { HOUR_MS, MINUTE_MS, toIso } from '../model/time.ts';
import type { PayrollOptions } from './options.ts';
import { onCall, type Turn } from './rota.ts';

/** One event as it is sent; field names as in the document. */
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
 * The events of one resolved incident: one for each employee and turn, none for an open incident or a short one. The
 * same incident, rota and export give the same ids.
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
    // Four digits: a third of a second; binary fractions of an hour would print long tails.
    hours: Math.round(((turn.to - turn.from) / HOUR_MS) * 10_000) / 10_000,
    source: SOURCE,
    payload: { incident: incident.id, title: incident.title.slice(0, 200) },
  }));
}

function eventId(exportId: string, incident: Incident, turn: Turn): string {
  const facts = JSON.stringify([exportId, incident.id, turn.employee, turn.from]);
  return `pharos-${createHash('sha256').update(facts).digest('hex').slice(0, 40)}`;
}
