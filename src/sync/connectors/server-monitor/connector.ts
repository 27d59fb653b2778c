/**
 * server-monitor: a read-only API of monitors and incidents behind one key.
 *
 * Asks `/status` (the offset of naive times, the total), `/monitors` (all states in one answer), `/incidents` (100 a
 * page), `/incidents/{id}` for incidents that were open and are in no list, `/monitors/{id}` (uptime of 90 days, logs)
 * stalest first, and on request `/maintenance`. Limits: 60 a minute and 1,000 an hour. Key in `X-API-Key` or as Bearer.
 * Times without a zone take the offset of the same pass's `status.timestamp`, or the zone of the option `timezone`.
 */

import { z } from 'zod';
import {
  type Incident,
  type Learned,
  type MonitorDetail,
  type MonitorObservation,
  type Problem,
  type SnapshotPart,
  toMonitorId,
} from '../../../model/observation.ts';
import { DAY_MS, type Interval, MINUTE_MS } from '../../../model/time.ts';
import {
  ask,
  attempt,
  type Connector,
  NOTHING_LEARNED,
  type Priority,
  type Pull,
  type PullContext,
  type Question,
} from '../../connector.ts';
import { type Listing, type Reading, readPages, readStablePages, whyPartial } from '../paging.ts';
import { addressOf, BaseUrlSchema, IdSchema, idThereOf, parseInstant, SecretSchema, uniqueById } from '../wire.ts';
import {
  type Origin,
  outagesOf,
  projectDetail,
  projectIncidents,
  projectMaintenances,
  projectMonitors,
} from './project.ts';
import {
  IncidentAnswerSchema,
  type IncidentsAnswer,
  IncidentsAnswerSchema,
  MaintenanceAnswerSchema,
  type MonitorAnswer,
  MonitorAnswerSchema,
  MonitorsAnswerSchema,
  offsetOf,
  StatusAnswerSchema,
  TestAnswerSchema,
} from './schema.ts';

const OptionsSchema = z.strictObject({
  /** Address of the API's entry point; `/status` and the others follow it. */
  baseUrl: BaseUrlSchema,
  /** The key; `${NAME}` or `${file:…}` in the configuration. */
  apiKey: SecretSchema,
  /** How the key is sent: in the header X-API-Key, or as `Authorization: Bearer`. */
  auth: z.enum(['x-api-key', 'bearer']).default('x-api-key'),
  /** Only monitors of this type, as the upstream names it; default all. */
  type: z.string().min(1).max(100).optional(),
  /** IANA zone of times that carry none; default: the offset of the answer's own timestamp. */
  timezone: z
    .string()
    .refine((zone) => parseInstant('2026-01-01T00:00:00', zone) !== null, 'an IANA time zone')
    .optional(),
  /** Read `/maintenance` too. It is not documented and may be missing. */
  maintenance: z.boolean().default(false),
});
type Options = z.output<typeof OptionsSchema>;

/** The documented largest page. */
const PER_PAGE = 100;
/** 20,000 incidents; a total beyond that is a mistake of the upstream. */
const PAGES_MAX = 200;
/** Details asked in one pass at most: below the documented 60 a minute together with the lists. */
const DETAILS_PER_PASS = 50;
/** A detail younger than this is not asked again: its figures cover days. */
const DETAIL_AGE_MIN_MS = 5 * MINUTE_MS;
/** How far before the last look recent incidents are read again: an incident may be entered late. */
const RECENT_MARGIN_MS = DAY_MS;

function question<T>(
  options: Options,
  {
    name,
    priority,
    path,
    query,
    schema,
  }: { name: string; priority: Priority; path: string; query?: Record<string, string | number>; schema: z.ZodType<T> },
): Question<T> {
  return {
    name,
    priority,
    method: 'GET',
    url: addressOf(options.baseUrl, path, query),
    headers:
      options.auth === 'bearer' ? { authorization: `Bearer ${options.apiKey}` } : { 'x-api-key': options.apiKey },
    schema,
  };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const status = yield* ask(
    question(options, { name: 'status', priority: 'list', path: '/status', schema: StatusAnswerSchema }),
  );
  const listed = yield* ask(
    question(options, {
      name: 'list monitors',
      priority: 'list',
      path: '/monitors',
      ...(options.type === undefined ? {} : { query: { type: options.type } }),
      schema: MonitorsAnswerSchema,
    }),
  );
  const origin: Origin = {
    upstreamId: context.upstreamId,
    zone: options.timezone ?? offsetOf(status.payload.data.timestamp),
  };
  const { monitors, problems } = projectMonitors(listed.payload.data.monitors, origin);
  const found = yield* readIncidents(options, context, origin);
  const windows = yield* readMaintenances(options, origin);
  const details = yield* readDetails(options, context, { origin, monitors, found });
  const total = status.payload.data.status.total ?? null;
  if (total !== null && total !== listed.payload.data.monitors.length && options.type === undefined)
    problems.push({
      kind: 'note',
      place: 'status.total',
      message: `counts ${total}, the list has ${listed.payload.data.monitors.length}`,
    });
  return {
    ...NOTHING_LEARNED,
    monitors,
    incidents: found.incidents,
    maintenances: windows.maintenances,
    details,
    problems: [...problems, ...found.problems, ...windows.problems],
    itemsTotal: listed.payload.data.monitors.length + found.itemsTotal,
    stale: [...found.stale, ...windows.stale],
    isBackfilled: found.isBackfilled,
  };
}

interface Found {
  readonly incidents: readonly Incident[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
  readonly stale: readonly SnapshotPart[];
  readonly isBackfilled: boolean;
  /** Whether every incident of the past is in `incidents`. */
  readonly isWhole: boolean;
}

/** The open incidents, the past once, then only what is recent, and those that were open and are in no list. */
function* readIncidents(options: Options, context: PullContext, origin: Origin): Pull<Found> {
  const active = yield* readListed(options, {
    name: 'list open incidents',
    priority: 'incident',
    query: { active: 1 },
  });
  const past = context.memory.isBackfilled
    ? yield* readRecent(options, context, origin)
    : yield* readListed(options, { name: 'list all incidents', priority: 'backfill', query: {} });
  const items = [...active.items, ...past.items];
  const listed = projectIncidents(items, origin);
  const seen = new Set(listed.incidents.map((incident) => idThereOf(incident.id)));
  const missing = [...context.memory.openIncidents].filter((id) => !seen.has(id));
  const changed = yield* attempt(
    missing.map((id) =>
      question(options, {
        name: 'incident',
        priority: 'incident',
        path: `/incidents/${encodeURIComponent(id)}`,
        schema: IncidentAnswerSchema,
      }),
    ),
  );
  const asked = projectIncidents(
    changed.flatMap((answer) => (answer.kind === 'ok' ? [answer.payload.data.incident] : [])),
    origin,
  );
  // A refused id was deleted there; left out, it ends now. Any other failure keeps what is known.
  const isUnsure = changed.some(
    (answer) => answer.kind === 'skipped' || (answer.kind === 'failed' && answer.error.code !== 'UPSTREAM_REFUSED'),
  );
  const isStale = active.kind !== 'ok' || isUnsure;
  return {
    incidents: uniqueById([...listed.incidents, ...asked.incidents]).items,
    problems: [...active.problems, ...past.problems, ...listed.problems, ...asked.problems],
    itemsTotal: items.length + asked.incidents.length,
    stale: isStale ? ['incidents'] : [],
    // Beyond the ceiling there is nothing to wait for.
    isBackfilled: context.memory.isBackfilled || past.kind === 'ok' || past.kind === 'cut',
    isWhole: !context.memory.isBackfilled && past.kind === 'ok' && active.kind === 'ok',
  };
}

interface Listed {
  readonly items: readonly unknown[];
  readonly kind: Reading<unknown>['kind'];
  readonly problems: readonly Problem[];
}

interface IncidentQuery {
  readonly name: string;
  readonly priority: Priority;
  readonly query: Readonly<Record<string, string | number>>;
}

/** A list of incidents, whole when `kind` is ok; otherwise what could be read, which are facts all the same. */
function* readListed(options: Options, asking: IncidentQuery): Pull<Listed> {
  const reading = yield* readStablePages(listingOf(options, asking), {
    factsOf: ({ data }) => ({ total: data.pagination.total, ids: data.incidents.map(idOf) }),
    countsAll: true,
  });
  return listedOf(reading, asking.name);
}

function listedOf(reading: Reading<IncidentsAnswer>, place: string): Listed {
  const reason = whyPartial(reading);
  return {
    items: reading.pages.flatMap((page) => page.data.incidents),
    kind: reading.kind,
    problems: reason === null ? [] : [{ kind: 'note', place, message: reason }],
  };
}

/** The id of an item, or something that no other item has. */
function idOf(item: unknown): string {
  const parsed = z.object({ id: IdSchema }).safeParse(item);
  return parsed.success ? parsed.data.id : JSON.stringify(item);
}

function listingOf(options: Options, { name, priority, query }: IncidentQuery): Listing<IncidentsAnswer> {
  const pageQuestion = (page: number): Question<IncidentsAnswer> =>
    question(options, {
      name,
      priority,
      path: '/incidents',
      query: { ...query, page, per_page: PER_PAGE },
      schema: IncidentsAnswerSchema,
    });
  return {
    first: pageQuestion(1),
    next: ({ data }, index) => {
      const pagesTotal = data.pagination.total_pages ?? Math.ceil(data.pagination.total / PER_PAGE);
      return data.incidents.length === 0 || index + 1 >= pagesTotal ? null : pageQuestion(index + 2);
    },
    pagesMax: PAGES_MAX,
    isNeeded: false,
  };
}

/**
 * Incidents that began since shortly before our last look, so that one that came and went between two passes is not
 * missed. The order of the list is not documented: newest first stops early, any other order is read to its end.
 */
function* readRecent(options: Options, context: PullContext, origin: Origin): Pull<Listed> {
  const lastLook = Math.max(0, ...context.memory.detailFetchedAt.values());
  const since = lastLook === 0 ? 0 : lastLook - RECENT_MARGIN_MS;
  const asking: IncidentQuery = { name: 'list recent incidents', priority: 'incident', query: {} };
  const all = listingOf(options, asking);
  const reading = yield* readPages({
    ...all,
    next: (page, index) =>
      startsOf(page, origin).isNewestFirst && startsOf(page, origin).oldest < since ? null : all.next(page, index),
  });
  return listedOf(reading, asking.name);
}

function startsOf(page: IncidentsAnswer, origin: Origin): { isNewestFirst: boolean; oldest: number } {
  const starts = page.data.incidents.map((item) => {
    const parsed = z.object({ started_at: z.string() }).safeParse(item);
    return parsed.success ? (parseInstant(parsed.data.started_at, origin.zone) ?? Number.NaN) : Number.NaN;
  });
  const isNewestFirst =
    starts.length > 1 && starts.every((at, index) => index === 0 || at <= (starts[index - 1] ?? Number.NaN));
  return { isNewestFirst, oldest: Math.min(...starts) };
}

function* readMaintenances(
  options: Options,
  origin: Origin,
): Pull<{ maintenances: Learned['maintenances']; problems: readonly Problem[]; stale: readonly SnapshotPart[] }> {
  if (!options.maintenance) return { maintenances: [], problems: [], stale: [] };
  const [answer] = yield* attempt([
    question(options, {
      name: 'maintenance',
      priority: 'incident',
      path: '/maintenance',
      schema: MaintenanceAnswerSchema,
    }),
  ]);
  if (answer?.kind === 'ok') return { ...projectMaintenances(answer.payload.data, origin), stale: [] };
  const message = answer?.kind === 'failed' ? answer.error.message : 'waits for quota';
  // Missing or of another shape: there is none. Anything else may pass, and what is known stays.
  const isAbsent = answer?.kind === 'failed' && ['UPSTREAM_REFUSED', 'UPSTREAM_SHAPE'].includes(answer.error.code);
  return {
    maintenances: [],
    problems: [{ kind: 'note', place: '/maintenance', message }],
    stale: isAbsent ? [] : ['maintenances'],
  };
}

/** Uptime and logs of the monitors that were not asked for longest. */
function* readDetails(
  options: Options,
  context: PullContext,
  { origin, monitors, found }: { origin: Origin; monitors: readonly MonitorObservation[]; found: Found },
): Pull<MonitorDetail[]> {
  const age = (id: string): number => context.memory.detailFetchedAt.get(id) ?? 0;
  const due = monitors
    .map((monitor) => idThereOf(monitor.id))
    .filter((id) => context.now - age(id) >= DETAIL_AGE_MIN_MS)
    .toSorted((a, b) => age(a) - age(b))
    .slice(0, DETAILS_PER_PASS);
  const answers = yield* attempt(
    due.map((id) =>
      question(options, {
        name: 'monitor detail',
        priority: 'detail',
        path: `/monitors/${encodeURIComponent(id)}`,
        query: { include_uptime: 1, uptime_days: 90, include_logs: 1, logs_limit: 100 },
        schema: MonitorAnswerSchema,
      }),
    ),
  );
  const details: MonitorDetail[] = [];
  for (const [index, answer] of answers.entries()) {
    const id = due[index];
    if (answer.kind !== 'ok' || id === undefined || answer.payload.data.monitor.id !== id) continue;
    const past = yield* readPastOutages(options, { context, origin, found, id, answer: answer.payload });
    // Left out it counts as never fetched, and is asked again in the next pass.
    if (past === 'later') continue;
    details.push(projectDetail(answer.payload, origin, { fetchedAt: answer.at, outages: past }));
  }
  return details;
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
  if (context.memory.detailFetchedAt.has(id)) return null;
  const uptime = answer.data.monitor.uptime;
  const hasFailedChecks = (uptime?.up_checks ?? 0) < (uptime?.total_checks ?? 0);
  if (found.isWhole || !hasFailedChecks)
    return outagesOf(found.incidents, toMonitorId(context.upstreamId, id), context.now);
  const listed = yield* readListed(options, {
    name: 'list incidents of a monitor',
    priority: 'backfill',
    query: { monitor_id: id },
  });
  if (listed.kind !== 'ok') return 'later';
  const { incidents } = projectIncidents(listed.items, origin);
  return outagesOf(incidents, toMonitorId(context.upstreamId, id), context.now);
}

function* probe(options: Options): Pull<{ summary: string; warnings: string[]; monitorsTotal: number | null }> {
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
    monitorsTotal: status.payload.data.status.total ?? null,
  };
}

export const serverMonitor: Connector<Options> = {
  kind: 'server-monitor',
  optionsSchema: OptionsSchema,
  limits: { perMinute: 60, perHour: 1_000 },
  pull,
  probe,
};
