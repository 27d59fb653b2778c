/** Answers of the API, version 2. Credentials that monitors are checked with are not named here, so they are never kept. */

import { z } from 'zod';
import { type EpochMs, SECOND_MS, toEpochMs } from '../../../model/time.ts';
import { CountSchema, IdSchema, NameSchema, NumberSchema, toLink } from '../wire.ts';

/** Names a monitor in its list. */
export const ID_FIELD = 'id';

/** 2100: what is later is a mistake. */
const SECONDS_MAX = 4_102_444_800;
/** Seconds since 1970. */
const SecondsSchema = NumberSchema.pipe(z.number().min(0).max(SECONDS_MAX)).transform(
  (seconds): EpochMs => toEpochMs(Math.round(seconds * SECOND_MS)),
);

/** What is refused comes with status 200 as well. */
export const MonitorsAnswerSchema = z.union([
  z.object({
    stat: z.literal('ok'),
    pagination: z.object({ total: CountSchema }).nullish().catch(null),
    monitors: z.array(z.unknown()),
  }),
  z.object({
    stat: z.literal('fail'),
    error: z.object({ type: z.string(), message: z.string().nullish().catch(null) }),
  }),
]);
export type MonitorsAnswer = z.output<typeof MonitorsAnswerSchema>;

export const MonitorSchema = z.object({
  id: IdSchema,
  friendly_name: NameSchema,
  url: z.string().nullish().catch(null).transform(toLink),
  type: NumberSchema.nullish().catch(null),
  status: z.union([NumberSchema, z.unknown()]).optional(),
  create_datetime: SecondsSchema.nullish().catch(null),
  logs: z.array(z.unknown()).nullish().catch(null),
});
export type Monitor = z.output<typeof MonitorSchema>;

export const LogSchema = z.object({
  type: NumberSchema,
  datetime: SecondsSchema,
  duration: NumberSchema.pipe(z.number().min(0)),
});
export type Log = z.output<typeof LogSchema>;
