/** Monitors and their figures as they are read. */

import type { MonitorDetail, MonitorObservation } from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/span.ts';
import { MINUTE_MS } from '../../../model/time.ts';
import { attempt, type Pull, type PullContext, type Question } from '../../connector.ts';
import { detailsDue, externalIdOf } from '../items.ts';
import { type Reading, readOffsetPages } from '../paging.ts';
import { call, itemId, LIMIT, type Options, PAGES_MAX } from './calls.ts';
import { projectDetail } from './project.ts';
import {
  DocumentedMonitorsSchema,
  MonitorSummarySchema,
  type MonitorsAnswer,
  RecordedMonitorsSchema,
} from './schema.ts';

/** Summaries asked in one pass at most; no limit is documented, so we stay modest. */
const SUMMARIES_PER_PASS = 10;
/** A summary of seven days need not be asked again before this. */
const SUMMARY_AGE_MIN_MS = 15 * MINUTE_MS;

export function readMonitors(options: Options): Pull<Reading<MonitorsAnswer>> {
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

export function monitorCount(answer: MonitorsAnswer): number {
  return answer.lists.reduce((sum, list) => sum + list.items.length, 0);
}

/** Figures of seven days for the monitors that were not asked for longest, and the past days of all. */
export function* readSummaries(
  options: Options,
  context: PullContext,
  { monitors, days }: { monitors: readonly MonitorObservation[]; days: ReadonlyMap<string, readonly ReportedDay[]> },
): Pull<MonitorDetail[]> {
  const { upstreamId, now } = context;
  const due =
    options.preset === 'openstatus'
      ? detailsDue(
          monitors.filter((monitor) => monitor.state !== 'paused'),
          context,
          { ageMinMs: SUMMARY_AGE_MIN_MS, max: SUMMARIES_PER_PASS },
        )
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
