/**
 * customer-journeys: a listing of journeys, newest change first.
 *
 * Asks `GET {tenantBaseUrl}/api/v1/customer360/journeys?page=n` until a page is empty or holds nothing new, and page 1
 * once more where there were several, since a journey that is edited meanwhile moves to the front. Page size and end
 * are not documented. Authentication by the configured headers. No limits are documented.
 */

import { z } from 'zod';
import { type Learned, NOTHING_LEARNED } from '../../../model/observation.ts';
import { ask, type Connector, type Pull, type PullContext } from '../../connector.ts';
import { itemKey, note } from '../items.ts';
import { BaseUrlSchema, endpointAddress, HeadersSchema } from '../wire.ts';
import { JourneysAnswerSchema, projectJourneys, RUNNING } from './project.ts';

const OptionsSchema = z.strictObject({
  tenantBaseUrl: BaseUrlSchema.describe('Address of the tenant, without /api/v1.'),
  headers: HeadersSchema.describe('Headers sent with each request, such as Authorization.'),
});
type Options = z.output<typeof OptionsSchema>;

/** A limit for endless lists: thousands of journeys at any usual page size. */
const PAGES_MAX = 100;

function* readPage(options: Options, page: number): Pull<readonly unknown[]> {
  const { payload } = yield* ask({
    name: 'list journeys',
    url: endpointAddress(options.tenantBaseUrl, '/api/v1/customer360/journeys', { page }),
    headers: { ...options.headers, accept: 'application/json' },
    schema: JourneysAnswerSchema,
  });
  return payload.data;
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  const take = (listed: readonly unknown[]): number => {
    const fresh = listed.filter((item) => !seen.has(itemKey(item)));
    // Variants within one page are kept, so that they are reported.
    for (const item of listed) seen.add(itemKey(item));
    items.push(...fresh);
    return fresh.length;
  };
  let isOver = false;
  let page = 1;
  for (; !isOver && page <= PAGES_MAX; page += 1) isOver = take(yield* readPage(options, page)) === 0;
  if (page > 3) take(yield* readPage(options, 1));
  const { monitors, problems } = projectJourneys(items, context.upstreamId);
  return {
    ...NOTHING_LEARNED,
    monitors,
    problems: isOver ? problems : [...problems, note('data', `more than ${PAGES_MAX} pages; the rest was left out`)],
    itemsTotal: items.length,
  };
}

export const customerJourneys: Connector<Options> = {
  kind: 'customer-journeys',
  title: 'customer lifecycle journeys',
  example: {
    id: 'crm',
    kind: 'customer-journeys',
    tenantBaseUrl: 'https://crm.example.com',
    headers: { Authorization: 'Bearer ${CRM_TOKEN}' },
  },
  questions: [
    { key: 'tenantBaseUrl', words: 'Address of the tenant' },
    { key: 'headers.Authorization', words: 'Environment variable with the token' },
  ],
  optionsSchema: OptionsSchema,
  idField: 'id',
  words: { status: [RUNNING] },
  pull,
};
