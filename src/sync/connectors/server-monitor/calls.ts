/** Options of a server monitor and how questions to it are put. */

import { z } from 'zod';
import type { Priority, Question } from '../../connector.ts';
import { BaseUrlSchema, endpointAddress, parseInstant, SecretSchema } from '../wire.ts';

export const OptionsSchema = z.strictObject({
  baseUrl: BaseUrlSchema.describe('Address of the API, without /status.'),
  apiKey: SecretSchema.describe('API key, as ${NAME} or ${file:…}.'),
  auth: z
    .enum(['x-api-key', 'bearer'])
    .default('x-api-key')
    .describe('How the key is sent: in the header X-API-Key, or as Authorization: Bearer.'),
  type: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only monitors of this type, as named by the upstream. Default: all.'),
  compareStatus: z
    .boolean()
    .default(true)
    .describe('Compare the counts in /status with the list. While they differ, monitors that are up show as unknown.'),
  timezone: z
    .string()
    .refine((zone) => parseInstant('2026-01-01T00:00:00', zone) !== null, 'an IANA time zone')
    .optional()
    .describe('Time zone (IANA) of times without an offset. Default: the offset of the response’s timestamp.'),
  maintenance: z.boolean().default(false).describe('Also read /maintenance, which is undocumented and may be missing.'),
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
