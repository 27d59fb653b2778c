/** Checks as the management API lists them. Addresses to ping are not named here, so they are never kept. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { IdSchema, InstantSchema, TextSchema } from '../wire.ts';

/** Names a check in its list; not the part of its address to ping. */
export const ID_FIELD = 'unique_key';

export const ChecksSchema = z.object({
  checks: z.array(z.unknown()).transform((items) => items.map(withUniqueKey)),
});

export const CheckSchema = z.object({
  unique_key: IdSchema,
  name: z.string(),
  slug: z.string().nullish().catch(null),
  desc: TextSchema,
  status: z.unknown().optional(),
});
export type Check = z.output<typeof CheckSchema>;

export const FlipsSchema = z.array(
  z.object({ timestamp: InstantSchema, up: z.union([z.literal([0, 1]), z.enum(['0', '1'])]) }),
);
export type Flips = z.output<typeof FlipsSchema>;

/**
 * A key that may write is told the id that checks are pinged by, and not the one that a read-only key is told. That is made
 * of it there, and here, so that the names of monitors do not change with the key and let nobody ping.
 */
function withUniqueKey(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || ID_FIELD in item || !('uuid' in item)) return item;
  const { uuid, ...rest } = item;
  const digits = typeof uuid === 'string' ? uuid.replaceAll('-', '') : '';
  if (!/^[0-9a-f]{32}$/.test(digits)) return rest;
  return { ...rest, [ID_FIELD]: createHash('sha1').update(digits.slice(0, 16)).digest('hex') };
}
