/** The journey listing. Rules, targets and templates are not named here, so they are never kept. */

import { z } from 'zod';
import { IdSchema, NameSchema } from '../wire.ts';

/** Names a journey in its list. */
export const ID_FIELD = 'id';

export const JourneysAnswerSchema = z.object({ data: z.array(z.unknown()) });
export type JourneysAnswer = z.output<typeof JourneysAnswerSchema>;

/** The shape of the segment relation is not documented: its name is read where there is one. */
const SegmentSchema = z
  .object({ name: NameSchema })
  .nullish()
  .catch(null)
  .transform((segment) => segment?.name ?? null);

export const JourneySchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  segment_id: IdSchema.nullish().catch(null),
  segment: SegmentSchema,
  created_at: z.string().nullish().catch(null),
});
export type Journey = z.output<typeof JourneySchema>;
