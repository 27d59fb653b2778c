/**
 * What a journey listing means: each journey is a monitor with its segment as description. Rules, targets and templates are
 * not named here, so they are never kept.
 */

import { z } from 'zod';
import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { projectMonitorLists, unknownMonitor } from '../items.ts';
import { IdSchema, NameSchema, parseInstant, unknownWord } from '../wire.ts';

/** The field that identifies a journey. */
export const ID_FIELD = 'id';

export const JourneysAnswerSchema = z.object({ data: z.array(z.unknown()) });
export type JourneysAnswer = z.output<typeof JourneysAnswerSchema>;

/** The shape of the segment isn't documented, so its name is read if there is one. */
const SegmentSchema = z
  .object({ name: NameSchema })
  .nullish()
  .catch(null)
  .transform((segment) => segment?.name ?? null);

const JourneySchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  segment_id: IdSchema.nullish().catch(null),
  segment: SegmentSchema,
  created_at: z.string().nullish().catch(null),
});
type Journey = z.output<typeof JourneySchema>;

/** Turns journeys into monitors, sorted by id. Journeys on two pages count once. Never throws. */
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
  // The list is sorted by last change, so pages overlap when a journey is edited.
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

/** Only active journeys enrol customers. Other words aren't documented; journeys with them don't run. */
export const RUNNING = 'active';

function stateOfJourney(word: unknown): State {
  return word === RUNNING ? 'operational' : 'paused';
}
