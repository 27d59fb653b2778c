/** Turns answers of the server-monitor API into observations. Times without an offset are local times in `zone`. */

import type { z } from 'zod';
import {
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
import { type Answer, attemptEach, type Pull, type PullContext, type Query } from '../../connector.ts';
import { createIncident, createMaintenance } from '../entries.ts';
import {
  asNotes,
  compareIds,
  completeList,
  externalIdOf,
  idIn,
  itemKey,
  losesOpen,
  note,
  parseItems,
  projectMonitorLists,
  readField,
  type Origin as Source,
  uniqueById,
  uniqueOverlapping,
} from '../items.ts';
import { createDetail } from '../measurements.ts';
import { type Listing, notePartial, type Reading, readPages, readStablePages } from '../paging.ts';
import { FlagSchema, NumberSchema, parseInstant, type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import {
  IncidentAnswerSchema,
  type IncidentItem,
  IncidentSchema,
  type IncidentsAnswer,
  IncidentsAnswerSchema,
  LOG_MS_FIELDS,
  LOG_TIME_FIELDS,
  MaintenanceSchema,
  type MonitorAnswer,
  MonitorSchema,
  type Options,
  query,
  type Uptime,
} from './schema.ts';

/** The upstream of the answers, the time zone of their times, and what is wrong with them. */
export interface Origin extends Source, PullContext {
  /** IANA name or offset of times without one. */
  readonly zone: string;
}

export const STATE_WORDS: StateWords = {
  up: 'operational',
  down: 'major_outage',
  pending: 'unknown',
  paused: 'paused',
};

/** Turns monitors into observations, sorted by id. Never throws. */
export function projectMonitors(items: readonly unknown[], origin: Origin): MonitorObservation[] {
  const { zone, problems } = origin;
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
  return projectMonitorLists(origin, [list]);
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

/**
 * Everything in an answer of `/monitors/{id}`.
 *
 * @param outages  all of this monitor in the period of its uptime figures; null: its past is already known
 */
export function projectDetail(
  { monitor, logs }: MonitorAnswer,
  { upstreamId, zone }: Origin,
  fetchedAt: EpochMs,
  outages: readonly Interval[] | null,
): MonitorDetail {
  const uptime = monitor.uptime ?? null;
  const createdAt = parseInstant(monitor.created_at ?? '', zone);
  return createDetail(toMonitorId(upstreamId, monitor.id), fetchedAt, {
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
    responseTimes: projectLogs(monitor.logs ?? logs ?? [], zone),
    reportedSpans:
      uptime === null || outages === null ? [] : reportedSpans(uptime, { createdAt, now: fetchedAt, outages }),
  });
}

/** Response times from log records, whose shape isn't documented; in milliseconds, oldest first. */
function projectLogs(logs: readonly unknown[], zone: string): ResponseTime[] {
  const byInstant = new Map<EpochMs, number>();
  for (const log of logs) {
    const times = LOG_TIME_FIELDS.map((field) => readField(log, field));
    const at = parseInstant(times.find((value) => typeof value === 'string') ?? '', zone);
    const [ms] = LOG_MS_FIELDS.flatMap((field) => NumberSchema.safeParse(readField(log, field)).data ?? []);
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
 * @param summary  the open incidents of the summary
 */
export function* readIncidents(options: Options, origin: Origin, summary: readonly unknown[]): Pull<Found> {
  const { memory, upstreamId, problems } = origin;
  const asking = { name: 'list open incidents', priority: 'incident', search: { active: 1 } } as const;
  const active = yield* readListed(options, asking, problems);
  const past = yield* readPast(options, origin);
  const items = [...active.items, ...past.items];
  const listed = projectIncidents(items, origin);
  const seen = new Set(listed.map(({ id }) => externalIdOf(id)));
  // If the list couldn't be read, nothing is missing from it.
  const counted = (active.kind === 'ok' ? summary : [])
    .flatMap((item) => idIn(item) ?? [])
    .filter((id) => !seen.has(id));
  const missing = [...new Set([...memory.openIncidents, ...counted])].filter((id) => !seen.has(id));
  const answers = yield* attemptEach(missing, (id) => {
    const asked = { name: 'incident', priority: 'incident', schema: IncidentAnswerSchema } as const;
    return query(options, `/incidents/${encodeURIComponent(id)}`, asked);
  });
  const missed = answers.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.payload.incident] : []));
  const asked = projectIncidents(missed, origin);
  // A rejected id was deleted upstream. After other errors, known data stays.
  const isRefused = ({ answer }: { readonly answer: Answer<unknown> }): boolean =>
    answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  const isUnsure = answers.some((one) => one.answer.kind !== 'ok' && !isRefused(one));
  const taken = new Set([...listed, ...asked].map(({ id }) => externalIdOf(id)));
  const isLossy = losesOpen([...items, ...missed], { taken, open: memory.openIncidents });
  const lost = counted.filter((id) => !taken.has(id));
  for (const id of counted) {
    const message = `is missing from all lists of incidents${lost.includes(id) ? ' and can’t be found by id' : ''}`;
    problems.push(note(`active_incidents.${id}`, message));
  }
  const prefix = `${upstreamId}/`;
  const ids = [...past.items, ...active.items].map((item) => idIn(item));
  return {
    incidents: uniqueById([...listed, ...asked]),
    itemsTotal: items.length + asked.length,
    stale: active.kind !== 'ok' || isUnsure || isLossy ? ['incidents'] : [],
    // If the list was cut at the limit, waiting doesn't help.
    isBackfilled: memory.isBackfilled || past.kind === 'ok' || past.kind === 'cut',
    isWhole: !memory.isBackfilled && past.kind === 'ok' && active.kind === 'ok',
    complete: completeList('incidents', prefix, new Set(ids), past.since),
    gone: answers.filter(isRefused).map(({ item }) => prefix + item),
    readAgain: past.readAgain.map((id) => prefix + id),
    isContradicted: lost.length > 0,
  };
}

/**
 * Reads everything at first and then once a day, if the quota allows; otherwise recent incidents. `since`: the time from which the
 * list is complete; null: all of it; undefined: it isn't.
 */
function* readPast(options: Options, origin: Origin) {
  const { memory, now, problems } = origin;
  const [oldest = now] = memory.incidentsReadAt.values();
  if (memory.isBackfilled && now - oldest < WHOLE_AGE_MIN_MS) return yield* readRecent(options, origin);
  const priority = memory.isBackfilled ? 'detail' : 'backfill';
  const all = yield* readListed(options, { name: 'list all incidents', priority }, problems);
  if (memory.isBackfilled && all.kind !== 'ok') return yield* readRecent(options, origin);
  const since = all.kind === 'ok' ? null : undefined;
  // Upstream ids of items that were read again.
  return { ...all, since, readAgain: all.items.flatMap((item) => idIn(item) ?? []) };
}

type IncidentQuery = Pick<Query<unknown>, 'name' | 'priority'> & { readonly search?: Parameters<typeof query>[3] };

export function* readListed(options: Options, asking: IncidentQuery, problems: Problem[]) {
  const reading = yield* readStablePages({
    ...listIncidents(options, asking),
    factsOf: ({ incidents, pagination: { total } }) => ({ total, ids: incidents.map((item) => itemKey(item)) }),
    countsAll: true,
  });
  return toListed(reading, asking.name, problems);
}

/** A list of incidents: whole when `kind` is ok; otherwise what could be read, which are facts all the same. */
function toListed(reading: Reading<IncidentsAnswer>, place: string, problems: Problem[]) {
  notePartial(reading, place, problems);
  return { items: reading.pages.flatMap(({ incidents }) => incidents), kind: reading.kind };
}

function listIncidents(options: Options, { search, ...asking }: IncidentQuery): Listing<IncidentsAnswer> {
  const pageQuery = (page: number): Query<IncidentsAnswer> =>
    query(options, '/incidents', { ...asking, schema: IncidentsAnswerSchema }, { ...search, page, per_page: PER_PAGE });
  return {
    first: pageQuery(1),
    next: ({ incidents, pagination }, index) => {
      const pagesTotal = pagination.total_pages ?? Math.ceil(pagination.total / PER_PAGE);
      return incidents.length === 0 || index + 1 >= pagesTotal ? null : pageQuery(index + 2);
    },
    pagesMax: PAGES_MAX,
    isNeeded: false,
  };
}

/**
 * Incidents that began since shortly before our last look, so that one that came and went between two passes is not
 * missed. The order of the list is not documented: newest first stops early, any other order is read to its end.
 */
function* readRecent(options: Options, { memory, zone, problems }: Origin) {
  const lastLook = Math.max(0, ...memory.detailFetchedAt.values());
  const since = lastLook === 0 ? 0 : lastLook - RECENT_MARGIN_MS;
  const name = 'list recent incidents';
  const all = listIncidents(options, { name, priority: 'incident' });
  const startOf = (item: unknown): number => {
    const text = readField(item, 'started_at');
    return (typeof text === 'string' ? parseInstant(text, zone) : null) ?? Number.NaN;
  };
  let isCut = false;
  const reading = yield* readPages({
    ...all,
    next: (page, index) => {
      const starts = page.incidents.map(startOf);
      const isNewestFirst =
        starts.length > 1 && starts.every((at, place) => place === 0 || at <= (starts[place - 1] ?? Number.NaN));
      isCut = isNewestFirst && Math.min(...starts) < since;
      return isCut ? null : all.next(page, index);
    },
  });
  const listed = toListed(reading, name, problems);
  const whole = isCut ? toEpochMs(since + CLOCK_CHANGE_MS) : null;
  return {
    ...listed,
    since: reading.kind === 'ok' ? whole : undefined,
    readAgain: listed.items.flatMap((item) => (startOf(item) >= since ? (idIn(item) ?? []) : [])),
  };
}
