/** Reports that are on no page any more because they ended, and old ones read again for what was put right in them. */

import type { CompleteList, Problem } from '../../../model/observation.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../model/time.ts';
import { type Answer, attempt, attemptOne, type Priority, type Pull, type PullContext } from '../../connector.ts';
import { idIn, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, itemId, type Options, readList, restQuestion, restUrlOf } from './calls.ts';
import type { ComponentPlace, ReportItem } from './project-reports.ts';
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
/** The service says nothing when an old text is put right, so every pass reads this many old reports again, in turn … */
const READ_AGAIN_PER_PASS = 5;
/** … none more often than this. */
const READ_AGAIN_AGE_MIN_MS = HOUR_MS;

interface ReadReports {
  readonly items: readonly ReportItem[];
  /** Null: the list could not be read as a whole. */
  readonly complete: CompleteList | null;
  /** Ids of incidents that the service says are no more. */
  readonly gone: readonly string[];
  /** Ids of incidents that were asked for by themselves. */
  readonly readAgain: readonly string[];
  readonly problems: readonly Problem[];
  readonly isStale: boolean;
  readonly isBackfilled: boolean;
}

/** All ended reports once, later those that ended or changed lately, and of the others a few each time. */
export function* readReports(
  options: Options,
  context: PullContext,
  { open, places }: { readonly open: readonly ReportItem[]; readonly places: ReadonlyMap<string, ComponentPlace> },
): Pull<ReadReports> {
  const { memory, upstreamId } = context;
  const listed = yield* readList(options, ['StatusReport', 'ListStatusReports'], {
    name: 'list reports',
    schema: ReportsAnswerSchema,
    itemsOf: (page) => page.statusReports,
  });
  const reason = whyPartial(listed);
  if (reason !== null) return unread(reason);
  const items = listed.pages.flatMap((page) => page.statusReports);
  const summaries = parseItems(ReportSchema, items, 'statusReports');
  const { due, others, longest } = dueReports(summaries.items, context, new Set(open.map(({ item }) => itemId(item))));
  const isLive = (id: string): boolean => memory.isBackfilled || memory.openIncidents.has(`report-${id}`);
  const answers = [...(yield* attempt(due.map((report) => reportQuestion(options, report, isLive(report.id)))))];
  const olds = [others, longest].map((some) => some.map((report) => reportQuestion(options, report, null)));
  answers.push(
    ...(yield* attempt(olds[0] ?? [], 1)),
    ...(yield* attempt(olds[1] ?? [], READ_AGAIN_PER_PASS - Math.min(1, others.length))),
  );
  const asked = [...due, ...others, ...longest];
  const failed = due.filter((_, index) => isMissing(answers[index]));
  const read = asked.flatMap((report, index) => {
    const answer = answers[index];
    return answer?.kind === 'ok' ? [{ id: report.id, item: answer.payload.statusReport }] : [];
  });
  const pageIds = yield* readPagesOf(options, context, { items: read.map(({ item }) => item), places });
  const ids = [...items, ...open.map(({ item }) => item)].map((item) => idIn(item, ID_FIELD));
  const toIncidentId = (id: string | null): string => `${upstreamId}/report-${id}`;
  return {
    items: read.map(({ id, item }) => ({ item, pageId: pageIds.get(id) ?? null })),
    complete: ids.includes(null)
      ? null
      : { part: 'incidents', prefix: toIncidentId(''), since: null, ids: [...new Set(ids.map(toIncidentId))] },
    gone: asked.filter((_, index) => isGone(answers[index])).map(({ id }) => toIncidentId(id)),
    readAgain: read.map(({ id }) => toIncidentId(id)),
    problems: summaries.problems,
    isStale: failed.some((report) => isLive(report.id)),
    // Those that failed have their turn among the old ones.
    isBackfilled: due.every((_, index) => answers[index]?.kind !== 'skipped'),
  };
}

function unread(reason: string): ReadReports {
  return {
    items: [],
    complete: null,
    gone: [],
    readAgain: [],
    problems: [{ kind: 'note', place: 'list reports', message: reason }],
    isStale: true,
    isBackfilled: false,
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
    const isOpen = wordOf(report.status, 'STATUS_REPORT_STATUS_') !== 'resolved';
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

/** @param isLive null: it is an old one, which is read again */
function reportQuestion(options: Options, { id }: Report, isLive: boolean | null) {
  const priority: Priority = isLive === null ? 'detail' : isLive ? 'incident' : 'backfill';
  return call(options, ['StatusReport', 'GetStatusReport'], {
    name: isLive === null ? 'old report' : 'report',
    priority,
    body: { id },
    schema: ReportAnswerSchema,
  });
}

function isMissing(answer: Answer<unknown> | undefined): boolean {
  return answer?.kind === 'skipped' || (answer?.kind === 'failed' && answer.error.code !== 'UPSTREAM_REFUSED');
}

function isGone(answer: Answer<unknown> | undefined): boolean {
  return answer?.kind === 'failed' && answer.error.context['status'] === 404;
}

/**
 * The pages of reports that name no component: a report asked for by itself does not say. Those that are known already
 * keep theirs, so only for new ones is the other interface asked.
 */
function* readPagesOf(
  options: Options,
  { memory }: PullContext,
  { items, places }: { readonly items: readonly unknown[]; readonly places: ReadonlyMap<string, ComponentPlace> },
): Pull<ReadonlyMap<string, string>> {
  const restUrl = restUrlOf(options);
  const isPlaced = (report: Report): boolean => (report.pageComponentIds ?? []).some((id) => places.has(id));
  const isKnown = ({ id }: Report): boolean =>
    memory.openIncidents.has(`report-${id}`) || memory.incidentsReadAt.has(`report-${id}`);
  const strays = parseItems(ReportSchema, items, '').items.filter((report) => !isPlaced(report) && !isKnown(report));
  if (strays.length === 0 || restUrl === null) return new Map();
  const answer = yield* attemptOne(
    restQuestion(options, restUrl, {
      name: 'pages of reports',
      priority: 'incident',
      path: '/status_report',
      schema: ReportPagesAnswerSchema,
    }),
  );
  if (answer.kind !== 'ok') return new Map();
  const rows = parseItems(ReportPageSchema, answer.payload, '').items;
  return new Map(rows.flatMap(({ id, pageId }) => (pageId == null ? [] : [[id, pageId] as const])));
}
