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
  attemptEach,
  attemptOne,
  type Connector,
  explainMissing,
  type Probe,
  type Pull,
  type PullContext,
  type Query,
} from '../../connector.ts';
import { completeList, detailsDue, idIn, note } from '../items.ts';
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
  MaintenanceAnswerSchema,
  type MonitorAnswer,
  MonitorAnswerSchema,
  type Options,
  OptionsSchema,
  query,
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
  const problems = [...states.problems];
  const zone = options.timezone ?? utcOffset(states.status.timestamp);
  const origin: Origin = { ...context, zone, problems };
  const projected = projectMonitors(states.items, origin);
  const found = yield* readIncidents(options, origin, states.status.active_incidents);
  const monitors = states.isContradicted || found.isContradicted ? withoutWellness(projected) : projected;
  const windows = yield* readMaintenances(options, origin);
  const { details, backfilled } = yield* readDetails(options, origin, { monitors, found });
  const { isContradicted: _, isWhole: __, ...learned } = found;
  return {
    ...NOTHING_LEARNED,
    ...learned,
    ...{ monitors, maintenances: windows.maintenances, details, problems, backfilled },
    itemsTotal: states.items.length + found.itemsTotal,
    stale: [...found.stale, ...windows.stale],
    complete: [...found.complete, ...windows.complete],
  };
}

type FoundWindows = Pick<Learned, 'maintenances' | 'stale' | 'complete'>;

function* readMaintenances(options: Options, origin: Origin): Pull<FoundWindows> {
  if (!options.maintenance) return NOTHING_LEARNED;
  const asked = { name: 'maintenance', priority: 'incident', schema: MaintenanceAnswerSchema } as const;
  const answer = yield* attemptOne(query(options, '/maintenance', asked));
  if (answer.kind === 'ok') {
    const ids = answer.payload.map((item) => idIn(item));
    // It isn't documented whether the list contains past windows.
    const complete = completeList('maintenances', `${origin.upstreamId}/maintenance-`, ids, origin.now);
    return { maintenances: projectMaintenances(answer.payload, origin), stale: [], complete };
  }
  origin.problems.push(note('/maintenance', explainMissing(answer)));
  // If the address is missing or has another shape, there is no maintenance. After other errors, known data stays.
  const isAbsent = answer.kind === 'failed' && ['UPSTREAM_REFUSED', 'UPSTREAM_SHAPE'].includes(answer.error.code);
  return { ...NOTHING_LEARNED, stale: isAbsent ? [] : ['maintenances'] };
}

/** Reads uptime and logs, first of the monitors with the oldest details. */
function* readDetails(
  options: Options,
  origin: Origin,
  { monitors, found }: { readonly monitors: readonly MonitorObservation[]; readonly found: Found },
): Pull<{ readonly details: MonitorDetail[]; readonly backfilled: MonitorId[] }> {
  const toQuery = (id: string): Query<MonitorAnswer> => {
    const schema = MonitorAnswerSchema.refine(({ monitor }) => monitor.id === id, 'is of another monitor');
    const search = { include_uptime: 1, uptime_days: 90, include_logs: 1, logs_limit: 100 };
    const asked = { name: 'monitor detail', priority: 'detail', schema } as const;
    return query(options, `/monitors/${encodeURIComponent(id)}`, asked, search);
  };
  const due = detailsDue(monitors, origin, DETAIL_AGE_MIN_MS);
  const details: MonitorDetail[] = [];
  const backfilled: MonitorId[] = [];
  for (const { item: id, answer } of yield* attemptEach(due, toQuery, DETAILS_PER_PASS)) {
    if (answer.kind !== 'ok') continue;
    const outages = yield* readPastOutages(options, origin, { found, answer: answer.payload });
    // Its past is requested again with its next details.
    if (outages !== 'later') backfilled.push(toMonitorId(origin.upstreamId, id));
    details.push(projectDetail(answer.payload, origin, answer.at, outages === 'later' ? null : outages));
  }
  return { details, backfilled };
}

/**
 * The outages of a monitor that is looked at for the first time; null when its past is known already. They are asked
 * for one by one only when checks failed and the list of all incidents is not at hand.
 */
function* readPastOutages(
  options: Options,
  origin: Origin,
  { found, answer: { monitor } }: { readonly found: Found; readonly answer: MonitorAnswer },
): Pull<readonly Interval[] | null | 'later'> {
  if (origin.memory.backfilledMonitors?.has(monitor.id) === true) return null;
  const hasFailedChecks = (monitor.uptime?.up_checks ?? 0) < (monitor.uptime?.total_checks ?? 0);
  const id = toMonitorId(origin.upstreamId, monitor.id);
  if (found.isWhole || !hasFailedChecks) return findOutages(found.incidents, id, origin.now);
  const search = { monitor_id: monitor.id };
  const asking = { name: 'list incidents of a monitor', priority: 'backfill', search } as const;
  const listed = yield* readListed(options, asking, []);
  if (listed.kind !== 'ok') return 'later';
  return findOutages(projectIncidents(listed.items, { ...origin, problems: [] }), id, origin.now);
}

function* probe(options: Options): Pull<Probe> {
  const test = yield* ask(query(options, '/test', { name: 'test', schema: TestAnswerSchema }));
  const status = yield* ask(query(options, '/status', { name: 'status', schema: StatusAnswerSchema }));
  const client = test.payload.client_id ?? null;
  return {
    summary: `key valid${client === null ? '' : `, client ${client}`}`,
    warnings: [],
    monitorsTotal: CountSchema.nullish().catch(null).parse(status.payload.status.total) ?? null,
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
  idField: 'id',
  words: { status: Object.keys(STATE_WORDS) },
  pull,
  probe,
};
