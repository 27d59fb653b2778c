/** Statuses of endpoints as Gatus lists them; what it sent and got back is not named here, so it is never kept. */

import { z } from 'zod';
import { IdSchema, InstantSchema, NameSchema, NumberSchema, TextSchema } from '../wire.ts';

/** Names an endpoint in its list: group and name. */
export const ID_FIELD = 'key';

export const StatusesSchema = z.array(z.unknown());

export const EndpointSchema = z.object({
  key: IdSchema,
  name: NameSchema,
  group: TextSchema,
  results: z.array(z.unknown()),
});
export type Endpoint = z.output<typeof EndpointSchema>;

export const ResultSchema = z.object({
  success: z.unknown().optional(),
  timestamp: InstantSchema,
  /** Nanoseconds. */
  duration: NumberSchema.nullish().catch(null),
});
