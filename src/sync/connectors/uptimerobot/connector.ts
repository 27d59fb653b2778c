/**
 * uptimerobot: the monitors of an UptimeRobot account, by its API in version 2.
 *
 * Each pass asks `POST /v2/getMonitors` in pages of 50, the most it gives, and page 1 once more where there are several; the
 * first pass asks for the logs with it. The key goes into the body; a read-only one is enough. The free plan takes 10
 * requests a minute; paid ones more.
 */

import { z } from 'zod';
import { StatusError } from '../../../errors.ts';
import { type Learned, NOTHING_LEARNED } from '../../../model/observation.ts';
import type { Connector, Pull, PullContext, Query } from '../../connector.ts';
import { idIn } from '../items.ts';
import { notePartial, readStablePages } from '../paging.ts';
import { BaseUrlSchema, endpointAddress, SecretSchema } from '../wire.ts';
import { type MonitorsAnswer, MonitorsAnswerSchema, projectMonitors, STATUS_STATES } from './project.ts';

const OptionsSchema = z.strictObject({
  apiKey: SecretSchema.describe('API key of the account; read-only is enough.'),
  url: BaseUrlSchema.default('https://api.uptimerobot.com').describe('Address of the API, without /v2.'),
});
type Options = z.output<typeof OptionsSchema>;

const PER_PAGE = 50;
/** 5,000 monitors: more than any plan has. */
const PAGES_MAX = 100;

function monitorsQuery(options: Options, offset: number, hasLogs: boolean): Query<MonitorsAnswer> {
  return {
    name: 'list monitors',
    method: 'POST',
    url: endpointAddress(options.url, '/v2/getMonitors'),
    body: { api_key: options.apiKey, format: 'json', limit: PER_PAGE, offset, logs: hasLogs ? 1 : 0 },
    schema: MonitorsAnswerSchema,
    isRepeatable: true,
  };
}

/** The monitors of an answer. */
function monitorsIn(answer: MonitorsAnswer, { apiKey }: Options): readonly unknown[] {
  if (answer.stat === 'ok') return answer.monitors;
  const { type, message } = answer.error;
  const words = `${type} ${message ?? ''}`.replaceAll(apiKey, '***').trim().slice(0, 200);
  throw new StatusError({
    code: 'UPSTREAM_REFUSED',
    message: `UptimeRobot rejected the request: ${words}. Check the key.`,
    context: { status: 401 },
  });
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const factsOf = (answer: MonitorsAnswer) => ({
    total: answer.stat === 'ok' ? (answer.pagination?.total ?? null) : null,
    ids: monitorsIn(answer, options).map((item) => idIn(item) ?? ''),
  });
  const hasLogs = !context.memory.isBackfilled;
  const reading = yield* readStablePages({
    first: monitorsQuery(options, 0, hasLogs),
    next: (page, index) => {
      const offset = (index + 1) * PER_PAGE;
      const { total, ids } = factsOf(page);
      // Without a total, a page that is not full is the last.
      const isOver = total === null ? ids.length < PER_PAGE : offset >= total;
      return isOver ? null : monitorsQuery(options, offset, hasLogs);
    },
    pagesMax: PAGES_MAX,
    isNeeded: true,
    factsOf,
    countsAll: false,
  });
  const items = reading.pages.flatMap((page) => monitorsIn(page, options));
  const learned = projectMonitors(items, context);
  notePartial(reading, 'monitors', learned.problems);
  return { ...NOTHING_LEARNED, ...learned, itemsTotal: items.length };
}

export const uptimerobot: Connector<Options> = {
  kind: 'uptimerobot',
  title: 'monitors of an UptimeRobot account',
  example: { id: 'robot', kind: 'uptimerobot', apiKey: '${UPTIMEROBOT_KEY}' },
  questions: [{ key: 'apiKey', words: 'Environment variable with a read-only API key' }],
  optionsSchema: OptionsSchema,
  limits: { perMinute: 10, perHour: null },
  idField: 'id',
  words: { status: [...STATUS_STATES.keys()] as number[] },
  pull,
};
