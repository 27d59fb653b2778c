/**
 * prometheus: queries of a Prometheus, each a monitor by its threshold; alerts of an Alertmanager as incidents.
 *
 * Each pass asks `/api/v1/query` once for each monitor, and `/api/v2/alerts` of the Alertmanager where one is configured. The
 * past of a monitor is asked once, newest first, by `/api/v1/query_range`, a day and then two weeks at a time, until a window is
 * empty. Headers as configured, for a proxy in front. No limits: it is the operator's own.
 */

import { type Incident, type Learned, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { counted } from '../../../schema/counted.ts';
import {
  type Answer,
  ask,
  attempt,
  attemptOne,
  type Connector,
  NO_LIMITS,
  type Probe,
  type Pull,
  type PullContext,
  whyMissing,
} from '../../connector.ts';
import { note, toWarnings, uniqueMonitors } from '../items.ts';
import { ALERT_STATES, projectAlerts } from './alerts.ts';
import { alertsQuestion, isBadQuery, type Options, OptionsSchema, queryQuestion, ruleOf } from './calls.ts';
import { INTRODUCTION } from './init.ts';
import { readPast } from './past.ts';
import { monitorOf, projectQuery, RESULT_TYPES } from './project.ts';
import { ID_FIELD, parseSelector, type QueryAnswer } from './schema.ts';

/** The states of all monitors. A query that cannot be carried out is unknown and told; any other failure is the pass'. */
function* readStates(
  options: Options,
  { upstreamId, now }: PullContext,
): Pull<Pick<Learned, 'monitors' | 'problems' | 'itemsTotal'>> {
  const answers = yield* attempt(
    options.monitors.map(({ query }) =>
      queryQuestion(options, '/api/v1/query', { query }, { name: 'query', priority: 'list' }),
    ),
  );
  const failures = answers.flatMap((answer) => (answer.kind === 'failed' ? [answer.error] : []));
  const fault =
    failures.find((error) => !isBadQuery(error)) ?? (failures.length === answers.length ? failures[0] : undefined);
  if (fault !== undefined) throw fault;
  const seen = options.monitors.map((monitor, index) => {
    const answer: Answer<QueryAnswer> = answers[index] ?? { kind: 'skipped' };
    const rule = ruleOf(monitor);
    if (answer.kind === 'ok') return projectQuery(rule, answer.payload, { upstreamId, now });
    const problem = note(`monitors.${monitor.id}`, whyMissing(answer));
    return { monitor: monitorOf(rule, upstreamId), problems: [problem], itemsTotal: 1 };
  });
  return {
    monitors: uniqueMonitors(seen.map(({ monitor }) => monitor)).monitors,
    problems: seen.flatMap(({ problems }) => problems),
    itemsTotal: seen.reduce((sum, { itemsTotal }) => sum + itemsTotal, 0),
  };
}

interface Alerts {
  readonly incidents: readonly Incident[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
  readonly isSure: boolean;
}

function* readAlerts(options: Options, { upstreamId, now, memory }: PullContext): Pull<Alerts> {
  if (options.alertmanager === undefined) return { incidents: [], problems: [], itemsTotal: 0, isSure: true };
  const answer = yield* attemptOne(alertsQuestion(options, options.alertmanager));
  if (answer.kind !== 'ok')
    return { incidents: [], problems: [note('alerts', whyMissing(answer))], itemsTotal: 0, isSure: false };
  const rules = options.monitors.map(({ id, alerts }) => ({
    id,
    selectors: alerts.map((text) => parseSelector(text) ?? {}),
  }));
  const open = memory.openStories ?? new Map();
  return { ...projectAlerts(answer.payload, { upstreamId, rules, now, open }), itemsTotal: answer.payload.length };
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
    problems: [...states.problems, ...alerts.problems],
    itemsTotal: states.itemsTotal + alerts.itemsTotal,
    stale: alerts.isSure ? [] : ['incidents'],
    isBackfilled: past.isWhole,
  };
}

function* probe(options: Options, context: PullContext): Pull<Probe> {
  const { monitors, problems } = yield* readStates(options, context);
  const found: Problem[] = [...problems];
  let alerts = '';
  if (options.alertmanager !== undefined) {
    const { payload } = yield* ask(alertsQuestion(options, options.alertmanager));
    alerts = `, ${counted(payload.length, 'alerts')}`;
    if (options.monitors.every((monitor) => monitor.alerts.length === 0))
      found.push(note('alertmanager', 'no monitor lists alerts, so none are shown'));
  }
  return {
    summary: `${counted(monitors.length, 'queries')}${alerts}`,
    warnings: toWarnings(found),
    monitorsTotal: monitors.length,
  };
}

export const prometheus: Connector<Options> = {
  ...INTRODUCTION,
  kind: 'prometheus',
  optionsSchema: OptionsSchema,
  limits: NO_LIMITS,
  idField: ID_FIELD,
  words: { resultType: RESULT_TYPES, state: ALERT_STATES },
  pull,
  probe,
};
