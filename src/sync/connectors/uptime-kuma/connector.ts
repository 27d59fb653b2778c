/**
 * uptime-kuma: a public status page of Uptime Kuma, by the two documents that the page itself reads.
 *
 * Each pass asks `/api/status-page/<page>` (names, incidents, maintenance; cached there for five minutes) and
 * `/api/status-page/heartbeat/<page>` (beats; cached for one), both conditional; since version 2
 * `/incident-history`. With a key also `/metrics`, where monitors are
 * that no page shows; the key is the password of HTTP Basic, without a user. It takes 60 requests a minute.
 */

import { z } from 'zod';
import { type Learned, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { MINUTE_MS } from '../../../model/time.ts';
import {
  ask,
  attemptOne,
  type Connector,
  explainMissing,
  type Pull,
  type PullContext,
  type Question,
} from '../../connector.ts';
import { externalIdOf, newDetails, note, uniqueMonitors } from '../items.ts';
import { BaseUrlSchema, endpointAddress, SecretSchema } from '../wire.ts';
import {
  IMPACTS,
  projectIncidents,
  projectMaintenances,
  projectMetrics,
  projectPage,
  STATUS_STATES,
} from './project.ts';
import {
  HeartbeatsSchema,
  ID_FIELD,
  IncidentHistorySchema,
  type Metric,
  MetricsSchema,
  type Page,
  PageSchema,
} from './schema.ts';

const OptionsSchema = z.strictObject({
  url: BaseUrlSchema.describe('Address of Uptime Kuma.'),
  page: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,255}$/, 'expected the slug of a status page')
    .describe('Slug of one of its status pages, as in /status/<slug>.'),
  apiKey: SecretSchema.optional().describe(
    'API key. With it, monitors that are on no page are read too, but never shown publicly.',
  ),
});
type Options = z.output<typeof OptionsSchema>;

/** How often the response times of the beats since are kept. */
const DETAIL_AGE_MIN_MS = 5 * MINUTE_MS;

function pageQuestion<T>(
  { url, page }: Options,
  asked: Pick<Question<T>, 'name' | 'schema'>,
  [before = '', after = '']: readonly string[] = [],
): Question<T> {
  return {
    ...asked,
    priority: 'list',
    method: 'GET',
    url: endpointAddress(url, `/api/status-page/${before}${encodeURIComponent(page)}${after}`),
    headers: {},
    isConditional: true,
  };
}

function metricsQuestion(options: Options, apiKey: string): Question<Metric[]> {
  return {
    name: 'metrics',
    priority: 'list',
    method: 'GET',
    url: endpointAddress(options.url, '/metrics'),
    reads: 'text',
    headers: { authorization: `Basic ${Buffer.from(`:${apiKey}`).toString('base64')}` },
    schema: MetricsSchema,
  };
}

interface Answers {
  readonly page: Page;
  readonly heartbeats: Readonly<Record<string, unknown>>;
  /** Empty: it was not read, or this version has none. */
  readonly history: readonly unknown[];
  /** Null: they were not read. */
  readonly metrics: readonly Metric[] | null;
  readonly problems: readonly Problem[];
}

/** The page and its beats, which are needed, and what may be missing without them: the history and the metrics. */
function* readAll(options: Options): Pull<Answers> {
  const { payload: page } = yield* ask(pageQuestion(options, { name: 'page', schema: PageSchema }));
  const beats = { name: 'heartbeats', schema: HeartbeatsSchema };
  const { heartbeatList } = (yield* ask(pageQuestion(options, beats, ['heartbeat/']))).payload;
  const problems: Problem[] = [];
  let history: readonly unknown[] = [];
  // Version 1 has one incident and no history.
  if (page.incidents != null) {
    const asked = { name: 'incident history', schema: IncidentHistorySchema };
    const answer = yield* attemptOne(pageQuestion(options, asked, ['', '/incident-history']));
    if (answer.kind === 'ok') history = answer.payload.incidents;
    else if (answer.kind === 'skipped' || answer.error.context['status'] !== 404)
      problems.push(note('incident-history', explainMissing(answer)));
  }
  if (options.apiKey === undefined) return { page, heartbeats: heartbeatList, history, metrics: [], problems };
  const answer = yield* attemptOne(metricsQuestion(options, options.apiKey));
  if (answer.kind !== 'ok') problems.push(note('metrics', explainMissing(answer)));
  const metrics = answer.kind === 'ok' ? answer.payload : null;
  return { page, heartbeats: heartbeatList, history, metrics, problems };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const { upstreamId, now, memory } = context;
  const { page, heartbeats, history, metrics, problems } = yield* readAll(options);
  const shown = projectPage(page.publicGroupList, heartbeats, { upstreamId, now });
  const known = new Set(shown.monitors.flatMap(({ id, name }) => [externalIdOf(id), name]));
  const others = projectMetrics(metrics ?? [], { upstreamId, shown: known });
  const all = uniqueMonitors([...shown.monitors, ...others.monitors]);
  const monitors = shown.monitors.map(({ id }) => id);
  const open = memory.openStories ?? new Map();
  const incidents = projectIncidents(page, history, { upstreamId, monitors, now, open });
  const maintenances = projectMaintenances(page, { upstreamId, monitors });
  return {
    ...NOTHING_LEARNED,
    monitors: all.monitors,
    changedAt: shown.changedAt,
    incidents: incidents.incidents,
    maintenances: maintenances.maintenances,
    details: newDetails(shown.details, context, DETAIL_AGE_MIN_MS),
    problems: [
      ...problems,
      ...shown.problems,
      ...others.problems,
      ...all.problems,
      ...incidents.problems,
      ...maintenances.problems,
    ],
    itemsTotal: shown.itemsTotal + (metrics ?? []).length + incidents.itemsTotal + maintenances.itemsTotal,
    stale: incidents.isSure ? [] : ['incidents'],
    isPartial: metrics === null,
  };
}

export const uptimeKuma: Connector<Options> = {
  kind: 'uptime-kuma',
  title: 'a status page of Uptime Kuma and, with a key, its other monitors',
  example: {
    id: 'kuma',
    kind: 'uptime-kuma',
    url: 'https://kuma.example.com',
    page: 'default',
    apiKey: '${KUMA_KEY}',
  },
  questions: [
    { key: 'url', words: 'Address of Uptime Kuma' },
    { key: 'page', words: 'Slug of its status page', suggestion: 'default' },
    {
      key: 'apiKey',
      words: 'Environment variable with an API key, for monitors that are on no page (empty: none)',
      suggestion: '',
    },
  ],
  optionsSchema: OptionsSchema,
  limits: { perMinute: 60, perHour: null },
  idField: ID_FIELD,
  words: { status: [...STATUS_STATES.keys()] as number[], style: Object.keys(IMPACTS) },
  pull,
};
