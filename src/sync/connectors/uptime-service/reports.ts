/** Reports: those that ended are on no page any more, and are asked for one by one. */

import type { Problem } from '../../../model/observation.ts';
import { DAY_MS, HOUR_MS } from '../../../model/time.ts';
import { attempt, attemptOne, type Pull, type PullContext } from '../../connector.ts';
import { idIn, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, itemId, type Options, readList, requestHeaders, restUrlOf } from './calls.ts';
import { note } from './note.ts';
import type { ReportItem } from './project-reports.ts';
import {
  ID_FIELD,
  type Report,
  ReportAnswerSchema,
  ReportPageSchema,
  ReportPagesAnswerSchema,
  ReportSchema,
  ReportsAnswerSchema,
  wordOf,
} from './schema.ts';

/** How far before our last look an ended report is read again. */
const RECENT_MARGIN_MS = DAY_MS;
/** How far back ended reports are read when we cannot tell when we looked last. */
const RECENT_DEFAULT_MS = 30 * DAY_MS;
/** Older texts are read again in turn: a few in each pass, none more often than this. */
const AGAIN_PER_PASS = 5;
const AGAIN_AGE_MIN_MS = 6 * HOUR_MS;

export interface FoundReports {
  readonly items: readonly ReportItem[];
  readonly problems: readonly Problem[];
  readonly isStale: boolean;
  readonly isBackfilled: boolean;
  /** Ids there of every report there is; null: the list could not be read as a whole. */
  readonly ids: readonly string[] | null;
  /** Ids there of those that were asked for by themselves. */
  readonly readIds: readonly string[];
}

/**
 * Reports that are on no page any more because they ended: all of them once, later those that ended lately, and in turn a
 * few of the others, whose texts may have been edited.
 */
export function* readReports(options: Options, context: PullContext, open: readonly ReportItem[]): Pull<FoundReports> {
  const { memory } = context;
  const listed = yield* readList(options, ['StatusReport', 'ListStatusReports'], {
    name: 'list reports',
    schema: ReportsAnswerSchema,
    itemsOf: (page) => page.statusReports,
  });
  const reason = whyPartial(listed);
  if (reason !== null) {
    const problems = [note('list reports', reason)];
    return { items: [], problems, isStale: true, isBackfilled: false, ids: null, readIds: [] };
  }
  const all = listed.pages.flatMap((page) => page.statusReports);
  const summaries = parseItems(ReportSchema, all, 'statusReports');
  const onPages = new Set(open.map(({ item }) => itemId(item)));
  const { due, again } = dueReports(
    summaries.items.filter(({ id }) => !onPages.has(id)),
    context,
  );
  const asked = [...due, ...again];
  const isLive = (id: string): boolean => memory.isBackfilled || memory.openIncidents.has(`report-${id}`);
  const answers = yield* attempt(
    asked.map((report, index) =>
      call(options, ['StatusReport', 'GetStatusReport'], {
        name: 'report',
        priority: index >= due.length ? 'detail' : isLive(report.id) ? 'incident' : 'backfill',
        body: { id: report.id },
        schema: ReportAnswerSchema,
      }),
    ),
  );
  const missing = due.filter((_, index) => {
    const answer = answers[index];
    return answer?.kind === 'skipped' || (answer?.kind === 'failed' && answer.error.code !== 'UPSTREAM_REFUSED');
  });
  const read = answers.flatMap((answer, index) =>
    answer.kind === 'ok' ? [{ report: asked[index], item: answer.payload.statusReport }] : [],
  );
  const places = yield* readReportPages(
    options,
    read.flatMap(({ report }) => report ?? []),
  );
  return {
    items: read.map(({ report, item }) => ({ item, pageId: places.get(report?.id ?? '') ?? null })),
    problems: summaries.problems,
    isStale: missing.some((report) => isLive(report.id)),
    isBackfilled: missing.length === 0,
    ids: idsOf([...all, ...open.map(({ item }) => item)]),
    readIds: read.flatMap(({ report }) => report?.id ?? []),
  };
}

/** Null: one of them cannot be told. */
function idsOf(items: readonly unknown[]): readonly string[] | null {
  const ids = items.map((item) => idIn(item, ID_FIELD));
  return ids.every((id) => id !== null) ? [...new Set(ids)] : null;
}

function dueReports(
  ended: readonly Report[],
  context: PullContext,
): { readonly due: readonly Report[]; readonly again: readonly Report[] } {
  const { memory, now } = context;
  const since = recentSince(context);
  const due = ended.filter((report) => {
    const isOpen = wordOf(report.status, 'STATUS_REPORT_STATUS_') !== 'resolved';
    const isRecent = (report.updatedAt ?? report.createdAt) >= since;
    return !memory.isBackfilled || isOpen || isRecent || memory.openIncidents.has(`report-${report.id}`);
  });
  const others = new Map(
    ended.filter((report) => !due.includes(report)).map((report) => [`report-${report.id}`, report]),
  );
  const again = [...memory.incidentsReadAt]
    .filter(([, at]) => now - at >= AGAIN_AGE_MIN_MS)
    .flatMap(([id]) => others.get(id) ?? [])
    .slice(0, AGAIN_PER_PASS);
  return { due, again };
}

/** The newest detail is a lower bound of our last look; before it, less a margin, every ended report was read. */
function recentSince({ memory, now }: PullContext): number {
  const lastLook = Math.max(0, ...memory.detailFetchedAt.values());
  return lastLook === 0 ? now - RECENT_DEFAULT_MS : lastLook - RECENT_MARGIN_MS;
}

/** The pages of reports that name no component; only the REST API says them. Not known where it is not, or not asked. */
function* readReportPages(options: Options, reports: readonly Report[]): Pull<ReadonlyMap<string, string>> {
  const restUrl = restUrlOf(options);
  const isLost = reports.some(({ pageComponentIds }) => (pageComponentIds ?? []).length === 0);
  if (restUrl === null || !isLost) return new Map();
  const answer = yield* attemptOne({
    name: 'pages of reports',
    priority: 'detail',
    method: 'GET',
    url: `${restUrl}/status_report`,
    headers: requestHeaders(options),
    schema: ReportPagesAnswerSchema,
  });
  if (answer.kind !== 'ok') return new Map();
  const { items } = parseItems(ReportPageSchema, answer.payload, 'status_report');
  return new Map(items.flatMap(({ id, pageId }) => (pageId == null ? [] : [[id, pageId] as const])));
}
