/** Options of a server monitor and how questions to it are put. */

import { z } from 'zod';
import type { Priority, Question } from '../../connector.ts';
import { BaseUrlSchema, endpointAddress, parseInstant, SecretSchema } from '../wire.ts';

export const OptionsSchema = z.strictObject({
  baseUrl: BaseUrlSchema.describe('Address of the API’s entry point; /status and the others follow it.'),
  apiKey: SecretSchema.describe('The key; ${NAME} or ${file:…} in the configuration.'),
  auth: z
    .enum(['x-api-key', 'bearer'])
    .default('x-api-key')
    .describe('How the key is sent: in the header X-API-Key, or as Authorization: Bearer.'),
  type: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only monitors of this type, as the upstream names it; default all.'),
  compareStatus: z
    .boolean()
    .default(true)
    .describe(
      'Whether the counts of /status are compared with the list; while they know of more, what is up shows as unknown.',
    ),
  timezone: z
    .string()
    .refine((zone) => parseInstant('2026-01-01T00:00:00', zone) !== null, 'an IANA time zone')
    .optional()
    .describe('IANA zone of times that carry none; default: the offset of the answer’s own timestamp.'),
  maintenance: z.boolean().default(false).describe('Read /maintenance too. It is not documented and may be missing.'),
});
export type Options = z.output<typeof OptionsSchema>;

/** One read of the API, the key in its header. */
export function question<T>(
  options: Options,
  {
    name,
    priority,
    path,
    query,
    schema,
  }: { name: string; priority: Priority; path: string; query?: Record<string, string | number>; schema: z.ZodType<T> },
): Question<T> {
  return {
    name,
    priority,
    method: 'GET',
    url: endpointAddress(options.baseUrl, path, query),
    headers:
      options.auth === 'bearer' ? { authorization: `Bearer ${options.apiKey}` } : { 'x-api-key': options.apiKey },
    schema,
  };
}
