/** Results of checks as they are stored, and as a pass reads them. */

import { z } from 'zod';
import { CHECK_STATES, type StoredCheck } from '../model/check-result.ts';
import type { EpochMs } from '../model/time.ts';

const InstantSchema = z.number() as unknown as z.ZodType<EpochMs>;

export const StoredCheckSchema: z.ZodType<StoredCheck> = z.object({
  upstream: z.string(),
  name: z.string(),
  place: z.string(),
  at: InstantSchema,
  state: z.enum(CHECK_STATES),
  since: InstantSchema,
  foundAt: InstantSchema,
  fault: z.string().nullable(),
  totalMs: z.number().nullable(),
  certificateEndsAt: InstantSchema.nullable(),
  recent: z.array(z.object({ at: InstantSchema, ms: z.number() })),
  usualMs: z.array(z.number()),
});
