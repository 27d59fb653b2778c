/** Reading incidents: the open ones, the past once, and what came and went between two passes. */

import { z } from 'zod';
import type { Incident, Problem, SnapshotPart } from '../../../model/observation.ts';
import { DAY_MS } from '../../../model/time.ts';
import { attempt, type Priority, type Pull, type PullContext, type Question } from '../../connector.ts';
import { externalIdOf, idIn, itemKey, losesOpen, note, uniqueById } from '../items.ts';
import { type Listing, type Reading, readPages, readStablePages, whyPartial } from '../paging.ts';
import { parseInstant } from '../wire.ts';
import { type Options, question } from './calls.ts';
import { type Origin, projectIncidents } from './project.ts';
import { ID_FIELD, IncidentAnswerSchema, type IncidentsAnswer, IncidentsAnswerSchema } from './schema.ts';

/** The documented largest page. */
const PER_PAGE = 100;
/** 20,000 incidents; a total beyond that is a mistake of the upstream. */
const PAGES_MAX = 200;
/** How far before the last look recent incidents are read again: an incident may be entered late. */
const RECENT_MARGIN_MS = DAY_MS;

export interface Found {
  readonly incidents: readonly Incident[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
  readonly stale: readonly SnapshotPart[];
  readonly isBackfilled: boolean;
  /** Whether every incident of the past is in `incidents`. */
  readonly isWhole: boolean;
  /** The summary names an open incident that is not to be found. */
  readonly isContradicted: boolean;
}

/**
 * The open incidents, the past once, then only what is recent, and those that are in no list though they were open or
 * are, as the summary has it.
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
  const past = context.memory.isBackfilled
    ? yield* readRecent(options, context, origin)
    : yield* readListed(options, { name: 'list all incidents', priority: 'backfill', query: {} });
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
  // A refused id was deleted there; left out, it ends now. Any other failure keeps what is known.
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
        note(`active_incidents.${id}`, `is in no list of incidents${lost.includes(id) ? ', and not to be found' : ''}`),
      ),
    ],
    itemsTotal: items.length + asked.incidents.length,
    stale: isStale ? ['incidents'] : [],
    // Beyond the ceiling there is nothing to wait for.
    isBackfilled: context.memory.isBackfilled || past.kind === 'ok' || past.kind === 'cut',
    isWhole: !context.memory.isBackfilled && past.kind === 'ok' && active.kind === 'ok',
    isContradicted: lost.length > 0,
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
