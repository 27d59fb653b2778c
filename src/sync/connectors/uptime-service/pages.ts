/** Status pages with what is on them, reports that ended, and the days before our first pass. */

import {
  type Incident,
  type Learned,
  type MonitorId,
  type MonitorObservation,
  NOTHING_LEARNED,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/overlap.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../../model/time.ts';
import {
  type Answer,
  attempt,
  attemptEach,
  attemptOne,
  explainMissing,
  type LearnedPages,
  type Priority,
  type Pull,
  type PullContext,
  type Query,
  reportPages,
} from '../../connector.ts';
import { compareIds, completeList, externalIdOf, idIn, itemKey, losesOpen, note, parseItems } from '../items.ts';
import { explainPartial, notePartial, type Reading } from '../paging.ts';
import { call, type Options, readList, readRestUrl, restQuery } from './calls.ts';
import { type PageOrigin, projectDays, projectPage } from './project.ts';
import {
  componentPlaces,
  type Places,
  projectMaintenances,
  projectReports,
  type ReportItem,
} from './project-reports.ts';
import {
  ComponentDaysSchema,
  DailySummarySchema,
  type Overview,
  OverviewSchema,
  PageAnswerSchema,
  PageSummarySchema,
  PagesAnswerSchema,
  type Report,
  ReportAnswerSchema,
  ReportPageSchema,
  ReportPagesAnswerSchema,
  ReportSchema,
  ReportsAnswerSchema,
  stripPrefix,
} from './schema.ts';

/**
 * Each page with everything on it; null: the list of pages could not be read. `isWhole` false: of a page only its gate could be
 * read, and not what is on it.
 */
function* readOverviews(options: Options, origin: PageOrigin, problems: Problem[]) {
  const { upstreamId } = origin;
  const listed = yield* readList(options, ['StatusPage', 'ListStatusPages'], {
    name: 'list status pages',
    schema: PagesAnswerSchema,
    itemsOf: (page) => page.statusPages,
  });
  const reason = explainPartial(listed);
  // Cut short or unreadable, it leaves the pages in doubt that it does not show; one that only did not come says nothing.
  const isDoubtful = listed.kind === 'cut' || isUnreadable(listed);
  if (reason !== null && (!isDoubtful || listed.pages.length === 0)) {
    problems.push(note('list status pages', reason));
    return { overviews: null, isStale: true, isWhole: false };
  }
  const unread: Problem[] = [];
  const items = listed.pages.flatMap((page) => page.statusPages);
  const ids = [...new Set(parseItems(PageSummarySchema, items, 'statusPages', unread).map(({ id }) => id))];
  const answers = yield* attempt(
    ids.map((id) => overviewQuery(options, 'status page overview', id)),
    ids.length,
    (answer, index) => tellGate(answer, `${upstreamId}/${ids[index]}`, origin),
  );
  const overviews: Overview[] = [];
  if (reason !== null) unread.push(note('list status pages', reason));
  problems.push(...unread.map(({ place, message }) => doubt(null, place, message)));
  let isStale = unread.length > 0;
  let isWhole = reason === null;
  for (const [index, answer] of answers.entries()) {
    const id = ids[index] ?? '';
    const isRefused = answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
    const content = isRefused ? yield* attemptOne(overviewQuery(options, 'status page content', id)) : answer;
    const settled = isRefused && content.kind !== 'ok' ? yield* readGate(options, id) : content;
    isWhole &&= content.kind === 'ok';
    if (settled.kind === 'ok') overviews.push(settled.payload);
    else {
      // 404 to every question about it. Anything else keeps what is known.
      isStale ||= !isGone(settled);
      const place = `pages.${id}`;
      const why = explainMissing(settled);
      problems.push(isUnreadable(settled) ? doubt(`${upstreamId}/${id}`, place, why) : note(place, why));
    }
  }
  return { overviews, isStale, isWhole };
}

/** Who may see a page, told before anything else is read. */
function tellGate(answer: Answer<Overview>, page: string, origin: PageOrigin): LearnedPages | null {
  if (answer.kind === 'ok') {
    const problems: Problem[] = [];
    const gate = projectPage({ ...answer.payload, components: [], groups: [] }, origin, problems);
    return { pages: gate === null ? [] : [gate], problems };
  }
  return isUnreadable(answer) ? { pages: [], problems: [doubt(page, 'overview', explainMissing(answer))] } : null;
}

function isUnreadable(answer: Reading<unknown> | Answer<unknown>): boolean {
  return answer.kind === 'failed' && answer.error.code === 'UPSTREAM_SHAPE';
}

function doubt(page: string | null, place: string, message: string): Problem {
  return { kind: 'gate', page, place, message };
}

const OVERVIEWS = { 'status page overview': 'GetStatusPageOverview', 'status page content': 'GetStatusPageContent' };

function overviewQuery(options: Options, name: keyof typeof OVERVIEWS, id: string): Query<Overview> {
  const asked = { name, priority: 'incident', body: { id }, schema: OverviewSchema } as const;
  return call(options, ['StatusPage', OVERVIEWS[name]], asked);
}

/** A page without what is on it, where an older service offers neither its overview nor its content. */
function* readGate(options: Options, id: string): Pull<Answer<Overview>> {
  const asked = { name: 'status page', priority: 'incident', body: { id }, schema: PageAnswerSchema } as const;
  const page = yield* attemptOne(call(options, ['StatusPage', 'GetStatusPage'], asked));
  if (page.kind !== 'ok') return page;
  const nothing = { components: [], groups: [], statusReports: [], maintenances: [] };
  return { ...page, payload: { ...page.payload, ...nothing } };
}

/** The documented most of GetPageComponentDailySummary. */
const DAYS_OF_PAST = 45;

/** What one part of a pull found. */
export interface Found extends Learned {
  readonly days: ReadonlyMap<string, readonly ReportedDay[]>;
  /** True: something couldn't be read this time, and what is known stays. */
  readonly isStale: boolean;
  readonly backfilled: readonly MonitorId[];
}

export const NOTHING_FOUND: Found = {
  ...NOTHING_LEARNED,
  days: new Map(),
  isStale: false,
  isBackfilled: true,
  backfilled: [],
};

/** The status pages, sorted by id. */
export function* readPages(options: Options, upstreamId: string, problems: Problem[]) {
  const origin = { upstreamId, isRecorded: options.preset === 'openstatus' };
  const read = yield* readOverviews(options, origin, problems);
  const overviews = read.overviews ?? [];
  const pages = overviews
    .flatMap((overview) => projectPage(overview, origin, problems) ?? [])
    .toSorted((a, b) => compareIds(a.id, b.id));
  yield* reportPages({ pages, problems: [...problems] });
  const itemsTotal = overviews.reduce((sum, { components, groups }) => sum + 1 + components.length + groups.length, 0);
  return { read, pages, itemsTotal };
}

export function* readPagesAndReports(
  options: Options,
  context: PullContext,
  monitors: readonly Pick<MonitorObservation, 'id'>[],
): Pull<Found> {
  const { upstreamId } = context;
  const problems: Problem[] = [];
  const { read, pages, itemsTotal } = yield* readPages(options, upstreamId, problems);
  if (read.overviews === null) return { ...NOTHING_FOUND, problems, isStale: true, isBackfilled: false };
  const facts = { upstreamId, places: componentPlaces(pages, upstreamId), problems };
  const unread: Problem[] = [];
  const maintenances = read.overviews.flatMap(({ statusPage, ...page }) =>
    projectMaintenances(page.maintenances, statusPage.id, { ...facts, problems: unread }),
  );
  problems.push(...unread);
  const open = read.overviews.flatMap(({ statusPage, statusReports }) =>
    statusReports.map((item): ReportItem => ({ item, pageId: statusPage.id })),
  );
  const ended = yield* readReports(options, context, { ...facts, open });
  const reports = [...open, ...ended.items];
  const incidents = projectReports(reports, facts);
  const past = yield* readDays(options, context, { overviews: read.overviews, monitors, problems });
  const reported = reports.map(({ item }) => item);
  const isLossy = losesStories(reported, incidents, context, 'report-');
  const windows = read.overviews.flatMap((overview) => overview.maintenances).map((item) => idIn(item));
  return {
    ...NOTHING_FOUND,
    ...{ pages, incidents, maintenances, days: past.days, problems },
    itemsTotal: itemsTotal + reports.length,
    // A window that cannot be read has not been taken back.
    isStale: read.isStale || ended.isStale || isLossy || unread.some(({ kind }) => kind === 'dropped'),
    isBackfilled: !read.isStale && ended.isBackfilled && past.isBackfilled,
    backfilled: past.backfilled,
    complete: [
      ...ended.complete,
      // A page tells of all its maintenances, those of long ago too.
      ...completeList(
        'maintenances',
        `${upstreamId}/maintenance-`,
        windows,
        read.isStale || !read.isWhole ? undefined : null,
      ),
    ],
    gone: ended.gone,
    readAgain: ended.readAgain,
  };
}

/** Whether an open incident of one sort, whose ids begin with `prefix`, may be among the items that could not be read. */
export function losesStories(
  items: readonly unknown[],
  incidents: readonly Incident[],
  { memory }: PullContext,
  prefix: string,
): boolean {
  const idsThere = (ids: Iterable<string>): ReadonlySet<string> =>
    new Set([...ids].filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length)));
  const taken = idsThere(incidents.map(({ id }) => externalIdOf(id)));
  return losesOpen(items, { taken, open: idsThere(memory.openIncidents) });
}

/** The days before our first pass of each monitor that is on a page, asked once; a page brings those of all its monitors. */
function* readDays(
  options: Options,
  { upstreamId, memory, now }: PullContext,
  asked: {
    readonly overviews: readonly Overview[];
    readonly monitors: readonly Pick<MonitorObservation, 'id'>[];
    readonly problems: Problem[];
  },
): Pull<Pick<Found, 'days' | 'isBackfilled' | 'backfilled'>> {
  // Only of monitors that are listed is it remembered, so one that was deleted is not asked for.
  const listed = new Set(asked.monitors.map(({ id }) => externalIdOf(id)));
  const due = asked.overviews.flatMap(({ statusPage, components }) => {
    const ids = parseItems(ComponentDaysSchema.pick({ monitorId: true }), components, '').flatMap(({ monitorId }) =>
      monitorId != null && listed.has(monitorId) ? [monitorId] : [],
    );
    return ids.every((id) => memory.backfilledMonitors?.has(id) === true) ? [] : [{ pageId: statusPage.id, ids }];
  });
  const answers = yield* attemptEach(due, ({ pageId }) =>
    call(options, ['StatusPage', 'GetPageComponentDailySummary'], {
      name: 'daily summary',
      priority: 'backfill',
      body: { id: pageId, days: DAYS_OF_PAST },
      schema: DailySummarySchema,
    }),
  );
  const components = answers.flatMap(({ answer }) => (answer.kind === 'ok' ? answer.payload.components : []));
  const days = projectDays(components, dayOf(now, 'UTC'), asked.problems);
  // What is refused or has another shape will be the same tomorrow; anything else is asked again.
  const over = answers.filter(
    ({ answer }) => answer.kind === 'ok' || (answer.kind === 'failed' && !answer.error.retryable),
  );
  const backfilled = over.flatMap(({ item: { ids }, answer }) => {
    // An answer kept from an earlier pass says nothing of a monitor that was put on the page since.
    const isKept = answer.kind === 'ok' && answer.at < now;
    return ids.filter((id) => !isKept || days.has(id));
  });
  return {
    // The others on its page have theirs, and their days since are known better.
    days: new Map([...days].filter(([id]) => memory.backfilledMonitors?.has(id) !== true)),
    isBackfilled: over.length === answers.length,
    backfilled: [...new Set(backfilled)].map((id) => toMonitorId(upstreamId, id)),
  };
}

// Reports that are on no page any more because they ended, and old ones read again for what was put right in them.

/** How far before our last look an ended report is read again. */
const RECENT_MARGIN_MS = DAY_MS;
/** How far back ended reports are read when we cannot tell when we looked last. */
const RECENT_DEFAULT_MS = 30 * DAY_MS;
/** The service says nothing when an old text is put right, so every pass reads this many old reports again, in turn … */
const READ_AGAIN_PER_PASS = 5;
/** … none more often than this. */
const READ_AGAIN_AGE_MIN_MS = HOUR_MS;

/** All ended reports once, later those that ended or changed lately, and of the others a few each time. */
function* readReports(
  options: Options,
  context: PullContext,
  { open, places, problems }: { open: readonly ReportItem[]; places: Places; problems: Problem[] },
) {
  const { memory, upstreamId } = context;
  const listed = yield* readList(options, ['StatusReport', 'ListStatusReports'], {
    name: 'list reports',
    schema: ReportsAnswerSchema,
    itemsOf: (page) => page.statusReports,
  });
  if (notePartial(listed, 'list reports', problems))
    return { ...NOTHING_FOUND, items: [], isStale: true, isBackfilled: false };
  const items = listed.pages.flatMap((page) => page.statusReports);
  const summaries = parseItems(ReportSchema, items, 'statusReports', problems);
  const { due, others, longest } = dueReports(summaries, context, new Set(open.map(({ item }) => itemKey(item))));
  const isLive = (id: string): boolean => memory.isBackfilled || memory.openIncidents.has(`report-${id}`);
  const toQuery = (report: Report) => reportQuery(options, report, isLive(report.id) ? 'incident' : 'backfill');
  const toOldQuery = (report: Report) => reportQuery(options, report, 'detail');
  const first = yield* attemptEach(due, toQuery);
  const answers = [
    ...first,
    ...(yield* attemptEach(others, toOldQuery, 1)),
    ...(yield* attemptEach(longest, toOldQuery, READ_AGAIN_PER_PASS - Math.min(1, others.length))),
  ];
  const read = answers.flatMap(({ item: { id }, answer }) =>
    answer.kind === 'ok' ? [{ id, item: answer.payload.statusReport }] : [],
  );
  const pageIds = yield* readPagesByPlan(options, context, { items: read.map(({ item }) => item), places });
  const ids = new Set([...items, ...open.map(({ item }) => item)].map((item) => idIn(item)));
  const prefix = `${upstreamId}/report-`;
  return {
    items: read.map(({ id, item }) => ({ item, pageId: pageIds.get(id) ?? null })),
    complete: completeList('incidents', prefix, ids, null),
    gone: answers.filter(({ answer }) => isGone(answer)).map(({ item }) => prefix + item.id),
    readAgain: read.map(({ id }) => prefix + id),
    isStale: first.some(({ item, answer }) => isMissing(answer) && isLive(item.id)),
    // Those that failed have their turn among the old ones.
    isBackfilled: first.every(({ answer }) => answer.kind !== 'skipped'),
  };
}

/** @param onPages  reports that came with a page, texts and all */
function dueReports(
  reports: readonly Report[],
  { memory, now }: PullContext,
  onPages: ReadonlySet<string>,
): Readonly<Record<'due' | 'others' | 'longest', readonly Report[]>> {
  // The newest detail is a lower bound of our last look; before it, less a margin, every ended report was read.
  const lastLook = Math.max(0, ...memory.detailFetchedAt.values());
  const since = lastLook === 0 ? now - RECENT_DEFAULT_MS : lastLook - RECENT_MARGIN_MS;
  const ended = reports.filter(({ id }) => !onPages.has(id));
  const due = ended.filter((report) => {
    const isOpen = stripPrefix(report.status, 'STATUS_REPORT_STATUS_') !== 'resolved';
    const isRecent = (report.updatedAt ?? report.createdAt) >= since;
    return !memory.isBackfilled || isOpen || isRecent || memory.openIncidents.has(`report-${report.id}`);
  });
  const old = new Map(ended.filter((report) => !due.includes(report)).map((report) => [`report-${report.id}`, report]));
  const longest = [...memory.incidentsReadAt]
    .filter(([, at]) => now - at >= READ_AGAIN_AGE_MIN_MS)
    .flatMap(([id]) => old.get(id) ?? []);
  // One that is not remembered has its turn too: it may have failed, or been read before such turns were kept.
  const others = [...old].filter(([id]) => !memory.incidentsReadAt.has(id)).map(([, report]) => report);
  const turn = Math.floor(now / MINUTE_MS) % Math.max(1, others.length);
  return { due, others: [...others.slice(turn), ...others.slice(0, turn)], longest };
}

/** @param priority  `detail`: it is an old one, which is read again */
function reportQuery(options: Options, { id }: Report, priority: Priority) {
  const name = priority === 'detail' ? 'old report' : 'report';
  const asked = { name, priority, body: { id }, schema: ReportAnswerSchema };
  return call(options, ['StatusReport', 'GetStatusReport'], asked);
}

function isMissing(answer: Answer<unknown>): boolean {
  return answer.kind === 'skipped' || (answer.kind === 'failed' && answer.error.code !== 'UPSTREAM_REFUSED');
}

/** Deleted since it was listed. */
function isGone(answer: Answer<unknown>): boolean {
  return answer.kind === 'failed' && answer.error.context['status'] === 404;
}

/**
 * The pages of reports that name no component: a report asked for by itself does not say. Those that are known already
 * keep theirs, so only for new ones is the other interface asked.
 */
function* readPagesByPlan(
  options: Options,
  { memory }: PullContext,
  { items, places }: { items: readonly unknown[]; places: Places },
): Pull<ReadonlyMap<string, string>> {
  const restUrl = readRestUrl(options);
  const isPlaced = (report: Report): boolean => (report.pageComponentIds ?? []).some((id) => places.has(id));
  const isKnown = ({ id }: Report): boolean =>
    memory.openIncidents.has(`report-${id}`) || memory.incidentsReadAt.has(`report-${id}`);
  const strays = parseItems(ReportSchema, items, '').filter((report) => !isPlaced(report) && !isKnown(report));
  if (strays.length === 0 || restUrl === null) return new Map();
  const asked = { name: 'pages of reports', priority: 'incident', schema: ReportPagesAnswerSchema } as const;
  const answer = yield* attemptOne(restQuery(options, `${restUrl}/status_report`, asked));
  if (answer.kind !== 'ok') return new Map();
  const rows = parseItems(ReportPageSchema, answer.payload, '');
  return new Map(rows.flatMap(({ id, pageId }) => (pageId == null ? [] : [[id, pageId] as const])));
}
