/** Status pages with what is on them, reports that ended, and the days before our first pass. */

import type { Incident, Maintenance, PageDefinition, Problem } from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/span.ts';
import { DAY_MS, dayOf } from '../../../model/time.ts';
import {
  type Answer,
  attempt,
  attemptOne,
  type Pull,
  type PullContext,
  type Question,
  whyMissing,
} from '../../connector.ts';
import { compareIds, externalIdOf, losesOpen, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, itemId, type Options, readList } from './calls.ts';
import { projectDays, projectPage } from './project.ts';
import { componentPlaces, projectMaintenances, projectReports, type ReportItem } from './project-posts.ts';
import {
  DailySummarySchema,
  ID_FIELD,
  type Overview,
  OverviewSchema,
  PageAnswerSchema,
  PageSummarySchema,
  PagesAnswerSchema,
  ReportAnswerSchema,
  ReportSchema,
  ReportsAnswerSchema,
  wordOf,
} from './schema.ts';

/** The documented most of GetPageComponentDailySummary. */
const DAYS_OF_PAST = 45;
/** How far before our last look an ended report is read again. */
const RECENT_MARGIN_MS = DAY_MS;
/** How far back ended reports are read when we cannot tell when we looked last. */
const RECENT_DEFAULT_MS = 30 * DAY_MS;

export interface Found {
  readonly pages: readonly PageDefinition[];
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
  readonly days: ReadonlyMap<string, readonly ReportedDay[]>;
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
  /** True: something could not be read this time, and what is known stays. */
  readonly isStale: boolean;
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
    isBackfilled: !read.isStale && ended.isBackfilled && past.isBackfilled,
  };
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

export function note(place: string, message: string): Problem {
  return { kind: 'note', place, message };
}

/** Each page with everything on it; null: the list of pages could not be read. */
function* readOverviews(
  options: Options,
): Pull<{ overviews: readonly Overview[] | null; problems: readonly Problem[]; isStale: boolean }> {
  const listed = yield* readList(options, ['StatusPage', 'ListStatusPages'], {
    name: 'list status pages',
    schema: PagesAnswerSchema,
    itemsOf: (page) => page.statusPages,
  });
  const reason = whyPartial(listed);
  if (reason !== null) return { overviews: null, problems: [note('list status pages', reason)], isStale: true };
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
  for (const [index, answer] of answers.entries()) {
    const id = ids[index] ?? '';
    const settled =
      answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED' ? yield* readRefused(options, id) : answer;
    if (settled.kind === 'ok') overviews.push(settled.payload);
    else {
      // 404 to every question about it: deleted since it was listed. Anything else keeps what is known.
      const isGone = settled.kind === 'failed' && settled.error.context['status'] === 404;
      isStale ||= !isGone;
      problems.push(note(`pages.${id}`, whyMissing(settled)));
    }
  }
  return { overviews, problems, isStale };
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
function* readRefused(options: Options, id: string): Pull<Answer<Overview>> {
  const content = yield* attemptOne(overviewQuestion(options, 'GetStatusPageContent', id));
  if (content.kind === 'ok') return content;
  const page = yield* attemptOne(
    call(options, ['StatusPage', 'GetStatusPage'], {
      name: 'status page',
      priority: 'incident',
      body: { id },
      schema: PageAnswerSchema,
    }),
  );
  if (page.kind !== 'ok') return page;
  const nothing = { components: [], groups: [], statusReports: [], maintenances: [] };
  return { ...page, payload: { ...page.payload, ...nothing } };
}

/** Reports that are on no page any more because they ended: all of them once, later those that ended lately. */
function* readReports(
  options: Options,
  context: PullContext,
  open: readonly ReportItem[],
): Pull<{ items: readonly ReportItem[]; problems: readonly Problem[]; isStale: boolean; isBackfilled: boolean }> {
  const { memory } = context;
  const listed = yield* readList(options, ['StatusReport', 'ListStatusReports'], {
    name: 'list reports',
    schema: ReportsAnswerSchema,
    itemsOf: (page) => page.statusReports,
  });
  const reason = whyPartial(listed);
  if (reason !== null)
    return { items: [], problems: [note('list reports', reason)], isStale: true, isBackfilled: false };
  const onPages = new Set(open.map(({ item }) => itemId(item)));
  const summaries = parseItems(
    ReportSchema,
    listed.pages.flatMap((page) => page.statusReports),
    'statusReports',
  );
  const since = recentSince(context);
  const due = summaries.items.filter((report) => {
    if (onPages.has(report.id)) return false;
    const isOpen = wordOf(report.status, 'STATUS_REPORT_STATUS_') !== 'resolved';
    const isRecent = (report.updatedAt ?? report.createdAt) >= since;
    return !memory.isBackfilled || isOpen || isRecent || memory.openIncidents.has(`report-${report.id}`);
  });
  const isLive = (id: string): boolean => memory.isBackfilled || memory.openIncidents.has(`report-${id}`);
  const answers = yield* attempt(
    due.map((report) =>
      call(options, ['StatusReport', 'GetStatusReport'], {
        name: 'report',
        priority: isLive(report.id) ? 'incident' : 'backfill',
        body: { id: report.id },
        schema: ReportAnswerSchema,
      }),
    ),
  );
  const missing = due.filter((_, index) => {
    const answer = answers[index];
    return answer?.kind === 'skipped' || (answer?.kind === 'failed' && answer.error.code !== 'UPSTREAM_REFUSED');
  });
  return {
    items: answers.flatMap((answer) =>
      answer.kind === 'ok' ? [{ item: answer.payload.statusReport, pageId: null }] : [],
    ),
    problems: summaries.problems,
    isStale: missing.some((report) => isLive(report.id)),
    isBackfilled: missing.length === 0,
  };
}

/** The newest detail is a lower bound of our last look; before it, less a margin, every ended report was read. */
function recentSince({ memory, now }: PullContext): number {
  const lastLook = Math.max(0, ...memory.detailFetchedAt.values());
  return lastLook === 0 ? now - RECENT_DEFAULT_MS : lastLook - RECENT_MARGIN_MS;
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
