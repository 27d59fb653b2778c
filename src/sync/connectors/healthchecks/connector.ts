/**
 * healthchecks: the checks of one project of Healthchecks, the service or one's own.
 *
 * Each pass asks `GET /api/v3/checks/` once; the flips of each check (`/api/v3/checks/<key>/flips/`) are asked once, for the last
 * 90 days. The key goes into `X-Api-Key`; a read-only one is enough. No limits are documented; ours is 20 a minute.
 */

import { z } from 'zod';
import { type Learned, type MonitorDetail, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { DAY_MS, SECOND_MS } from '../../../model/time.ts';
import { ask, attempt, type Connector, type Pull, type PullContext, type Question } from '../../connector.ts';
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

function question<T>(
  { url, apiKey }: Options,
  path: string,
  rest: Pick<Question<T>, 'name' | 'schema' | 'priority'>,
): Question<T> {
  return {
    ...rest,
    method: 'GET',
    url: endpointAddress(url, path),
    headers: { 'x-api-key': apiKey },
    isConditional: true,
  };
}

function checksQuestion(options: Options): Question<z.output<typeof ChecksSchema>> {
  return question(options, '/api/v3/checks/', { name: 'list checks', priority: 'list', schema: ChecksSchema });
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const { upstreamId } = context;
  const { payload } = yield* ask(checksQuestion(options));
  const { monitors, problems } = projectChecks(payload.checks, upstreamId);
  const due = monitors.filter(({ id }) => !context.memory.detailFetchedAt.has(externalIdOf(id)));
  const past = yield* readPasts(options, due, context);
  return {
    ...NOTHING_LEARNED,
    monitors,
    details: past.details,
    problems: [...problems, ...past.problems],
    itemsTotal: payload.checks.length,
    isBackfilled: past.details.length === due.length,
  };
}

/** Reads the past of some of the checks that are due. */
function* readPasts(
  options: Options,
  due: Learned['monitors'],
  { now }: PullContext,
): Pull<{ readonly details: MonitorDetail[]; readonly problems: Problem[] }> {
  const answers = yield* attempt(
    due.map(({ id }): Question<Flips> => {
      const path = `/api/v3/checks/${encodeURIComponent(externalIdOf(id))}/flips/`;
      const flips = question<Flips>(options, path, { name: 'list flips', priority: 'backfill', schema: FlipsSchema });
      return { ...flips, url: `${flips.url}?seconds=${PAST_SECONDS}`, isConditional: false };
    }),
    PASTS_MAX,
  );
  const read = due.map((monitor, index) => ({
    monitor,
    answer: answers[index] ?? ({ kind: 'skipped' } as const),
  }));
  return {
    details: read.flatMap(({ monitor, answer }) =>
      answer.kind === 'ok' ? [projectFlips(monitor, answer.payload, now)] : [],
    ),
    problems: read.flatMap(({ monitor, answer }) =>
      answer.kind === 'failed' ? [note(`flips.${externalIdOf(monitor.id)}`, answer.error.message)] : [],
    ),
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
