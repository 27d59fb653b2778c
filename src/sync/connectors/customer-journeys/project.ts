/** What a journey listing means: each journey is a monitor with its segment as description. */

import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { projectMonitorLists, unknownMonitor } from '../items.ts';
import { parseInstant, unknownWord } from '../wire.ts';
import { ID_FIELD, type Journey, JourneySchema } from './schema.ts';

/** Journeys as monitors, sorted by id; one that is listed on two pages counts once. Never throws. */
export function projectJourneys(
  items: readonly unknown[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[] } {
  const { monitors, problems } = projectMonitorLists<Journey>([
    {
      place: 'data',
      items,
      schema: JourneySchema,
      idField: ID_FIELD,
      project: (journey, place) => projectJourney(journey, place, upstreamId),
      placeholder: (externalId) => unknownMonitor(upstreamId, externalId, 'journey'),
    },
  ]);
  // The list is ordered by its last change, so pages overlap whenever one is edited.
  return { monitors, problems: problems.filter((problem) => problem.kind !== 'note') };
}

function projectJourney(
  journey: Journey,
  place: string,
  upstreamId: string,
): { monitor: MonitorObservation; problems: Problem[] } {
  const isWord = typeof journey.status === 'string';
  const segmentId = journey.segment_id ?? null;
  return {
    monitor: {
      ...unknownMonitor(upstreamId, journey.id, 'journey'),
      name: journey.name,
      description: journey.segment ?? (segmentId === null ? null : `Segment ${segmentId}`),
      state: isWord ? stateOfJourney(journey.status) : 'unknown',
      createdAt: typeof journey.created_at === 'string' ? parseInstant(journey.created_at, 'UTC') : null,
    },
    problems: isWord ? [] : [unknownWord(`${place}.status`, journey.status)],
  };
}

/** Only such journeys enrol customers; which other words there are is not documented, and none of them runs. */
export const RUNNING = 'active';

function stateOfJourney(word: unknown): State {
  return word === RUNNING ? 'operational' : 'paused';
}
