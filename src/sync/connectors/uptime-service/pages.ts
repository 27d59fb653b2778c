/** Status pages with what is on them and was, and the days before our first pass. */

import type { CompleteList, Incident, Maintenance, PageDefinition, Problem } from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/span.ts';
import { dayOf } from '../../../model/time.ts';
import {
  type Answer,
  attempt,
  attemptOne,
  type Pull,
  type PullContext,
  type Question,
  whyMissing,
} from '../../connector.ts';
import { compareIds, externalIdOf, idIn, losesOpen, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, type Options, readList } from './calls.ts';
import { note } from './note.ts';
import { projectDays, projectPage } from './project.ts';
import { componentPlaces, projectMaintenances } from './project-posts.ts';
import { projectReports, type ReportItem } from './project-reports.ts';
import { readReports } from './reports.ts';
import {
  DailySummarySchema,
  ID_FIELD,
  type Overview,
  OverviewSchema,
  PageAnswerSchema,
  PageSummarySchema,
  PagesAnswerSchema,
} from './schema.ts';

/** The documented most of GetPageComponentDailySummary. */
const DAYS_OF_PAST = 45;

export interface Found {
  readonly pages: readonly PageDefinition[];
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
  readonly days: ReadonlyMap<string, readonly ReportedDay[]>;
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
  /** True: something could not be read this time, and what is known stays. */
  readonly isStale: boolean;
  /** As in what is learned. */
  readonly complete: readonly CompleteList[];
  readonly readAgain: readonly string[];
  readonly isBackfilled: boolean;
}

export const NOTHING_FOUND: Found = {
  pages: [],
  incidents: [],
  maintenances: [],
  days: new Map(),
  problems: [],
  itemsTotal: 0,
  isStale: false,
  complete: [],
  readAgain: [],
  isBackfilled: true,
};

export function* readPagesAndReports(options: Options, context: PullContext): Pull<Found> {
  const { upstreamId } = context;
  const read = yield* readOverviews(options);
  if (read.overviews === null) return { ...NOTHING_FOUND, problems: read.problems, isStale: true, isBackfilled: false };
  const projected = read.overviews.map((overview) => projectPage(overview, upstreamId));
  const pages = projected.flatMap(({ page }) => page ?? []).toSorted((a, b) => compareIds(a.id, b.id));
  const places = componentPlaces(pages, upstreamId);
  const windows = read.overviews.map(({ statusPage, maintenances }) =>
    projectMaintenances(maintenances, { upstreamId, pageId: statusPage.id, places }),
  );
  const open = read.overviews.flatMap(({ statusPage, statusReports }) =>
    statusReports.map((item): ReportItem => ({ item, pageId: statusPage.id })),
  );
  const ended = yield* readReports(options, context, open);
  const reports = projectReports([...open, ...ended.items], { upstreamId, places });
  const past = yield* readDays(options, context, read.overviews);
  const isLossy = losesOpen(
    [...open, ...ended.items].map(({ item }) => item),
    { idField: ID_FIELD, taken: idsThere(reports.incidents, 'report-'), open: openThere(context, 'report-') },
  );
  return {
    pages,
    incidents: reports.incidents,
    maintenances: windows.flatMap((window) => window.maintenances),
    days: past.days,
    problems: [
      ...read.problems,
      ...projected.flatMap((page) => page.problems),
      ...windows.flatMap((window) => window.problems),
      ...ended.problems,
      ...reports.problems,
      ...past.problems,
    ],
    itemsTotal: projected.reduce((sum, page) => sum + page.itemsTotal, open.length + ended.items.length),
    isStale: read.isStale || ended.isStale || isLossy || windows.some(hasDropped),
    complete: [
      ...wholeList(upstreamId, 'incidents', { prefix: 'report-', ids: ended.ids }),
      ...wholeList(upstreamId, 'maintenances', { prefix: 'maintenance-', ids: maintenanceIds(read) }),
    ],
    readAgain: ended.readIds.map((id) => `${upstreamId}/report-${id}`),
    isBackfilled: !read.isStale && ended.isBackfilled && past.isBackfilled,
  };
}

/** A list of one sort that holds all there are; none where `ids`, those there, are not known. */
export function wholeList(
  upstreamId: string,
  part: CompleteList['part'],
  { prefix, ids }: { readonly prefix: string; readonly ids: readonly (string | null)[] | null },
): CompleteList[] {
  const known = ids?.filter((id) => id !== null);
  if (known === undefined || known.length !== ids?.length) return [];
  return [
    { part, prefix: `${upstreamId}/${prefix}`, since: null, ids: known.map((id) => `${upstreamId}/${prefix}${id}`) },
  ];
}

/** Those of all pages; null: a page could not be read with everything on it. */
function maintenanceIds({ overviews, isStale, isWhole }: ReadOverviews): readonly (string | null)[] | null {
  if (overviews === null || isStale || !isWhole) return null;
  return overviews.flatMap(({ maintenances }) => maintenances.map((item) => idIn(item, ID_FIELD)));
}

/** Ids there of incidents of one sort, whose ids begin with `prefix`. */
export function idsThere(incidents: readonly Incident[], prefix: string): ReadonlySet<string> {
  return new Set(incidents.map((incident) => externalIdOf(incident.id).slice(prefix.length)));
}

/** Ids there of the open incidents of one sort. */
export function openThere({ memory }: PullContext, prefix: string): ReadonlySet<string> {
  return new Set([...memory.openIncidents].filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length)));
}

/** A window that cannot be read has not been taken back. */
function hasDropped({ problems }: { readonly problems: readonly Problem[] }): boolean {
  return problems.some((problem) => problem.kind === 'dropped');
}

interface ReadOverviews {
  /** Each page with everything on it; null: the list of pages could not be read. */
  readonly overviews: readonly Overview[] | null;
  readonly problems: readonly Problem[];
  readonly isStale: boolean;
  /** False: of some page only its gate could be read. */
  readonly isWhole: boolean;
}

function* readOverviews(options: Options): Pull<ReadOverviews> {
  const listed = yield* readList(options, ['StatusPage', 'ListStatusPages'], {
    name: 'list status pages',
    schema: PagesAnswerSchema,
    itemsOf: (page) => page.statusPages,
  });
  const reason = whyPartial(listed);
  if (reason !== null)
    return { overviews: null, problems: [note('list status pages', reason)], isStale: true, isWhole: false };
  const items = parseItems(
    PageSummarySchema,
    listed.pages.flatMap((page) => page.statusPages),
    'statusPages',
  );
  const ids = [...new Set(items.items.map((item) => item.id))];
  const answers = yield* attempt(ids.map((id) => overviewQuestion(options, 'GetStatusPageOverview', id)));
  const overviews: Overview[] = [];
  const problems: Problem[] = [...items.problems];
  let isStale = items.problems.length > 0;
  let isWhole = true;
  for (const [index, answer] of answers.entries()) {
    const id = ids[index] ?? '';
    const isRefused = answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
    const { settled, hasContent } = isRefused ? yield* readRefused(options, id) : { settled: answer, hasContent: true };
    if (settled.kind === 'ok') {
      overviews.push(settled.payload);
      isWhole &&= hasContent;
    } else {
      // 404 to every question about it: deleted since it was listed. Anything else keeps what is known.
      const isGone = settled.kind === 'failed' && settled.error.context['status'] === 404;
      isStale ||= !isGone;
      problems.push(note(`pages.${id}`, whyMissing(settled)));
    }
  }
  return { overviews, problems, isStale, isWhole };
}

function overviewQuestion(options: Options, operation: string, id: string): Question<Overview> {
  return call(options, ['StatusPage', operation], {
    name: operation === 'GetStatusPageOverview' ? 'status page overview' : 'status page content',
    priority: 'incident',
    body: { id },
    schema: OverviewSchema,
  });
}

/** A page whose overview is refused: its content where an older service offers only that, or at least its gate. */
function* readRefused(
  options: Options,
  id: string,
): Pull<{ readonly settled: Answer<Overview>; readonly hasContent: boolean }> {
  const content = yield* attemptOne(overviewQuestion(options, 'GetStatusPageContent', id));
  if (content.kind === 'ok') return { settled: content, hasContent: true };
  const page = yield* attemptOne(
    call(options, ['StatusPage', 'GetStatusPage'], {
      name: 'status page',
      priority: 'incident',
      body: { id },
      schema: PageAnswerSchema,
    }),
  );
  if (page.kind !== 'ok') return { settled: page, hasContent: false };
  const nothing = { components: [], groups: [], statusReports: [], maintenances: [] };
  return { settled: { ...page, payload: { ...page.payload, ...nothing } }, hasContent: false };
}

/** The days before our first pass, asked once for each page. */
function* readDays(
  options: Options,
  { memory, now }: PullContext,
  overviews: readonly Overview[],
): Pull<{ days: ReadonlyMap<string, ReportedDay[]>; problems: readonly Problem[]; isBackfilled: boolean }> {
  if (memory.isBackfilled) return { days: new Map(), problems: [], isBackfilled: true };
  const answers = yield* attempt(
    overviews.map(({ statusPage }) =>
      call(options, ['StatusPage', 'GetPageComponentDailySummary'], {
        name: 'daily summary',
        priority: 'backfill',
        body: { id: statusPage.id, days: DAYS_OF_PAST },
        schema: DailySummarySchema,
      }),
    ),
  );
  const { days, problems } = projectDays(
    answers.flatMap((answer) => (answer.kind === 'ok' ? answer.payload.components : [])),
    dayOf(now, 'UTC'),
  );
  // What is refused or has another shape will be the same tomorrow; anything else is asked again.
  const isOver = (answer: Answer<unknown>): boolean =>
    answer.kind === 'ok' || (answer.kind === 'failed' && !answer.error.retryable);
  return { days, problems, isBackfilled: answers.every(isOver) };
}
