/**
 * uptime-service: monitors, status pages, reports and maintenances behind one key.
 *
 * By default it speaks as the document has it (`x-svc-key`, `POST {rpcUrl}/MonitorService/listMonitors`, `{restUrl}/whoami`);
 * `preset: openstatus` speaks the recorded wire (Connect, unary JSON; commit 22df52e, 2026-08-21). Each pass asks
 * ListMonitors (100 a page) and, where pages are read, ListStatusPages, GetStatusPageOverview for each page,
 * ListStatusReports, GetStatusReport for reports that ended lately, `/v1/incident`, and GetMonitorSummary stalest
 * first; once, GetPageComponentDailySummary (45 days). No limits are documented. Answers hold page passwords and
 * notification secrets: the schemas do not name them, so they are never kept.
 */

import { z } from 'zod';
import type {
  Incident,
  Learned,
  Maintenance,
  MonitorDetail,
  MonitorObservation,
  PageDefinition,
  Problem,
} from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/span.ts';
import { DAY_MS, dayOf, MINUTE_MS } from '../../../model/time.ts';
import {
  type Answer,
  ask,
  attempt,
  type Connector,
  NOTHING_LEARNED,
  type Priority,
  type Probe,
  type Pull,
  type PullContext,
  parseItems,
  type Question,
} from '../../connector.ts';
import { type Listing, readStablePages, whyPartial } from '../paging.ts';
import { BaseUrlSchema, HeaderNameSchema, IdSchema, idThereOf, SecretSchema } from '../wire.ts';
import {
  type ComponentPlace,
  placesOf,
  projectDays,
  projectDetail,
  projectMaintenances,
  projectMonitors,
  projectOutages,
  projectPage,
  projectReports,
  type ReportItem,
} from './project.ts';
import {
  DailySummarySchema,
  MonitorSummarySchema,
  type MonitorsAnswer,
  MonitorsAnswerSchema,
  OutagesAnswerSchema,
  type Overview,
  OverviewSchema,
  PageAnswerSchema,
  PageSummarySchema,
  PagesAnswerSchema,
  ReportAnswerSchema,
  ReportSchema,
  ReportsAnswerSchema,
  WhoamiSchema,
  wordOf,
} from './schema.ts';

const PathSchema = z.string().regex(/^\/[A-Za-z0-9._~/-]*$/, 'a path that begins with a slash');

const OptionsSchema = z.strictObject({
  /** Address of the RPC API. */
  rpcUrl: BaseUrlSchema,
  /** Address of the REST API with its `/v1`; the preset knows it: `/v1` at the host of `rpcUrl`. */
  restUrl: BaseUrlSchema.optional(),
  /** A read-only key is enough. */
  apiKey: SecretSchema,
  /** `document`: as the document has it; `openstatus`: the recorded wire of that service. */
  preset: z.enum(['document', 'openstatus']).default('document'),
  /** Header that carries the key; default: the preset's. */
  headerName: HeaderNameSchema.optional(),
  /** Path of listMonitors below `rpcUrl`; default: the preset's. */
  listMonitorsPath: PathSchema.optional(),
  /** Whether status pages, reports and maintenances are read; default: true with `preset: openstatus`. */
  statusPages: z.boolean().optional(),
  /** Whether the failed checks that the service recorded are read; default: true with `preset: openstatus`. */
  outages: z.boolean().optional(),
});
type Options = z.output<typeof OptionsSchema>;

/** The documented largest page of every list. */
const LIMIT = 100;
/** 10,000 monitors, pages or reports; beyond that the total is a mistake. */
const PAGES_MAX = 100;
/** The documented most of GetPageComponentDailySummary. */
const DAYS_OF_PAST = 45;
/** Summaries asked in one pass at most; no limit is documented, so we stay modest. */
const SUMMARIES_PER_PASS = 10;
/** A summary of seven days need not be asked again before this. */
const SUMMARY_AGE_MIN_MS = 15 * MINUTE_MS;
/** How far before our last look an ended report is read again. */
const RECENT_MARGIN_MS = DAY_MS;
/** How far back ended reports are read when we cannot tell when we looked last. */
const RECENT_DEFAULT_MS = 30 * DAY_MS;

type Service = 'Monitor' | 'StatusPage' | 'StatusReport';

function pathOf(options: Options, service: Service, operation: string): string {
  if (operation === 'ListMonitors' && options.listMonitorsPath !== undefined) return options.listMonitorsPath;
  if (options.preset === 'openstatus') {
    const domain = service.replace(/(?<=[a-z])(?=[A-Z])/, '_').toLowerCase();
    return `/openstatus.${domain}.v1.${service}Service/${operation}`;
  }
  return `/${service}Service/${operation.charAt(0).toLowerCase()}${operation.slice(1)}`;
}

function headersOf(options: Options): Record<string, string> {
  const name = options.headerName ?? (options.preset === 'openstatus' ? 'x-openstatus-key' : 'x-svc-key');
  return { [name]: options.apiKey };
}

/** One read operation of the RPC API; asking twice does no harm. */
function call<T>(
  options: Options,
  operation: readonly [Service, string],
  asked: { name: string; priority: Priority; body: unknown; schema: z.ZodType<T> },
): Question<T> {
  return {
    name: asked.name,
    priority: asked.priority,
    method: 'POST',
    url: `${options.rpcUrl}${pathOf(options, ...operation)}`,
    headers: headersOf(options),
    body: asked.body,
    schema: asked.schema,
    isRepeatable: true,
  };
}

/** The address of the REST API; null: the document does not show it and no option says. */
function restUrlOf(options: Options): string | null {
  if (options.restUrl !== undefined) return options.restUrl;
  return options.preset === 'openstatus' ? `${new URL(options.rpcUrl).origin}/v1` : null;
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const isPreset = options.preset === 'openstatus';
  const answers = yield* readMonitors(options);
  const { monitors, problems, itemsTotal } = projectMonitors(answers.pages, context.upstreamId);
  const reason = whyPartial(answers);
  const found = (options.statusPages ?? isPreset) ? yield* readPagesAndReports(options, context) : NOTHING_FOUND;
  const outages = (options.outages ?? isPreset) ? yield* readOutages(options, context, monitors) : NOTHING_FOUND;
  const details = yield* readSummaries(options, context, { monitors, days: found.days });
  const isStale = found.isStale || outages.isStale;
  return {
    ...NOTHING_LEARNED,
    monitors,
    incidents: [...found.incidents, ...outages.incidents],
    maintenances: found.maintenances,
    pages: found.pages,
    details,
    problems: [
      ...problems,
      ...(reason === null ? [] : [{ kind: 'note' as const, place: 'list monitors', message: reason }]),
      ...found.problems,
      ...outages.problems,
    ],
    itemsTotal: itemsTotal + found.itemsTotal + outages.itemsTotal,
    stale: [
      ...(answers.kind === 'shifting' ? (['monitors'] as const) : []),
      ...(isStale ? (['incidents'] as const) : []),
      ...(found.isStale ? (['maintenances', 'pages'] as const) : []),
    ],
    isBackfilled: context.memory.isBackfilled || found.isBackfilled,
  };
}

/** Every monitor. Rows that the service cannot read still count in its total, so only the offset says where the end is. */
function* readMonitors(options: Options) {
  const questionAt = (body: unknown): Question<MonitorsAnswer> =>
    call(options, ['Monitor', 'ListMonitors'], {
      name: 'list monitors',
      priority: 'list',
      body,
      schema: MonitorsAnswerSchema,
    });
  const isPreset = options.preset === 'openstatus';
  const countOf = (answer: MonitorsAnswer): number => answer.lists.reduce((sum, list) => sum + list.items.length, 0);
  let offset = 0;
  const listing: Listing<MonitorsAnswer> = {
    // The document's request is an empty object; paging is only tried when its answer counts more than it holds.
    first: questionAt(isPreset ? { limit: LIMIT, offset: 0 } : {}),
    next: (answer, index) => {
      const read = isPreset ? LIMIT : index === 0 ? countOf(answer) : LIMIT;
      offset = index === 0 ? read : offset + read;
      if (answer.total === null || offset >= answer.total || (countOf(answer) === 0 && !isPreset)) return null;
      return questionAt({ limit: LIMIT, offset });
    },
    pagesMax: PAGES_MAX,
    isNeeded: true,
  };
  return yield* readStablePages(listing, {
    factsOf: (answer) => ({
      total: answer.total,
      ids: answer.lists.flatMap((list) => list.items.map(idOf)),
    }),
    countsAll: false,
  });
}

/** The id of an item, or something that no other item has. */
function idOf(item: unknown): string {
  const parsed = z.object({ id: IdSchema }).safeParse(item);
  return parsed.success ? parsed.data.id : JSON.stringify(item);
}

interface Found {
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

const NOTHING_FOUND: Found = {
  pages: [],
  incidents: [],
  maintenances: [],
  days: new Map(),
  problems: [],
  itemsTotal: 0,
  isStale: false,
  isBackfilled: true,
};

function* readPagesAndReports(options: Options, context: PullContext): Pull<Found> {
  const { upstreamId } = context;
  const read = yield* readOverviews(options);
  if (read.overviews === null) return { ...NOTHING_FOUND, problems: read.problems, isStale: true, isBackfilled: false };
  const projected = read.overviews.map((overview) => projectPage(overview, upstreamId));
  const pages = projected.flatMap(({ page }) => page ?? []);
  const places = placesOf(pages, upstreamId);
  const windows = read.overviews.map(({ statusPage, maintenances }) =>
    projectMaintenances(maintenances, { upstreamId, pageId: statusPage.id, places }),
  );
  const open = read.overviews.flatMap(({ statusPage, statusReports }) =>
    statusReports.map((item): ReportItem => ({ item, pageId: statusPage.id })),
  );
  const ended = yield* readReports(options, context, { open, places });
  const reports = projectReports([...open, ...ended.items], { upstreamId, places });
  const past = yield* readDays(options, context, read.overviews);
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
    isStale: read.isStale || ended.isStale,
    isBackfilled: !read.isStale && ended.isBackfilled && past.isBackfilled,
  };
}

function note(place: string, message: string): Problem {
  return { kind: 'note', place, message };
}

/** Each page with everything on it; null: the list of pages could not be read. */
function* readOverviews(
  options: Options,
): Pull<{ overviews: readonly Overview[] | null; problems: readonly Problem[]; isStale: boolean }> {
  const listed = yield* readStablePages(
    offsetListing(options, ['StatusPage', 'ListStatusPages'], {
      name: 'list status pages',
      priority: 'incident',
      schema: PagesAnswerSchema,
      countOf: (page) => page.statusPages.length,
    }),
    { factsOf: (page) => ({ total: page.totalSize ?? null, ids: page.statusPages.map(idOf) }), countsAll: false },
  );
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
      isStale = true;
      problems.push(note(`pages.${id}`, settled.kind === 'failed' ? settled.error.message : 'waits for quota'));
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
  const [content] = yield* attempt([overviewQuestion(options, 'GetStatusPageContent', id)]);
  if (content?.kind === 'ok') return content;
  const [page] = yield* attempt([
    call(options, ['StatusPage', 'GetStatusPage'], {
      name: 'status page',
      priority: 'incident',
      body: { id },
      schema: PageAnswerSchema,
    }),
  ]);
  if (page?.kind !== 'ok') return page ?? { kind: 'skipped' };
  const nothing = { components: [], groups: [], statusReports: [], maintenances: [] };
  return { ...page, payload: { ...page.payload, ...nothing } };
}

function offsetListing<T extends { readonly totalSize?: number | null | undefined }>(
  options: Options,
  operation: readonly [Service, string],
  list: { name: string; priority: Priority; schema: z.ZodType<T>; countOf: (page: T) => number },
): Listing<T> {
  const questionAt = (offset: number): Question<T> =>
    call(options, operation, {
      name: list.name,
      priority: list.priority,
      body: { limit: LIMIT, offset },
      schema: list.schema,
    });
  return {
    first: questionAt(0),
    next: (page, index) => {
      const offset = (index + 1) * LIMIT;
      const isLast = list.countOf(page) === 0 || offset >= (page.totalSize ?? 0);
      return isLast ? null : questionAt(offset);
    },
    pagesMax: PAGES_MAX,
    isNeeded: false,
  };
}

/** Reports that are on no page any more because they ended: all of them once, later those that ended lately. */
function* readReports(
  options: Options,
  context: PullContext,
  { open, places }: { open: readonly ReportItem[]; places: ReadonlyMap<string, ComponentPlace> },
): Pull<{ items: readonly ReportItem[]; problems: readonly Problem[]; isStale: boolean; isBackfilled: boolean }> {
  const { memory } = context;
  const listed = yield* readStablePages(
    offsetListing(options, ['StatusReport', 'ListStatusReports'], {
      name: 'list reports',
      priority: 'incident',
      schema: ReportsAnswerSchema,
      countOf: (page) => page.statusReports.length,
    }),
    { factsOf: (page) => ({ total: page.totalSize ?? null, ids: page.statusReports.map(idOf) }), countsAll: false },
  );
  const reason = whyPartial(listed);
  if (reason !== null)
    return { items: [], problems: [note('list reports', reason)], isStale: true, isBackfilled: false };
  const onPages = new Set(open.map(({ item }) => idOf(item)));
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
  const pageOnly = places.size === 0 ? [] : answers;
  return {
    items: pageOnly.flatMap((answer) =>
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

function* readOutages(
  options: Options,
  { upstreamId }: PullContext,
  monitors: readonly MonitorObservation[],
): Pull<Found> {
  const restUrl = restUrlOf(options);
  if (restUrl === null) return NOTHING_FOUND;
  const [answer] = yield* attempt([
    {
      name: 'list outages',
      priority: 'incident',
      method: 'GET',
      url: `${restUrl}/incident`,
      headers: headersOf(options),
      schema: OutagesAnswerSchema,
    } satisfies Question<unknown[]>,
  ]);
  if (answer?.kind === 'ok') {
    const { incidents, problems } = projectOutages(answer.payload, { upstreamId, monitors });
    return { ...NOTHING_FOUND, incidents, problems, itemsTotal: answer.payload.length };
  }
  const message = answer?.kind === 'failed' ? answer.error.message : 'waits for quota';
  // A service that does not offer it has none.
  const isAbsent = answer?.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  return { ...NOTHING_FOUND, problems: [note('list outages', message)], isStale: !isAbsent };
}

/** Figures of seven days for the monitors that were not asked for longest, and the past days of all. */
function* readSummaries(
  options: Options,
  context: PullContext,
  { monitors, days }: { monitors: readonly MonitorObservation[]; days: Found['days'] },
): Pull<MonitorDetail[]> {
  const { upstreamId, memory, now } = context;
  const age = (id: string): number => memory.detailFetchedAt.get(id) ?? 0;
  const due =
    options.preset === 'openstatus'
      ? monitors
          .filter((monitor) => monitor.state !== 'paused')
          .map((monitor) => idThereOf(monitor.id))
          .filter((id) => now - age(id) >= SUMMARY_AGE_MIN_MS)
          .toSorted((a, b) => age(a) - age(b))
          .slice(0, SUMMARIES_PER_PASS)
      : [];
  const answers = yield* attempt(
    due.map((id) =>
      call(options, ['Monitor', 'GetMonitorSummary'], {
        name: 'monitor summary',
        priority: 'detail',
        body: { id, timeRange: 'TIME_RANGE_7D' },
        schema: MonitorSummarySchema,
      }),
    ),
  );
  const summaries = new Map(
    answers.flatMap((answer, index) => (answer.kind === 'ok' ? [[due[index] ?? '', answer] as const] : [])),
  );
  const ids = [...new Set([...summaries.keys(), ...days.keys()])].filter((id) =>
    monitors.some((monitor) => idThereOf(monitor.id) === id),
  );
  return ids.map((id) =>
    projectDetail(id, {
      upstreamId,
      fetchedAt: summaries.get(id)?.at ?? now,
      summary: summaries.get(id)?.payload ?? null,
      periodDays: 7,
      days: days.get(id) ?? [],
    }),
  );
}

function* probe(options: Options): Pull<Probe> {
  const [listed] = yield* attempt([
    call(options, ['Monitor', 'ListMonitors'], {
      name: 'list monitors',
      priority: 'list',
      body: {},
      schema: MonitorsAnswerSchema,
    }),
  ]);
  if (listed?.kind === 'failed') throw listed.error;
  const counted = listed?.kind === 'ok' ? listed.payload : null;
  const monitorsTotal =
    counted === null ? null : (counted.total ?? counted.lists.reduce((sum, list) => sum + list.items.length, 0));
  const restUrl = restUrlOf(options);
  if (restUrl === null)
    return { summary: 'key accepted', warnings: ['no restUrl: name, plan and scopes cannot be shown'], monitorsTotal };
  const { payload } = yield* ask({
    name: 'whoami',
    priority: 'list',
    method: 'GET',
    url: `${restUrl}/whoami`,
    headers: headersOf(options),
    schema: WhoamiSchema,
  });
  const scopes = payload.actor?.scopes ?? null;
  const shown = scopes === null ? 'no scopes shown' : `${scopes.join(' and ')} scope`;
  return {
    summary: `workspace "${payload.name ?? payload.slug ?? '?'}", plan ${payload.plan ?? '?'}, ${shown}`,
    // Keys from before scopes existed may write.
    warnings: scopes === null || scopes.includes('write') ? ['this key may write; a read-only key is enough'] : [],
    monitorsTotal,
  };
}

export const uptimeService: Connector<Options> = {
  kind: 'uptime-service',
  optionsSchema: OptionsSchema,
  limits: { perMinute: null, perHour: null },
  pull,
  probe,
};
