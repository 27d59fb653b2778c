/** What an incident declares of a component, over the time that each of its updates stands. */

import type { AffectedComponent, Incident, MonitorId, Update } from './observation.ts';
import type { DeclaredSpan } from './overlap.ts';
import { isWorse, type State } from './state.ts';
import { type EpochMs, earlier, later } from './time.ts';

/** A component as incidents may name it. */
export interface NamedComponent {
  /** `<definition id>/<component id>`. */
  readonly id: string;
  readonly monitor: MonitorId | null;
}

/** Whether an incident is about a component: it names it, or its monitor. */
export function isAboutComponent(
  { monitors, components }: Pick<Incident, 'monitors' | 'components'>,
  { id, monitor }: NamedComponent,
): boolean {
  return (monitor !== null && monitors.includes(monitor)) || components.some((named) => named.id === id);
}

/**
 * The states that an incident which is about `component` puts it into, oldest first, up to `until`.
 *
 * An update stands until the next one, the first one from the incident's start. Until an update says something of any
 * component, each is in the state that the incident as a whole gives it; from then on the updates are the whole of what
 * is said, and a component that none has named yet is none of the incident's.
 */
export function declaredSpans(incident: Incident, component: NamedComponent, until: EpochMs): DeclaredSpan[] {
  const end = incident.endedAt === null ? until : earlier(incident.endedAt, until);
  const isCounted = incident.affectsUptime !== false;
  const named = incident.components.find(({ id }) => id === component.id);
  let state: State | null = named?.state ?? incident.affectedState;
  let hasSpoken = false;
  const spans: DeclaredSpan[] = [];
  for (const { impacts, from, to } of standing(incident, end)) {
    const said = impacts?.find(({ id }) => id === component.id);
    if (said !== undefined) state = said.state;
    else if (impacts !== undefined && !hasSpoken) state = null;
    hasSpoken ||= impacts !== undefined;
    // That a component works is what monitors say; people only take back what they said.
    if (state !== null && isWorse(state, 'operational') && from < to) spans.push({ state, from, to, isCounted });
  }
  return spans;
}

interface Standing {
  readonly impacts: readonly AffectedComponent[] | undefined;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** How long each update stands; an incident without any stands by itself. */
function standing({ startedAt, updates }: Incident, end: EpochMs): Standing[] {
  const [first, ...others]: readonly Pick<Update, 'at' | 'impacts'>[] =
    updates.length === 0 ? [{ at: startedAt }] : updates;
  if (first === undefined) return [];
  const begins = [startedAt, ...others.map(({ at }) => later(at, startedAt))];
  return [first, ...others].map(({ impacts }, index) => ({
    impacts,
    from: begins[index] ?? end,
    to: earlier(begins[index + 1] ?? end, end),
  }));
}
