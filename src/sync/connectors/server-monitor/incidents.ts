/** Reading incidents: the open ones, the past once, and what came and went between two passes. */

import { z } from 'zod';
import type { CompleteList, Incident, Problem, SnapshotPart } from '../../../model/observation.ts';
import { DAY_MS, type EpochMs, HOUR_MS, toEpochMs } from '../../../model/time.ts';
import { attempt, type Priority, type Pull, type PullContext, type Question } from '../../connector.ts';
import { externalIdOf, idIn, itemKey, losesOpen, note, uniqueById } from '../items.ts';
import { type Listing, type Reading, readPages, readStablePages, whyPartial } from '../paging.ts';
import { parseInstant } from '../wire.ts';
import { type Origin, projectIncidents } from './project.ts';
import { ID_FIELD, IncidentAnswerSchema, type IncidentsAnswer, IncidentsAnswerSchema } from './schema.ts';
import { type Options, question } from './states.ts';

/** The documented largest page. */
const PER_PAGE = 100;
/** 20,000 incidents; a total beyond that is a mistake of the upstream. */
const PAGES_MAX = 200;
/** How far before the last look recent incidents are read again: an incident may be entered late. */
const RECENT_MARGIN_MS = DAY_MS;
/** How often the whole past is read again, since old incidents are edited and deleted too. */
const WHOLE_AGE_MIN_MS = DAY_MS;
/** The same naive time may have been another instant before clocks changed. */
const CLOCK_CHANGE_MS = 2 * HOUR_MS;

export interface Found {
  readonly incidents: readonly Incident[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
  readonly stale: readonly SnapshotPart[];
  readonly isBackfilled: boolean;
  /** Whether every incident of the past is in `incidents`. */
  readonly isWhole: boolean;
  /** As in what is learned. */
  readonly complete: readonly CompleteList[];
  readonly gone: readonly string[];
  readonly readAgain: readonly string[];
  /** The summary names an open incident that is not to be found. */
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
  const active = yield* readListed(options, {
    name: 'list open incidents',
    priority: 'incident',
    query: { active: 1 },
  });
  const past = yield* readPast(options, context, origin);
  const items = [...active.items, ...past.items];
  const listed = projectIncidents(items, origin);
  const seen = new Set(listed.incidents.map((incident) => externalIdOf(incident.id)));
  // Without the list, nothing is missing from it.
  const told = (active.kind === 'ok' ? summary : [])
    .flatMap((item) => idIn(item, ID_FIELD) ?? [])
    .filter((id) => !seen.has(id));
  const missing = [...new Set([...context.memory.openIncidents, ...told])].filter((id) => !seen.has(id));
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
  const changedItems = changed.flatMap((answer) => (answer.kind === 'ok' ? [answer.payload.data.incident] : []));
  const asked = projectIncidents(changedItems, origin);
  // A refused id was deleted there. Any other failure keeps what is known.
  const refused = missing.filter((_, index) => {
    const answer = changed[index];
    return answer?.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  });
  const isUnsure = changed.some(
    (answer) => answer.kind === 'skipped' || (answer.kind === 'failed' && answer.error.code !== 'UPSTREAM_REFUSED'),
  );
  const taken = new Set([...listed.incidents, ...asked.incidents].map((incident) => externalIdOf(incident.id)));
  const isLossy = losesOpen([...items, ...changedItems], {
    idField: ID_FIELD,
    taken,
    open: context.memory.openIncidents,
  });
  const lost = told.filter((id) => !taken.has(id));
  const isStale = active.kind !== 'ok' || isUnsure || isLossy;
  return {
    incidents: uniqueById([...listed.incidents, ...asked.incidents]).items,
    problems: [
      ...active.problems,
      ...past.problems,
      ...listed.problems,
      ...asked.problems,
      ...told.map((id) =>
        note(
          `active_incidents.${id}`,
          `is missing from all lists of incidents${lost.includes(id) ? ' and can’t be found by id' : ''}`,
        ),
      ),
    ],
    itemsTotal: items.length + asked.incidents.length,
    stale: isStale ? ['incidents'] : [],
    // Beyond the ceiling there is nothing to wait for.
    isBackfilled: context.memory.isBackfilled || past.kind === 'ok' || past.kind === 'cut',
    isWhole: !context.memory.isBackfilled && past.kind === 'ok' && active.kind === 'ok',
    complete: completeList([...past.items, ...active.items], past.since, context),
    gone: refused.map((id) => `${context.upstreamId}/${id}`),
    readAgain: past.readAgain.map((id) => `${context.upstreamId}/${id}`),
    isContradicted: lost.length > 0,
  };
}

/** None where the list was not whole, or somebody in it cannot be told. */
function completeList(
  items: readonly unknown[],
  since: EpochMs | null | undefined,
  { upstreamId }: Pick<PullContext, 'upstreamId'>,
): CompleteList[] {
  const ids = items.flatMap((item) => idIn(item, ID_FIELD) ?? []);
  if (since === undefined || ids.length < items.length) return [];
  const prefix = `${upstreamId}/`;
  return [{ part: 'incidents', prefix, since, ids: [...new Set(ids)].map((id) => `${prefix}${id}`) }];
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

/** The past, as far as it is read this time. */
interface Past extends Listed {
  /** From when on the list is whole; null: as far back as there is anything; undefined: it is not. */
  readonly since: EpochMs | null | undefined;
  /** Ids there of those whose age as known starts anew. */
  readonly readAgain: readonly string[];
}

/** All of it at first and then once a day, as the quota allows; otherwise what is recent. */
function* readPast(options: Options, context: PullContext, origin: Origin): Pull<Past> {
  const { memory, now } = context;
  const [oldest = now] = memory.incidentsReadAt.values();
  if (memory.isBackfilled && now - oldest < WHOLE_AGE_MIN_MS) return yield* readRecent(options, context, origin);
  const priority = memory.isBackfilled ? 'detail' : 'backfill';
  const all = yield* readListed(options, { name: 'list all incidents', priority, query: {} });
  if (memory.isBackfilled && all.kind !== 'ok') return yield* readRecent(options, context, origin);
  const since = all.kind === 'ok' ? null : undefined;
  return { ...all, since, readAgain: all.items.flatMap((item) => idIn(item, ID_FIELD) ?? []) };
}

/** A list of incidents, whole when `kind` is ok; otherwise what could be read, which are facts all the same. */
export function* readListed(options: Options, asking: IncidentQuery): Pull<Listed> {
  const reading = yield* readStablePages(listingOf(options, asking), {
    factsOf: ({ data }) => ({
      total: data.pagination.total,
      ids: data.incidents.map((item) => itemKey(item, ID_FIELD)),
    }),
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
function* readRecent(options: Options, context: PullContext, origin: Origin): Pull<Past> {
  const lastLook = Math.max(0, ...context.memory.detailFetchedAt.values());
  const since = lastLook === 0 ? 0 : lastLook - RECENT_MARGIN_MS;
  const asking: IncidentQuery = { name: 'list recent incidents', priority: 'incident', query: {} };
  const all = listingOf(options, asking);
  let isCut = false;
  const reading = yield* readPages({
    ...all,
    next: (page, index) => {
      const { isNewestFirst, oldest } = startsOf(page, origin);
      isCut = isNewestFirst && oldest < since;
      return isCut ? null : all.next(page, index);
    },
  });
  const listed = listedOf(reading, asking.name);
  const whole = isCut ? toEpochMs(since + CLOCK_CHANGE_MS) : null;
  return {
    ...listed,
    since: reading.kind === 'ok' ? whole : undefined,
    readAgain: listed.items.flatMap((item) => (startOf(item, origin) >= since ? (idIn(item, ID_FIELD) ?? []) : [])),
  };
}

function startsOf(page: IncidentsAnswer, origin: Origin): { isNewestFirst: boolean; oldest: number } {
  const starts = page.data.incidents.map((item) => startOf(item, origin));
  const isNewestFirst =
    starts.length > 1 && starts.every((at, index) => index === 0 || at <= (starts[index - 1] ?? Number.NaN));
  return { isNewestFirst, oldest: Math.min(...starts) };
}

/** NaN where it cannot be read. */
function startOf(item: unknown, { zone }: Origin): number {
  const parsed = z.object({ started_at: z.string() }).safeParse(item);
  return parsed.success ? (parseInstant(parsed.data.started_at, zone) ?? Number.NaN) : Number.NaN;
}
