/**
 * server-monitor: a read-only API of monitors and incidents behind one key.
 *
 * Asks `/status` (the offset of naive times, the total), `/monitors` (all states in one answer), `/incidents` (100 a
 * page), `/incidents/{id}` for incidents that were open and are in no list, `/monitors/{id}` (uptime of 90 days, logs)
 * stalest first, and on request `/maintenance`. Limits: 60 a minute and 1,000 an hour. Key in `X-API-Key` or as Bearer.
 * Times without a zone take the offset of the same pass's `status.timestamp`, or the zone of the option `timezone`.
 */

import {
  type Learned,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  NOTHING_LEARNED,
  toMonitorId,
} from '../../../model/observation.ts';
import { type Interval, MINUTE_MS } from '../../../model/time.ts';
import {
  ask,
  attempt,
  attemptOne,
  type Connector,
  explainMissing,
  type Probe,
  type Pull,
  type PullContext,
} from '../../connector.ts';
import { detailsDue, idIn } from '../items.ts';
import { CountSchema } from '../wire.ts';
import {
  type Found,
  findOutages,
  type Origin,
  projectDetail,
  projectIncidents,
  projectMaintenances,
  projectMonitors,
  readIncidents,
  readListed,
  STATE_WORDS,
} from './project.ts';
import {
  ID_FIELD,
  MaintenanceAnswerSchema,
  type MonitorAnswer,
  MonitorAnswerSchema,
  type Options,
  OptionsSchema,
  question,
  readStates,
  StatusAnswerSchema,
  TestAnswerSchema,
  utcOffset,
  withoutWellness,
} from './schema.ts';

/** Maximum number of details per pass: together with the lists, below the documented 60 requests a minute. */
const DETAILS_PER_PASS = 50;
/** Newer details aren't requested again, because their figures cover days. */
const DETAIL_AGE_MIN_MS = 5 * MINUTE_MS;
/** `/status`, `/monitors`, open and recent `/incidents`. */
const QUIET_PASS_CALLS = 4;

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const states = yield* readStates(options);
  const origin: Origin = {
    upstreamId: context.upstreamId,
    zone: options.timezone ?? utcOffset(states.status.data.timestamp),
  };
  const projected = projectMonitors(states.items, origin);
  const found = yield* readIncidents(options, context, { origin, active: states.status.data.active_incidents });
  const isDoubted = states.isContradicted || found.isContradicted;
  const monitors = isDoubted ? withoutWellness(projected.monitors) : projected.monitors;
  const windows = yield* readMaintenances(options, context, origin);
  const { details, backfilled } = yield* readDetails(options, context, { origin, monitors, found });
  const { isContradicted: _, isWhole: __, ...learned } = found;
  return {
    ...NOTHING_LEARNED,
    ...learned,
    monitors,
    maintenances: windows.maintenances,
    details,
    problems: [...projected.problems, ...states.problems, ...found.problems, ...windows.problems],
    itemsTotal: states.items.length + found.itemsTotal,
    stale: [...found.stale, ...windows.stale],
    complete: [...found.complete, ...windows.complete],
    backfilled,
  };
}

type FoundWindows = Pick<Learned, 'maintenances' | 'problems' | 'stale' | 'complete'>;

function* readMaintenances(options: Options, { now }: PullContext, origin: Origin): Pull<FoundWindows> {
  if (!options.maintenance) return { maintenances: [], problems: [], stale: [], complete: [] };
  const answer = yield* attemptOne(
    question(options, {
      name: 'maintenance',
      priority: 'incident',
      path: '/maintenance',
      schema: MaintenanceAnswerSchema,
    }),
  );
  if (answer.kind === 'ok') {
    const items = answer.payload.data;
    const prefix = `${origin.upstreamId}/maintenance-`;
    const ids = items.map((item) => idIn(item, ID_FIELD));
    const isTold = ids.every((id) => id !== null);
    // It isn't documented whether the list contains past windows.
    const complete = { part: 'maintenances', prefix, since: now, ids: ids.map((id) => `${prefix}${id}`) } as const;
    return { ...projectMaintenances(items, origin), stale: [], complete: isTold ? [complete] : [] };
  }
  // If the address is missing or has another shape, there is no maintenance. After other errors, known data stays.
  const isAbsent = answer.kind === 'failed' && ['UPSTREAM_REFUSED', 'UPSTREAM_SHAPE'].includes(answer.error.code);
  return {
    maintenances: [],
    problems: [{ kind: 'note', place: '/maintenance', message: explainMissing(answer) }],
    stale: isAbsent ? [] : ['maintenances'],
    complete: [],
  };
}

/** Reads uptime and logs, first of the monitors with the oldest details. */
function* readDetails(
  options: Options,
  context: PullContext,
  { origin, monitors, found }: { origin: Origin; monitors: readonly MonitorObservation[]; found: Found },
): Pull<{ readonly details: MonitorDetail[]; readonly backfilled: readonly MonitorId[] }> {
  const due = detailsDue(monitors, context, DETAIL_AGE_MIN_MS);
  const answers = yield* attempt(
    due.map((id) =>
      question(options, {
        name: 'monitor detail',
        priority: 'detail',
        path: `/monitors/${encodeURIComponent(id)}`,
        query: { include_uptime: 1, uptime_days: 90, include_logs: 1, logs_limit: 100 },
        schema: MonitorAnswerSchema.refine(({ data }) => data.monitor.id === id, 'is of another monitor'),
      }),
    ),
    DETAILS_PER_PASS,
  );
  const details: MonitorDetail[] = [];
  const backfilled: MonitorId[] = [];
  for (const [index, answer] of answers.entries()) {
    const id = due[index];
    if (answer.kind !== 'ok' || id === undefined) continue;
    const past = yield* readPastOutages(options, { context, origin, found, id, answer: answer.payload });
    // Its past is requested again with its next details.
    if (past !== 'later') backfilled.push(toMonitorId(context.upstreamId, id));
    details.push(
      projectDetail(answer.payload, origin, { fetchedAt: answer.at, outages: past === 'later' ? null : past }),
    );
  }
  return { details, backfilled };
}

/**
 * The outages of a monitor that is looked at for the first time; null when its past is known already. They are asked
 * for one by one only when checks failed and the list of all incidents is not at hand.
 */
function* readPastOutages(
  options: Options,
  facts: { context: PullContext; origin: Origin; found: Found; id: string; answer: MonitorAnswer },
): Pull<readonly Interval[] | null | 'later'> {
  const { context, origin, found, id, answer } = facts;
  if (context.memory.backfilledMonitors?.has(id) === true) return null;
  const uptime = answer.data.monitor.uptime;
  const hasFailedChecks = (uptime?.up_checks ?? 0) < (uptime?.total_checks ?? 0);
  if (found.isWhole || !hasFailedChecks)
    return findOutages(found.incidents, toMonitorId(context.upstreamId, id), context.now);
  const listed = yield* readListed(options, {
    name: 'list incidents of a monitor',
    priority: 'backfill',
    query: { monitor_id: id },
  });
  if (listed.kind !== 'ok') return 'later';
  const { incidents } = projectIncidents(listed.items, origin);
  return findOutages(incidents, toMonitorId(context.upstreamId, id), context.now);
}

function* probe(options: Options): Pull<Probe> {
  const test = yield* ask(
    question(options, { name: 'test', priority: 'list', path: '/test', schema: TestAnswerSchema }),
  );
  const status = yield* ask(
    question(options, { name: 'status', priority: 'list', path: '/status', schema: StatusAnswerSchema }),
  );
  const client = test.payload.data.client_id ?? null;
  return {
    summary: `key valid${client === null ? '' : `, client ${client}`}`,
    warnings: [],
    monitorsTotal: CountSchema.nullish().catch(null).parse(status.payload.data.status.total) ?? null,
    listCalls: QUIET_PASS_CALLS + (options.maintenance ? 1 : 0),
  };
}

export const serverMonitor: Connector<Options> = {
  kind: 'server-monitor',
  title: 'monitors of a server-monitor API, read-only',
  example: {
    id: 'edge',
    kind: 'server-monitor',
    baseUrl: 'https://monitor.example.com/api',
    apiKey: '${EDGE_KEY}',
  },
  questions: [
    { key: 'baseUrl', words: 'Address of its API' },
    { key: 'apiKey', words: 'Environment variable with its key' },
  ],
  optionsSchema: OptionsSchema,
  limits: { perMinute: 60, perHour: 1_000 },
  idField: ID_FIELD,
  words: { status: Object.keys(STATE_WORDS) },
  pull,
  probe,
};
