/**
 * healthchecks: the checks of one project of Healthchecks, the service or one's own.
 *
 * Each pass asks `GET /api/v3/checks/` once; the flips of each check (`/api/v3/checks/<key>/flips/`) are asked once, for the last
 * 90 days. The key goes into `X-Api-Key`; a read-only one is enough. No limits are documented; ours is 20 a minute.
 */

import { z } from 'zod';
import { type Learned, type MonitorObservation, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { DAY_MS, SECOND_MS } from '../../../model/time.ts';
import { ask, attemptEach, type Connector, type Pull, type PullContext, type Query } from '../../connector.ts';
import { externalIdOf, note } from '../items.ts';
import { BaseUrlSchema, endpointAddress, SecretSchema } from '../wire.ts';
import {
  ChecksSchema,
  type Flips,
  FlipsSchema,
  ID_FIELD,
  projectChecks,
  projectFlips,
  STATE_WORDS,
} from './project.ts';

const OptionsSchema = z.strictObject({
  url: BaseUrlSchema.default('https://healthchecks.io').describe('Address of Healthchecks, without /api.'),
  apiKey: SecretSchema.describe('API key of a project; read-only is enough.'),
});
type Options = z.output<typeof OptionsSchema>;

const PAST_SECONDS = (90 * DAY_MS) / SECOND_MS;
/** Maximum number of pasts requested in one pass. */
const PASTS_MAX = 10;

function* pull({ url, apiKey }: Options, context: PullContext): Pull<Learned> {
  const headers = { 'x-api-key': apiKey };
  const { payload } = yield* ask({
    name: 'list checks',
    url: endpointAddress(url, '/api/v3/checks/'),
    headers,
    schema: ChecksSchema,
    isConditional: true,
  });
  const problems: Problem[] = [];
  const monitors = projectChecks(payload.checks, { ...context, problems });
  const due = monitors.filter(({ id }) => !context.memory.detailFetchedAt.has(externalIdOf(id)));
  const toQuery = ({ id }: MonitorObservation): Query<Flips> => {
    const path = `/api/v3/checks/${encodeURIComponent(externalIdOf(id))}/flips/`;
    const address = endpointAddress(url, path, { seconds: PAST_SECONDS });
    return { name: 'list flips', priority: 'backfill', url: address, headers, schema: FlipsSchema };
  };
  const pasts = yield* attemptEach(due, toQuery, PASTS_MAX);
  const details = pasts.flatMap(({ item: monitor, answer }) => {
    if (answer.kind === 'failed') problems.push(note(`flips.${externalIdOf(monitor.id)}`, answer.error.message));
    return answer.kind === 'ok' ? projectFlips(monitor, answer.payload, context.now) : [];
  });
  return {
    ...NOTHING_LEARNED,
    ...{ monitors, details, problems },
    itemsTotal: payload.checks.length,
    isBackfilled: details.length === due.length,
  };
}

export const healthchecks: Connector<Options> = {
  kind: 'healthchecks',
  title: 'checks of Healthchecks: cron jobs and other jobs that send pings',
  example: {
    id: 'jobs',
    kind: 'healthchecks',
    url: 'https://healthchecks.io',
    apiKey: '${HEALTHCHECKS_KEY}',
  },
  questions: [
    { key: 'url', words: 'Address of Healthchecks', suggestion: 'https://healthchecks.io' },
    { key: 'apiKey', words: 'Environment variable with a read-only API key' },
  ],
  optionsSchema: OptionsSchema,
  limits: { perMinute: 20, perHour: null },
  idField: ID_FIELD,
  words: { status: Object.keys(STATE_WORDS) },
  pull,
};
