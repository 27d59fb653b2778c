/**
 * When what a page says last changed. Unlike the age of its data this stands still while nothing happens, so files
 * that state it need no rewriting.
 */

import { type EpochMs, later, type PageModel, toEpochMs } from '../../model/index.ts';
import { incidentChangedAt } from '../incident/event-times.ts';

/**
 * The latest change of a state, an incident, a maintenance or the freshness of a source that is not after `asOf`; when
 * the page was first defined, where nothing changed since.
 */
export function lastChangeAt(model: PageModel): EpochMs {
  const { asOf } = model;
  const instants = [
    ...model.components.map(({ since }) => since),
    ...model.incidents.map((incident) => incidentChangedAt(incident, asOf)),
    ...model.maintenances.map(({ changedAt }) => changedAt),
    ...model.announcements.map(({ from }) => from),
    ...model.sources.map(({ isMonitorsStale, monitorsAt, intervalMs }) =>
      isMonitorsStale && monitorsAt !== null ? toEpochMs(monitorsAt + 2 * intervalMs) : null,
    ),
  ];
  return instants.reduce<EpochMs>(
    (latest, at) => (at !== null && at <= asOf ? later(latest, at) : latest),
    model.knownSince,
  );
}
