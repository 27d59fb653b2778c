/** What a journey listing means: each journey is a monitor with its segment as description. */

import { type MonitorObservation, type Problem, toMonitorId } from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { parseInstant, projectMonitorList, uniqueMonitors, unknownWord } from '../wire.ts';
import { type Journey, JourneySchema } from './schema.ts';

/** Journeys as monitors, sorted by id; one that is listed on two pages counts once. Never throws. */
export function projectJourneys(
  items: readonly unknown[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[] } {
  const read = projectMonitorList<Journey>({
    place: 'data',
    items,
    schema: JourneySchema,
    project: (journey, place) => projectJourney(journey, place, upstreamId),
    placeholder: (externalId, name) => ({ ...journeyOf(upstreamId, externalId), name }),
  });
  const unique = uniqueMonitors(read.monitors);
  // The list is ordered by its last change, so pages overlap whenever one is edited.
  const problems = unique.problems.filter((problem) => problem.kind !== 'note');
  return { monitors: unique.monitors, problems: [...read.problems, ...problems] };
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
      ...journeyOf(upstreamId, journey.id),
      name: journey.name,
      description: journey.segment ?? (segmentId === null ? null : `Segment ${segmentId}`),
      state: isWord ? stateOfJourney(journey.status) : 'unknown',
      createdAt: typeof journey.created_at === 'string' ? parseInstant(journey.created_at, 'UTC') : null,
    },
    problems: isWord ? [] : [unknownWord(`${place}.status`, journey.status)],
  };
}

/** Only `active` journeys enrol customers; which other words there are is not documented, and none of them runs. */
function stateOfJourney(word: unknown): State {
  return word === 'active' ? 'operational' : 'paused';
}

function journeyOf(upstreamId: string, externalId: string): MonitorObservation {
  return {
    id: toMonitorId(upstreamId, externalId),
    name: externalId,
    description: null,
    kind: 'journey',
    target: null,
    state: 'unknown',
    isPublic: null,
    createdAt: null,
  };
}
