/**
 * What a journey listing means: each journey is a monitor with its segment as description. Rules, targets and templates are
 * not named here, so they are never kept.
 */

import { z } from 'zod';
import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import { projectMonitorLists } from '../items.ts';
import { IdSchema, NameSchema, parseInstant, unknownWord } from '../wire.ts';

export const JourneysAnswerSchema = z.object({ data: z.array(z.unknown()) });

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

/** Turns journeys into monitors, sorted by id. Journeys on two pages count once. Never throws. */
export function projectJourneys(items: readonly unknown[], upstreamId: string) {
  const problems: Problem[] = [];
  const list = {
    place: 'data',
    items,
    kind: 'journey',
    schema: JourneySchema,
    project: (journey: z.output<typeof JourneySchema>, place: string): Partial<MonitorObservation> => {
      const isWord = typeof journey.status === 'string';
      if (!isWord) problems.push(unknownWord(`${place}.status`, journey.status));
      return {
        name: journey.name,
        description: journey.segment ?? (journey.segment_id == null ? null : `Segment ${journey.segment_id}`),
        state: !isWord ? 'unknown' : journey.status === RUNNING ? 'operational' : 'paused',
        createdAt: parseInstant(journey.created_at ?? '', 'UTC'),
      };
    },
  };
  const monitors = projectMonitorLists({ upstreamId, problems }, [list]);
  // The list is sorted by last change, so pages overlap when a journey is edited.
  return { monitors, problems: problems.filter((problem) => problem.kind !== 'note') };
}

/** Only active journeys enrol customers. Other words aren't documented; journeys with them don't run. */
export const RUNNING = 'active';
