/** When an incident or a maintenance began to be known, last changed, and whether it goes on. */

import {
  type EpochMs,
  type Interval,
  isOverStatus,
  type PageIncident,
  type PageMaintenance,
  toEpochMs,
} from '../../model/index.ts';

/** Whether an incident goes on at `asOf`: it has not ended, and its status does not say that it is over. */
export function isOpen({ endedAt, status }: Pick<PageIncident, 'endedAt' | 'status'>, asOf: EpochMs): boolean {
  return (endedAt === null || endedAt > asOf) && !isOverStatus(status);
}

/** Whether something that lasts from `from` to `to` (null: still) is part of a window; what begins in it is. */
export function touches(window: Interval, from: EpochMs, to: EpochMs | null): boolean {
  return from < window.to && (to === null || to > window.from || from >= window.from);
}

/** The latest instant in an incident's record that is not after `asOf`; its start when there is none. */
export function incidentChangedAt({ startedAt, endedAt, updates }: PageIncident, asOf: EpochMs): EpochMs {
  return latestBy(asOf, startedAt, [endedAt ?? startedAt, ...updates.map(({ at }) => at)]);
}

/**
 * The latest instant that what is said of incidents depends on: `asOf` while one of them goes on, since it lasts until
 * then; otherwise the last change of any. Said as of either instant it is the same.
 */
export function settledAt(incidents: readonly PageIncident[], asOf: EpochMs): EpochMs {
  if (incidents.some((incident) => isOpen(incident, asOf))) return asOf;
  return toEpochMs(Math.max(0, ...incidents.map((incident) => incidentChangedAt(incident, asOf))));
}

/** The first instant in a maintenance's record: an update, when it was first seen as it is, or at the latest its start. */
export function maintenanceKnownSince({ startsAt, changedAt = startsAt, updates }: PageMaintenance): EpochMs {
  return toEpochMs(Math.min(startsAt, changedAt, ...updates.map(({ at }) => at)));
}

/** The latest instant in a maintenance's record that is not after `asOf`, the edges of its window included. */
export function maintenanceChangedAt(maintenance: PageMaintenance, asOf: EpochMs): EpochMs {
  const { startsAt, endsAt, changedAt = startsAt, updates } = maintenance;
  const instants = [startsAt, endsAt, changedAt, ...updates.map(({ at }) => at)];
  return latestBy(asOf, maintenanceKnownSince(maintenance), instants);
}

function latestBy(asOf: EpochMs, first: EpochMs, instants: readonly EpochMs[]): EpochMs {
  return instants.reduce((latest, at) => (at > latest && at <= asOf ? at : latest), first);
}
