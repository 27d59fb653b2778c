/** Turns answers of the server-monitor API into observations. Times without an offset are local times in `zone`. */

import { z } from 'zod';
import {
  type CompleteList,
  type Incident,
  type Learned,
  type Maintenance,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  type ResponseTime,
  toMonitorId,
} from '../../../model/observation.ts';
import type { Span } from '../../../model/overlap.ts';
import { DAY_MS, type EpochMs, HOUR_MS, type Interval, later, toEpochMs } from '../../../model/time.ts';
import { type Answer, attempt, type Priority, type Pull, type PullContext, type Query } from '../../connector.ts';
import { createIncident, createMaintenance } from '../entries.ts';
import {
  asNotes,
  compareIds,
  externalIdOf,
  idIn,
  itemKey,
  losesOpen,
  note,
  parseItems,
  projectMonitorLists,
  uniqueById,
  uniqueOverlapping,
} from '../items.ts';
import { createDetail } from '../measurements.ts';
import { explainPartial, type Listing, type Reading, readPages, readStablePages } from '../paging.ts';
import { FlagSchema, NumberSchema, parseInstant, type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import {
  IncidentAnswerSchema,
  type IncidentItem,
  IncidentSchema,
  type IncidentsAnswer,
  IncidentsAnswerSchema,
  LOG_MS_FIELDS,
  LOG_TIME_FIELDS,
  LogRecordSchema,
  MaintenanceSchema,
  type MonitorAnswer,
  MonitorSchema,
  type Options,
  query,
  type Search,
  type Uptime,
} from './schema.ts';

/** The upstream of the answers, the time zone of their times, and what is wrong with them. */
export interface Origin {
  readonly upstreamId: string;
  /** IANA name or offset of times without one. */
  readonly zone: string;
  readonly problems: Problem[];
}

export const STATE_WORDS: StateWords = {
  up: 'operational',
  down: 'major_outage',
  pending: 'unknown',
  paused: 'paused',
};

/** Turns monitors into observations, sorted by id. Never throws. */
export function projectMonitors(items: readonly unknown[], { upstreamId, zone, problems }: Origin) {
  const project = (item: z.output<typeof MonitorSchema>, place: string): Partial<MonitorObservation> => {
    const { name, type, target, is_active: isActive, created_at: createdAt } = item;
    const active = FlagSchema.optional().safeParse(isActive);
    const state = stateFromWord(STATE_WORDS, item.status, `${place}.status`, problems);
    if (!active.success) problems.push(unknownWord(`${place}.is_active`, isActive));
    return {
      name,
      kind: type,
      target,
      state: !active.success ? 'unknown' : active.data === false ? 'paused' : state,
      createdAt: parseInstant(createdAt ?? '', zone),
    };
  };
  const list = { place: 'monitors', items, kind: 'monitor', schema: MonitorSchema, project };
  return projectMonitorLists(upstreamId, [list], problems);
}

/** Turns incidents into outages, sorted by id. Items on two pages count once. Never throws. */
export function projectIncidents(items: readonly unknown[], origin: Origin): Incident[] {
  const { problems } = origin;
  const incidents = parseItems(IncidentSchema, items, 'incidents', problems).flatMap((item) => {
    const incident = projectIncident(item, origin);
    if (incident === null)
      problems.push({ kind: 'dropped', place: `incidents.${item.id}`, message: 'its times are unreadable' });
    return incident ?? [];
  });
  // The same incident may come from two lists at slightly different times. The one with an end is newer.
  const settled = [...Map.groupBy(incidents, (incident) => incident.id).values()].flatMap((variants) => {
    const ended = variants.filter((variant) => variant.endedAt !== null);
    return ended.length > 0 ? ended : variants;
  });
  return uniqueOverlapping(settled, problems);
}

function projectIncident(item: IncidentItem, { upstreamId, zone }: Origin): Incident | null {
  const startedAt = parseInstant(item.started_at, zone);
  const endedAt = item.ended_at == null ? null : parseInstant(item.ended_at, zone);
  if (startedAt === null || (item.ended_at != null && endedAt === null)) return null;
  const end = endedAt === null ? null : later(startedAt, endedAt);
  // Parsed as UTC, because the instant would change if the zone is only known as today's offset.
  const bornAt = parseInstant(item.started_at, 'UTC');
  return createIncident({
    id: `${upstreamId}/${item.id}`,
    title: item.title ?? item.monitor_name ?? `Incident ${item.id}`,
    impact: 'critical',
    startedAt,
    endedAt: end,
    monitors: [toMonitorId(upstreamId, item.monitor_id)],
    affectedState: 'major_outage',
    isOutage: true,
    updates: [
      { id: 'start', at: startedAt, status: 'investigating', body: item.description ?? '' },
      ...(end === null ? [] : [{ id: 'end', at: end, status: 'resolved', body: '' }]),
    ],
    ...(bornAt === null ? {} : { bornAt }),
  });
}

/** Maintenance windows from an undocumented address. Unreadable items are only noted. */
export function projectMaintenances(items: readonly unknown[], { upstreamId, zone, problems }: Origin): Maintenance[] {
  const unread: Problem[] = [];
  const maintenances = parseItems(MaintenanceSchema, items, 'maintenance', unread).flatMap((item) => {
    const [startsAt, endsAt] = [item.startsAt, item.endsAt].map((text) => parseInstant(text, zone));
    if (startsAt == null || endsAt == null || endsAt <= startsAt) {
      unread.push(note(`maintenance.${item.id}`, 'its window is unreadable'));
      return [];
    }
    return createMaintenance({
      id: `${upstreamId}/maintenance-${item.id}`,
      title: item.title ?? 'Maintenance',
      startsAt,
      endsAt,
      monitors: [...new Set(item.monitorIds)].toSorted(compareIds).map((id) => toMonitorId(upstreamId, id)),
      ...(item.description === null ? {} : { body: item.description }),
    });
  });
  problems.push(...asNotes(unread));
  return uniqueById(maintenances);
}

/** Everything in an answer of `/monitors/{id}`. */
export function projectDetail(
  answer: MonitorAnswer,
  origin: Origin,
  facts: {
    readonly fetchedAt: EpochMs;
    /** All outages of this monitor in the period of its uptime figures; null: its past is already known. */
    readonly outages: readonly Interval[] | null;
  },
): MonitorDetail {
  const { monitor } = answer.data;
  const uptime = monitor.uptime ?? null;
  const createdAt = parseInstant(monitor.created_at ?? '', origin.zone);
  return createDetail(toMonitorId(origin.upstreamId, monitor.id), facts.fetchedAt, {
    uptime:
      // Without any checks, the figures are meaningless zeros.
      uptime === null || uptime.total_checks === 0
        ? null
        : {
            periodDays: uptime.period_days,
            checksTotal: uptime.total_checks ?? null,
            checksUp: uptime.up_checks ?? null,
            uptimeRatio: uptime.uptime_percentage == null ? null : uptime.uptime_percentage / 100,
            responseTimeAverageMs: uptime.avg_response_time ?? null,
          },
    responseTimes: projectLogs(monitor.logs ?? answer.data.logs ?? [], origin.zone),
    reportedSpans:
      uptime === null || facts.outages === null
        ? []
        : reportedSpans(uptime, { createdAt, now: facts.fetchedAt, outages: facts.outages }),
  });
}

/** Response times from log records, whose shape isn't documented; in milliseconds, oldest first. */
function projectLogs(logs: readonly unknown[], zone: string): ResponseTime[] {
  const byInstant = new Map<EpochMs, number>();
  for (const log of logs) {
    const record = LogRecordSchema.safeParse(log);
    if (!record.success) continue;
    const time = LOG_TIME_FIELDS.map((field) => record.data[field]).find((value) => typeof value === 'string');
    const at = time === undefined ? null : parseInstant(time, zone);
    const ms = LOG_MS_FIELDS.map((field) => NumberSchema.safeParse(record.data[field])).find(
      (value) => value.success,
    )?.data;
    if (at !== null && ms !== undefined && ms >= 0) byInstant.set(at, Math.max(ms, byInstant.get(at) ?? 0));
  }
  return [...byInstant].map(([at, ms]) => ({ at, ms })).toSorted((a, b) => a.at - b.at);
}

/**
 * The time before our first look: up wherever the upstream checked and recorded no incident, back to the monitor's
 * creation or the start of the uptime window, whichever is later.
 *
 * Nothing is claimed when no check took place, and nothing when checks failed that no incident explains: that time
 * stays unknown. Outages themselves are left out here; incidents carry them.
 */
function reportedSpans(
  uptime: Uptime,
  { createdAt, now, outages }: { createdAt: EpochMs | null; now: EpochMs; outages: readonly Interval[] },
): Span[] {
  const total = uptime.total_checks ?? 0;
  const up = uptime.up_checks ?? 0;
  const from = toEpochMs(Math.max(createdAt ?? 0, now - uptime.period_days * DAY_MS));
  const inside = outages
    .filter((outage) => outage.to > from && outage.from < now)
    .toSorted((a, b) => a.from - b.from || a.to - b.to);
  if (total <= 0 || up <= 0 || from >= now) return [];
  if (up < total && inside.length === 0) return [];
  const spans: Span[] = [];
  let at = from;
  for (const outage of inside) {
    if (outage.from > at) spans.push({ state: 'operational', from: at, to: outage.from });
    at = toEpochMs(Math.max(at, outage.to));
  }
  if (at < now) spans.push({ state: 'operational', from: at, to: now });
  return spans;
}

/** The outages of one monitor, open ones until `now`. */
export function findOutages(incidents: readonly Incident[], id: MonitorId, now: EpochMs): Interval[] {
  return incidents
    .filter((incident) => incident.monitors.includes(id))
    .map((incident) => ({ from: incident.startedAt, to: incident.endedAt ?? now }));
}

// Reading incidents: the open ones, the past once, and what came and went between two passes.

/** The documented largest page. */
const PER_PAGE = 100;
/** 20,000 incidents; a total beyond that is a mistake of the upstream. */
const PAGES_MAX = 200;
/** How far before the last look incidents are read again, because they may be entered late. */
const RECENT_MARGIN_MS = DAY_MS;
/** How often the whole past is read again, because old incidents can be edited and deleted. */
const WHOLE_AGE_MIN_MS = DAY_MS;
/** The same local time may have been another instant before clocks changed. */
const CLOCK_CHANGE_MS = 2 * HOUR_MS;

type FoundParts = 'incidents' | 'itemsTotal' | 'stale' | 'isBackfilled' | 'complete' | 'gone' | 'readAgain';

export interface Found extends Pick<Learned, FoundParts> {
  /** Whether every incident of the past is in `incidents`. */
  readonly isWhole: boolean;
  /** The summary names an open incident that can't be found. */
  readonly isContradicted: boolean;
}

/**
 * The open incidents, the past once and then once a day, meanwhile what is recent, and those that are in no list though
 * they were open or are, as the summary has it.
 *
 * @param active  the open incidents of the summary
 */
export function* readIncidents(
  options: Options,
  context: PullContext,
  { origin, active: summary }: { readonly origin: Origin; readonly active: readonly unknown[] },
): Pull<Found> {
  const { memory, upstreamId } = context;
  const { problems } = origin;
  const asking = { name: 'list open incidents', priority: 'incident', search: { active: 1 } } as const;
  const active = yield* readListed(options, asking, problems);
  const past = yield* readPast(options, context, origin);
  const items = [...active.items, ...past.items];
  const listed = projectIncidents(items, origin);
  const seen = new Set(listed.map(({ id }) => externalIdOf(id)));
  // If the list couldn't be read, nothing is missing from it.
  const counted = (active.kind === 'ok' ? summary : [])
    .flatMap((item) => idIn(item) ?? [])
    .filter((id) => !seen.has(id));
  const missing = [...new Set([...memory.openIncidents, ...counted])].filter((id) => !seen.has(id));
  const answers = yield* attempt(
    missing.map((id) =>
      query(options, `/incidents/${encodeURIComponent(id)}`, {
        name: 'incident',
        priority: 'incident',
        schema: IncidentAnswerSchema,
      }),
    ),
  );
  const missed = answers.flatMap((answer) => (answer.kind === 'ok' ? [answer.payload.data.incident] : []));
  const asked = projectIncidents(missed, origin);
  // A rejected id was deleted upstream. After other errors, known data stays.
  const isRefused = (answer: Answer<unknown> | undefined): boolean =>
    answer?.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  const isUnsure = answers.some((answer) => answer.kind !== 'ok' && !isRefused(answer));
  const taken = new Set([...listed, ...asked].map(({ id }) => externalIdOf(id)));
  const isLossy = losesOpen([...items, ...missed], { taken, open: memory.openIncidents });
  const lost = counted.filter((id) => !taken.has(id));
  for (const id of counted) {
    const message = `is missing from all lists of incidents${lost.includes(id) ? ' and can’t be found by id' : ''}`;
    problems.push(note(`active_incidents.${id}`, message));
  }
  const isStale = active.kind !== 'ok' || isUnsure || isLossy;
  return {
    incidents: uniqueById([...listed, ...asked]),
    itemsTotal: items.length + asked.length,
    stale: isStale ? ['incidents'] : [],
    // If the list was cut at the limit, waiting doesn't help.
    isBackfilled: memory.isBackfilled || past.kind === 'ok' || past.kind === 'cut',
    isWhole: !memory.isBackfilled && past.kind === 'ok' && active.kind === 'ok',
    complete: completeList([...past.items, ...active.items], past.since, context),
    gone: missing.filter((_, index) => isRefused(answers[index])).map((id) => `${upstreamId}/${id}`),
    readAgain: past.readAgain.map((id) => `${upstreamId}/${id}`),
    isContradicted: lost.length > 0,
  };
}

/** Empty if the list is incomplete, or an item has no readable id. */
function completeList(
  items: readonly unknown[],
  since: EpochMs | null | undefined,
  { upstreamId }: Pick<PullContext, 'upstreamId'>,
): CompleteList[] {
  const ids = items.flatMap((item) => idIn(item) ?? []);
  if (since === undefined || ids.length < items.length) return [];
  const prefix = `${upstreamId}/`;
  return [{ part: 'incidents', prefix, since, ids: [...new Set(ids)].map((id) => `${prefix}${id}`) }];
}

interface Listed {
  readonly items: readonly unknown[];
  readonly kind: Reading<unknown>['kind'];
}

interface IncidentQuery {
  readonly name: string;
  readonly priority: Priority;
  readonly search?: Search;
}

/** The past as read this time. */
interface Past extends Listed {
  /** The time from which the list is complete; null: all of it; undefined: it isn't. */
  readonly since: EpochMs | null | undefined;
  /** Upstream ids of items that were read again. */
  readonly readAgain: readonly string[];
}

/** Reads everything at first and then once a day, if the quota allows; otherwise recent incidents. */
function* readPast(options: Options, context: PullContext, origin: Origin): Pull<Past> {
  const { memory, now } = context;
  const [oldest = now] = memory.incidentsReadAt.values();
  if (memory.isBackfilled && now - oldest < WHOLE_AGE_MIN_MS) return yield* readRecent(options, context, origin);
  const priority = memory.isBackfilled ? 'detail' : 'backfill';
  const all = yield* readListed(options, { name: 'list all incidents', priority }, origin.problems);
  if (memory.isBackfilled && all.kind !== 'ok') return yield* readRecent(options, context, origin);
  const since = all.kind === 'ok' ? null : undefined;
  return { ...all, since, readAgain: all.items.flatMap((item) => idIn(item) ?? []) };
}

/** A list of incidents, whole when `kind` is ok; otherwise what could be read, which are facts all the same. */
export function* readListed(options: Options, asking: IncidentQuery, problems: Problem[]): Pull<Listed> {
  const reading = yield* readStablePages(listIncidents(options, asking), {
    factsOf: ({ data }) => ({
      total: data.pagination.total,
      ids: data.incidents.map((item) => itemKey(item)),
    }),
    countsAll: true,
  });
  return toListed(reading, asking.name, problems);
}

function toListed(reading: Reading<IncidentsAnswer>, place: string, problems: Problem[]): Listed {
  const reason = explainPartial(reading);
  if (reason !== null) problems.push(note(place, reason));
  return { items: reading.pages.flatMap((page) => page.data.incidents), kind: reading.kind };
}

function listIncidents(options: Options, { search, ...asking }: IncidentQuery): Listing<IncidentsAnswer> {
  const pageQuery = (page: number): Query<IncidentsAnswer> =>
    query(options, '/incidents', { ...asking, schema: IncidentsAnswerSchema }, { ...search, page, per_page: PER_PAGE });
  return {
    first: pageQuery(1),
    next: ({ data }, index) => {
      const pagesTotal = data.pagination.total_pages ?? Math.ceil(data.pagination.total / PER_PAGE);
      return data.incidents.length === 0 || index + 1 >= pagesTotal ? null : pageQuery(index + 2);
    },
    pagesMax: PAGES_MAX,
    isNeeded: false,
  };
}

/**
 * Incidents that began since shortly before our last look, so that one that came and went between two passes is not
 * missed. The order of the list is not documented: newest first stops early, any other order is read to its end.
 */
function* readRecent(options: Options, context: PullContext, origin: Origin): Pull<Past> {
  const lastLook = Math.max(0, ...context.memory.detailFetchedAt.values());
  const since = lastLook === 0 ? 0 : lastLook - RECENT_MARGIN_MS;
  const name = 'list recent incidents';
  const all = listIncidents(options, { name, priority: 'incident' });
  let isCut = false;
  const reading = yield* readPages({
    ...all,
    next: (page, index) => {
      const { isNewestFirst, oldest } = readStarts(page, origin);
      isCut = isNewestFirst && oldest < since;
      return isCut ? null : all.next(page, index);
    },
  });
  const listed = toListed(reading, name, origin.problems);
  const whole = isCut ? toEpochMs(since + CLOCK_CHANGE_MS) : null;
  return {
    ...listed,
    since: reading.kind === 'ok' ? whole : undefined,
    readAgain: listed.items.flatMap((item) => (readStart(item, origin) >= since ? (idIn(item) ?? []) : [])),
  };
}

function readStarts(page: IncidentsAnswer, origin: Origin): { isNewestFirst: boolean; oldest: number } {
  const starts = page.data.incidents.map((item) => readStart(item, origin));
  const isNewestFirst =
    starts.length > 1 && starts.every((at, index) => index === 0 || at <= (starts[index - 1] ?? Number.NaN));
  return { isNewestFirst, oldest: Math.min(...starts) };
}

/** NaN if it can't be read. */
function readStart(item: unknown, { zone }: Origin): number {
  const parsed = z.object({ started_at: z.string() }).safeParse(item);
  return parsed.success ? (parseInstant(parsed.data.started_at, zone) ?? Number.NaN) : Number.NaN;
}
