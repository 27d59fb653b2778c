/**
 * prometheus: queries of a Prometheus, each a monitor by its threshold; alerts of an Alertmanager as incidents.
 *
 * Each pass asks `/api/v1/query` once for each monitor, and `/api/v2/alerts` of the Alertmanager where one is configured, with
 * `/api/v2/status` where an alert is missing. The past of a monitor is asked once, newest first, by `/api/v1/query_range`, a day and then two weeks at a time, until a window is
 * empty. Headers as configured, for a proxy in front. No limits: it is the operator's own.
 */

import { z } from 'zod';
import { StatusError } from '../../../errors.ts';
import {
  type Learned,
  type MonitorDetail,
  type MonitorObservation,
  NOTHING_LEARNED,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { combinedState } from '../../../model/state.ts';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from '../../../model/time.ts';
import { IdSchema } from '../../../schema/scalars.ts';
import {
  type Answer,
  attemptEach,
  attemptOne,
  type Connector,
  explainMissing,
  type Pull,
  type PullContext,
  type Query,
} from '../../connector.ts';
import { note, uniqueById, unknownMonitor } from '../items.ts';
import { createDetail } from '../measurements.ts';
import { BaseUrlSchema, endpointAddress, HeadersSchema, NameSchema } from '../wire.ts';
import {
  ALERT_STATES,
  AlertmanagerSchema,
  AlertsSchema,
  ConditionSchema,
  ID_FIELD,
  parseCondition,
  parseSelector,
  projectAlerts,
  projectQuery,
  projectRange,
  type QueryAnswer,
  QueryAnswerSchema,
  RESULT_TYPES,
  type Rule,
  readFault,
  SelectorSchema,
} from './project.ts';

const MonitorSchema = z.strictObject({
  id: IdSchema.describe('Part of `<upstream id>/<id>`.'),
  name: NameSchema.describe('Shown on pages.'),
  query: z.string().min(1).max(4_096).describe('PromQL that returns one or more numbers; no number means unknown.'),
  up: ConditionSchema.default('>0').describe('Condition for up; otherwise it is a major outage.'),
  degraded: ConditionSchema.optional().describe('Condition for degraded while it is up.'),
  alerts: z
    .array(SelectorSchema)
    .default([])
    .describe('Alerts about this monitor, by name and labels: Down{job="api"}. Others are never shown.'),
});
type MonitorOptions = z.output<typeof MonitorSchema>;

const OptionsSchema = z
  .strictObject({
    url: BaseUrlSchema.describe('Address of Prometheus, without /api/v1.'),
    monitors: z
      .array(MonitorSchema)
      .min(1)
      .default([{ id: 'targets', name: 'Targets', query: 'up', up: '>0', alerts: [] }])
      .describe('Queries with thresholds. Default: one that covers all scraped targets.'),
    alertmanager: BaseUrlSchema.optional().describe(
      'Address of Alertmanager, without /api/v2. Default: none, so there are no incidents.',
    ),
    headers: HeadersSchema.describe('Headers sent with each request, such as Authorization.'),
  })
  .refine(({ monitors }) => new Set(monitors.map(({ id }) => id)).size === monitors.length, {
    path: ['monitors'],
    error: 'two monitors have the same id',
  });
type Options = z.output<typeof OptionsSchema>;

/** Statuses of a query that Prometheus cannot carry out; it says so of this query and not of itself. */
const BAD_QUERY = [400, 422];

/** What the Alertmanager knows of: alerts that are not over, or when it started. */
function askAlertmanager<T>(
  { alertmanager = '', headers }: Options,
  path: string,
  asked: Pick<Query<T>, 'name' | 'schema'>,
): Pull<Answer<T>> {
  return attemptOne({ ...asked, priority: 'incident', url: endpointAddress(alertmanager, path), headers });
}

/** A monitor of the configuration with its conditions read. */
const toRule = ({ id, up, degraded }: MonitorOptions): Rule => ({
  id,
  up: parseCondition(up),
  degraded: degraded === undefined ? null : parseCondition(degraded),
});

/**
 * Prometheus gives no more than 11,000 samples of a series at once: a day and more closely, what is before in two minutes' steps.
 * Windows begin and end at noon and midnight (UTC), so that the same are asked for in the passes that follow.
 */
const LAST_MS = 12 * HOUR_MS;
const LAST_STEP_MS = 15 * SECOND_MS;
const STEP_MS = 2 * MINUTE_MS;
const WINDOW_MS = 14 * DAY_MS;
const PAST_MS = 91 * DAY_MS;

/** `end`: the last sample; it holds for one step. */
type Window = Readonly<Record<'start' | 'end' | 'stepMs', number>>;

/** Windows that meet each other: the one that ends now, the day before it, and older ones, the newest first. */
function pastWindows(now: EpochMs) {
  const last = Math.floor(now / LAST_MS) * LAST_MS;
  const older: Window[] = [];
  for (let until = last - DAY_MS; until > last - PAST_MS; until -= WINDOW_MS)
    older.push({ start: Math.max(until - WINDOW_MS, last - PAST_MS), end: until - STEP_MS, stepMs: STEP_MS });
  const stepMs = LAST_STEP_MS;
  const present = { start: last, end: Math.floor(now / stepMs) * stepMs, stepMs };
  return { present, day: { start: last - DAY_MS, end: last - stepMs, stepMs }, older };
}

function rangeQuery(
  { url, headers }: Options,
  { query }: MonitorOptions,
  { start, end, stepMs }: Window,
): Query<QueryAnswer> {
  const range = { start: start / SECOND_MS, end: end / SECOND_MS, step: stepMs / SECOND_MS };
  return {
    name: 'query the past',
    priority: 'backfill',
    url: endpointAddress(url, '/api/v1/query_range', { query, ...range }),
    headers,
    schema: QueryAnswerSchema,
    acceptStatuses: BAD_QUERY,
  };
}

/** The past of the monitors of which it was never asked for, of one after the other. */
function* readPast(options: Options, context: PullContext): Pull<{ details: MonitorDetail[]; isWhole: boolean }> {
  const details: MonitorDetail[] = [];
  const due = options.monitors.filter(({ id }) => !context.memory.detailFetchedAt.has(id));
  const { day } = pastWindows(context.now);
  let left = due;
  while (left.length > 0) {
    const waiting: MonitorOptions[] = [];
    const toQuery = (monitor: MonitorOptions): Query<QueryAnswer> => rangeQuery(options, monitor, day);
    for (const { item: monitor, answer } of yield* attemptEach(left, toQuery, 1)) {
      if (answer.kind === 'ok') details.push(...(yield* readMonitorPast(options, monitor, context, answer.payload)));
      if (answer.kind === 'skipped') waiting.push(monitor);
    }
    // Nothing came of it: there is no room for more.
    if (waiting.length === left.length) break;
    left = waiting;
  }
  return { details, isWhole: details.length === due.length };
}

/** Back to the first window without a sample. Empty: it has to wait, since not all answers came. */
function* readMonitorPast(
  options: Options,
  monitor: MonitorOptions,
  { upstreamId, now }: PullContext,
  lastDay: QueryAnswer,
): Pull<MonitorDetail[]> {
  const { present, day, older } = pastWindows(now);
  const spansIn = (answer: QueryAnswer, { start, end, stepMs }: Window): MonitorDetail['reportedSpans'] =>
    projectRange(toRule(monitor), answer, { from: start, until: Math.min(end + stepMs, now), stepMs }) ?? [];
  const windows = [spansIn(lastDay, day)];
  for (const window of older) {
    if (windows.at(-1)?.length === 0) break;
    const answer = yield* attemptOne(rangeQuery(options, monitor, window));
    if (answer.kind !== 'ok') return [];
    windows.push(spansIn(answer.payload, window));
  }
  const answer = yield* attemptOne(rangeQuery(options, monitor, present));
  if (answer.kind !== 'ok') return [];
  windows.unshift(spansIn(answer.payload, present));
  const reportedSpans = windows.toReversed().flat();
  return [createDetail(toMonitorId(upstreamId, monitor.id), now, { reportedSpans })];
}

/** The states of all monitors. A query that cannot be carried out is unknown and told; any other failure is the pass'. */
function* readStates({ url, headers, monitors }: Options, { upstreamId, now }: PullContext) {
  const answers = yield* attemptEach(monitors, ({ query }) => ({
    name: 'query',
    url: endpointAddress(url, '/api/v1/query', { query }),
    headers,
    schema: QueryAnswerSchema,
    acceptStatuses: BAD_QUERY,
  }));
  for (const { answer } of answers) if (answer.kind === 'failed') throw answer.error;
  const faults = answers.flatMap(({ answer }) => (answer.kind === 'ok' ? (readFault(answer.payload) ?? []) : []));
  if (faults.length === answers.length)
    throw new StatusError({ code: 'UPSTREAM_REFUSED', message: `${faults[0]}. Check the queries and the address.` });
  const problems: Problem[] = [];
  let itemsTotal = 0;
  const observed = answers.map(({ item: monitor, answer }): MonitorObservation => {
    if (answer.kind !== 'ok') problems.push(note(`monitors.${monitor.id}`, explainMissing(answer)));
    const states =
      answer.kind === 'ok' ? projectQuery(toRule(monitor), answer.payload, now, problems) : (['unknown'] as const);
    itemsTotal += states.length;
    return { ...unknownMonitor(upstreamId, monitor.id, 'query'), name: monitor.name, state: combinedState(states) };
  });
  return { monitors: uniqueById(observed), problems, itemsTotal };
}

/** Within this time after its start, an Alertmanager is sent everything that fires: a minute or two by default. */
const REFILL_MS = 5 * MINUTE_MS;

const NO_ALERTS: ReturnType<typeof projectAlerts> = { incidents: [], problems: [], itemsTotal: 0, isSure: true };

function* readAlerts(options: Options, context: PullContext): Pull<ReturnType<typeof projectAlerts>> {
  if (options.alertmanager === undefined) return NO_ALERTS;
  const answer = yield* askAlertmanager(options, '/api/v2/alerts', { name: 'list alerts', schema: AlertsSchema });
  if (answer.kind !== 'ok') return { ...NO_ALERTS, problems: [note('alerts', explainMissing(answer))], isSure: false };
  const rules = options.monitors.map(({ id, alerts }) => ({
    id,
    selectors: alerts.map((text) => parseSelector(text) ?? {}),
  }));
  const alerts = projectAlerts(answer.payload, rules, context, true);
  if (alerts.incidents.every(({ endedAt }) => endedAt === null)) return alerts;
  const reason = yield* readDoubt(options, context.now);
  if (reason === null) return alerts;
  const doubted = projectAlerts(answer.payload, rules, context, false);
  return { ...doubted, problems: [...doubted.problems, note('alerts', reason)] };
}

/**
 * Why alerts that are missing may still fire; null: they are over. An Alertmanager keeps them in memory and knows none after
 * a restart, until Prometheus sends them again, a minute or two later.
 */
function* readDoubt(options: Options, now: EpochMs): Pull<string | null> {
  const asked = { name: 'alertmanager status', schema: AlertmanagerSchema };
  const answer = yield* askAlertmanager(options, '/api/v2/status', asked);
  if (answer.kind !== 'ok')
    return `alerts are missing, and it is not known since when Alertmanager runs: ${explainMissing(answer)}`;
  const startedAt = answer.payload.uptime;
  if (now - startedAt >= REFILL_MS) return null;
  return `alerts are missing, but Alertmanager started at ${toIso(startedAt)} and may not know them yet`;
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const states = yield* readStates(options, context);
  const alerts = yield* readAlerts(options, context);
  const past = yield* readPast(options, context);
  return {
    ...NOTHING_LEARNED,
    monitors: states.monitors,
    incidents: alerts.incidents,
    details: past.details,
    problems: [...states.problems, ...alerts.problems, ...unusedAlertmanager(options)],
    itemsTotal: states.itemsTotal + alerts.itemsTotal,
    stale: alerts.isSure ? [] : ['incidents'],
    isBackfilled: past.isWhole,
  };
}

function unusedAlertmanager({ alertmanager, monitors }: Options): Problem[] {
  const isUsed = alertmanager === undefined || monitors.some(({ alerts }) => alerts.length > 0);
  return isUsed ? [] : [note('alertmanager', 'no monitor lists alerts, so none are shown')];
}

export const prometheus: Connector<Options> = {
  kind: 'prometheus',
  title: 'Prometheus queries with thresholds, and alerts from Alertmanager as incidents',
  example: {
    id: 'metrics',
    kind: 'prometheus',
    url: 'https://prometheus.example.com',
    monitors: [{ id: 'api', name: 'API', query: 'probe_success{job="api"}', up: '>0' }],
  },
  questions: [{ key: 'url', words: 'Address of Prometheus' }],
  optionsSchema: OptionsSchema,
  idField: ID_FIELD,
  words: { resultType: RESULT_TYPES, state: ALERT_STATES },
  pull,
};
