/** When an incident last changed, and whether it goes on. */

import { type EpochMs, type Interval, isOverStatus, later, type PageIncident, toEpochMs } from '../../model/index.ts';

/** Whether an incident goes on: by the status that it is told with, so that figures counted to an earlier instant reopen none. */
export function isOpen({ status }: Pick<PageIncident, 'status'>): boolean {
  return !isOverStatus(status);
}

/** Whether something that lasts from `from` to `to` (null: still) is part of a window; what begins in it is. */
export function touches(window: Interval, from: EpochMs, to: EpochMs | null): boolean {
  return from < window.to && (to === null || to > window.from || from >= window.from);
}

/** The latest instant in an incident's record that is not after `asOf`; its start when there is none. */
export function incidentChangedAt({ startedAt, endedAt, updates }: PageIncident, asOf: EpochMs): EpochMs {
  return [endedAt ?? startedAt, ...updates.map(({ at }) => at)].reduce(
    (latest, at) => (at > latest && at <= asOf ? at : latest),
    startedAt,
  );
}

/**
 * The latest instant not after `asOf` at which any of these incidents changed, or any of these windows began. What is over
 * and what goes on is the same as of either instant; 0 where there is neither.
 */
export function settledAt(
  asOf: EpochMs,
  incidents: readonly PageIncident[],
  windows: readonly Interval[] = [],
): EpochMs {
  const instants = [
    ...incidents.flatMap(({ startedAt, endedAt, updates }) => [startedAt, endedAt, ...updates.map(({ at }) => at)]),
    ...windows.map(({ from }) => from),
  ];
  return instants.reduce<EpochMs>((last, at) => (at !== null && at <= asOf ? later(last, at) : last), toEpochMs(0));
}
