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

import type { Learned, MonitorDetail, MonitorObservation } from '../../../model/observation.ts';
import { MINUTE_MS } from '../../../model/time.ts';
import {
  ask,
  attempt,
  type Connector,
  NOTHING_LEARNED,
  type Probe,
  type Pull,
  type PullContext,
  type Question,
} from '../../connector.ts';
import { type Reading, readOffsetPages, whyPartial } from '../paging.ts';
import { externalIdOf, losesOpen } from '../wire.ts';
import { call, itemId, LIMIT, type Options, OptionsSchema, PAGES_MAX, requestHeaders, restUrlOf } from './calls.ts';
import { type Found, idsThere, NOTHING_FOUND, note, openThere, readPagesAndReports } from './pages.ts';
import { projectDetail, projectMonitors } from './project.ts';
import { projectOutages } from './project-posts.ts';
import {
  DocumentedMonitorsSchema,
  MonitorSummarySchema,
  type MonitorsAnswer,
  OutagesAnswerSchema,
  RecordedMonitorsSchema,
  WhoamiSchema,
} from './schema.ts';

/** Summaries asked in one pass at most; no limit is documented, so we stay modest. */
const SUMMARIES_PER_PASS = 10;
/** A summary of seven days need not be asked again before this. */
const SUMMARY_AGE_MIN_MS = 15 * MINUTE_MS;

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
    monitors: monitors.map(shownBy(found.pages)),
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

function readMonitors(options: Options): Pull<Reading<MonitorsAnswer>> {
  return readOffsetPages({
    ask: (range) => monitorsQuestion(options, range ?? {}),
    factsOf: (answer) => ({ total: answer.total, ids: answer.lists.flatMap((list) => list.items.map(itemId)) }),
    limit: LIMIT,
    pagesMax: PAGES_MAX,
    isNeeded: true,
  });
}

function monitorsQuestion(options: Options, body: unknown): Question<MonitorsAnswer> {
  return call(options, ['Monitor', 'ListMonitors'], {
    name: 'list monitors',
    priority: 'list',
    body,
    schema: options.preset === 'openstatus' ? RecordedMonitorsSchema : DocumentedMonitorsSchema,
  });
}

function monitorCount(answer: MonitorsAnswer): number {
  return answer.lists.reduce((sum, list) => sum + list.items.length, 0);
}

function* readOutages(options: Options, context: PullContext, monitors: readonly MonitorObservation[]): Pull<Found> {
  const restUrl = restUrlOf(options);
  if (restUrl === null) return NOTHING_FOUND;
  const [answer] = yield* attempt([
    {
      name: 'list outages',
      priority: 'incident',
      method: 'GET',
      url: `${restUrl}/incident`,
      headers: requestHeaders(options),
      schema: OutagesAnswerSchema,
    } satisfies Question<unknown[]>,
  ]);
  if (answer?.kind === 'ok') {
    const { incidents, problems } = projectOutages(answer.payload, { upstreamId: context.upstreamId, monitors });
    const known = { taken: idsThere(incidents, 'incident-'), open: openThere(context, 'incident-') };
    const isStale = losesOpen(answer.payload, known);
    return { ...NOTHING_FOUND, incidents, problems, itemsTotal: answer.payload.length, isStale };
  }
  const message = answer?.kind === 'failed' ? answer.error.message : 'waits for quota';
  // A service that does not offer it has none.
  const isAbsent = answer?.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  return { ...NOTHING_FOUND, problems: [note('list outages', message)], isStale: !isAbsent };
}

/**
 * The real service keeps `public` from before pages had components: what it puts on one of its public pages shows there
 * whatever the flag says. Everywhere else the flag counts.
 */
function shownBy(pages: Found['pages']): (monitor: MonitorObservation) => MonitorObservation {
  const shown = new Set(
    pages
      .filter((page) => page.access === 'public' && page.published)
      .flatMap((page) => page.components.map((component) => component.monitor)),
  );
  return (monitor) => (shown.has(monitor.id) ? { ...monitor, isPublic: true } : monitor);
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
          .map((monitor) => externalIdOf(monitor.id))
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
    monitors.some((monitor) => externalIdOf(monitor.id) === id),
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
  const { payload: listed } = yield* ask(monitorsQuestion(options, {}));
  const monitorsTotal = listed.total ?? monitorCount(listed);
  const restUrl = restUrlOf(options);
  if (restUrl === null)
    return { summary: 'key accepted', warnings: ['no restUrl: name, plan and scopes cannot be shown'], monitorsTotal };
  const { payload } = yield* ask({
    name: 'whoami',
    priority: 'list',
    method: 'GET',
    url: `${restUrl}/whoami`,
    headers: requestHeaders(options),
    schema: WhoamiSchema,
  });
  const scopes = payload.actor?.scopes ?? null;
  const shown = scopes === null ? 'no scopes shown' : `${scopes.join(' and ')} scope`;
  return {
    summary: `workspace "${payload.name ?? payload.slug ?? '?'}", plan ${payload.plan ?? '?'}, key ${payload.actor?.keyId ?? '?'} with ${shown}`,
    // Keys from before scopes existed may write.
    warnings: scopes === null || scopes.includes('write') ? ['this key may write; a read-only key is enough'] : [],
    monitorsTotal,
  };
}

export const uptimeService: Connector<Options> = {
  definesPages: true,
  kind: 'uptime-service',
  optionsSchema: OptionsSchema,
  limits: { perMinute: null, perHour: null },
  pull,
  probe,
};
