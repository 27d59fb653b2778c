/**
 * gatus: the endpoints of a Gatus.
 *
 * Each pass asks `GET /api/v1/endpoints/statuses`, which has all endpoints at once with their newest results; Gatus keeps that
 * answer for ten seconds. The first pass asks for a hundred results of each, later ones for twenty. Headers as configured,
 * where Gatus or a proxy wants to know who asks. No limits are documented.
 */

import { z } from 'zod';
import { type Learned, NOTHING_LEARNED } from '../../../model/observation.ts';
import { MINUTE_MS } from '../../../model/time.ts';
import { ask, type Connector, type Pull, type PullContext } from '../../connector.ts';
import { newDetails } from '../items.ts';
import { BaseUrlSchema, endpointAddress, HeadersSchema } from '../wire.ts';
import { ID_FIELD, projectStatuses, SUCCESS_STATES } from './project.ts';

const OptionsSchema = z.strictObject({
  url: BaseUrlSchema.describe('Address of Gatus, without /api/v1.'),
  headers: HeadersSchema.describe('Headers sent with each request, such as Authorization.'),
});
type Options = z.output<typeof OptionsSchema>;

/** Results per endpoint: as many as Gatus keeps by default, and its default page size. */
const RESULTS_FIRST = 100;
const RESULTS_USUAL = 20;
const DETAIL_AGE_MIN_MS = 5 * MINUTE_MS;

function* pull({ url, headers }: Options, context: PullContext): Pull<Learned> {
  const pageSize = context.memory.isBackfilled ? RESULTS_USUAL : RESULTS_FIRST;
  const { payload } = yield* ask({
    name: 'list statuses',
    url: endpointAddress(url, '/api/v1/endpoints/statuses', { page: 1, pageSize }),
    headers,
    schema: z.array(z.unknown()),
  });
  const { details, ...learned } = projectStatuses(payload, context);
  return { ...NOTHING_LEARNED, ...learned, details: newDetails(details, context, DETAIL_AGE_MIN_MS) };
}

export const gatus: Connector<Options> = {
  kind: 'gatus',
  title: 'endpoints of Gatus',
  example: { id: 'gatus', kind: 'gatus', url: 'https://gatus.example.com' },
  questions: [{ key: 'url', words: 'Address of Gatus' }],
  optionsSchema: OptionsSchema,
  idField: ID_FIELD,
  words: { success: [...SUCCESS_STATES.keys()] as boolean[] },
  pull,
};
