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
  type Query,
} from '../../connector.ts';
import { externalIdOf, newDetails, note, uniqueMonitors } from '../items.ts';
import { BaseUrlSchema, endpointAddress, SecretSchema } from '../wire.ts';
import {
  HeartbeatsSchema,
  IMPACTS,
  IncidentHistorySchema,
  MetricsSchema,
  PageSchema,
  projectIncidents,
  projectMaintenances,
  projectMetrics,
  projectPage,
  STATUS_STATES,
} from './project.ts';

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

function pageQuery<T>({ url }: Options, path: string, asked: Pick<Query<T>, 'name' | 'schema'>): Query<T> {
  return { ...asked, url: endpointAddress(url, `/api/status-page/${path}`), isConditional: true };
}

/**
 * The page and its beats, which are needed, and what may be missing without them: the history (empty: it was not read, or this
 * version has none) and the metrics (null: they were not read).
 */
function* readAll(options: Options, problems: Problem[]) {
  const path = encodeURIComponent(options.page);
  const { payload: page } = yield* ask(pageQuery(options, path, { name: 'page', schema: PageSchema }));
  const beats = { name: 'heartbeats', schema: HeartbeatsSchema };
  const { heartbeatList: heartbeats } = (yield* ask(pageQuery(options, `heartbeat/${path}`, beats))).payload;
  let history: readonly unknown[] = [];
  // Version 1 has one incident and no history.
  if (page.incidents != null) {
    const asked = { name: 'incident history', schema: IncidentHistorySchema };
    const answer = yield* attemptOne(pageQuery(options, `${path}/incident-history`, asked));
    if (answer.kind === 'ok') history = answer.payload.incidents;
    else if (answer.kind === 'skipped' || answer.error.context['status'] !== 404)
      problems.push(note('incident-history', explainMissing(answer)));
  }
  if (options.apiKey === undefined) return { page, heartbeats, history, metrics: [] };
  const answer = yield* attemptOne({
    name: 'metrics',
    url: endpointAddress(options.url, '/metrics'),
    reads: 'text',
    headers: { authorization: `Basic ${Buffer.from(`:${options.apiKey}`).toString('base64')}` },
    schema: MetricsSchema,
  });
  if (answer.kind !== 'ok') problems.push(note('metrics', explainMissing(answer)));
  return { page, heartbeats, history, metrics: answer.kind === 'ok' ? answer.payload : null };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const problems: Problem[] = [];
  const origin = { ...context, problems };
  const { page, heartbeats, history, metrics } = yield* readAll(options, problems);
  const shown = projectPage(page.publicGroupList, heartbeats, origin);
  const known = new Set(shown.monitors.flatMap(({ id, name }) => [externalIdOf(id), name]));
  const others = projectMetrics(metrics ?? [], known, origin);
  const monitors = uniqueMonitors([...shown.monitors, ...others], problems);
  const about = { ...origin, monitors: shown.monitors.map(({ id }) => id) };
  const { incidents, ...pinned } = projectIncidents(page, history, context.memory.openStories ?? new Map(), about);
  const maintenances = projectMaintenances(page, about);
  return {
    ...NOTHING_LEARNED,
    ...{ monitors, incidents, maintenances },
    changedAt: shown.changedAt,
    details: newDetails(shown.details, context, DETAIL_AGE_MIN_MS),
    problems,
    itemsTotal: shown.itemsTotal + (metrics ?? []).length + pinned.itemsTotal + page.maintenanceList.length,
    stale: pinned.isSure ? [] : ['incidents'],
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
  idField: 'id',
  words: { status: [...STATUS_STATES.keys()] as number[], style: Object.keys(IMPACTS) },
  pull,
};
