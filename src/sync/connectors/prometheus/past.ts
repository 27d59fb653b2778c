/** The past of monitors, by range queries: each once, newest first, until there is no more of it. */

import { type MonitorDetail, toMonitorId } from '../../../model/observation.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS } from '../../../model/time.ts';
import { attemptOne, type Pull, type PullContext } from '../../connector.ts';
import { type Asked, isBadQuery, type MonitorOptions, type Options, queryQuestion, ruleOf } from './calls.ts';
import { projectRange } from './project.ts';

/** Prometheus gives no more than 11,000 samples of a series at once: the last day closely, what is before in two minutes' steps. */
const DAY_STEP_MS = 15 * SECOND_MS;
const STEP_MS = 2 * MINUTE_MS;
const WINDOW_MS = 14 * DAY_MS;
const PAST_MS = 91 * DAY_MS;

interface Window {
  readonly start: number;
  /** The last sample; it holds for one step. */
  readonly end: number;
  readonly stepMs: number;
}

/** Windows that meet each other, the newest first. */
function pastWindows(now: EpochMs): Window[] {
  const last = Math.floor(now / STEP_MS) * STEP_MS;
  const windows: Window[] = [
    { start: last - DAY_MS, end: Math.floor(now / DAY_STEP_MS) * DAY_STEP_MS, stepMs: DAY_STEP_MS },
  ];
  for (let until = last - DAY_MS; until > last - PAST_MS; until -= WINDOW_MS)
    windows.push({ start: Math.max(until - WINDOW_MS, last - PAST_MS), end: until - STEP_MS, stepMs: STEP_MS });
  return windows;
}

/** The past of the monitors of which it was never asked for. */
export function* readPast(
  options: Options,
  context: PullContext,
): Pull<{ details: MonitorDetail[]; isWhole: boolean }> {
  const details: MonitorDetail[] = [];
  const due = options.monitors.filter(({ id }) => !context.memory.detailFetchedAt.has(id));
  for (const monitor of due) {
    const detail = yield* readPastOf(options, monitor, context);
    if (detail === null) return { details, isWhole: false };
    details.push(detail);
  }
  return { details, isWhole: true };
}

/** Null: it has to wait, since the answers did not come. */
function* readPastOf(
  options: Options,
  monitor: MonitorOptions,
  { upstreamId, now }: PullContext,
): Pull<MonitorDetail | null> {
  const windows: MonitorDetail['reportedSpans'][] = [];
  for (const { start, end, stepMs } of pastWindows(now)) {
    const range = { start: start / SECOND_MS, end: end / SECOND_MS, step: stepMs / SECOND_MS };
    const query = { query: monitor.query, ...range };
    const asked: Asked = { name: 'query the past', priority: 'backfill' };
    const answer = yield* attemptOne(queryQuestion(options, '/api/v1/query_range', query, asked));
    if (answer.kind === 'skipped') return null;
    if (answer.kind === 'failed') {
      if (!isBadQuery(answer.error)) return null;
      break;
    }
    const until = Math.min(end + stepMs, now);
    const spans = projectRange(ruleOf(monitor), answer.payload, { from: start, until, stepMs });
    if (spans === null || spans.length === 0) break;
    windows.push(spans);
  }
  return {
    id: toMonitorId(upstreamId, monitor.id),
    fetchedAt: now,
    uptime: null,
    responseTimes: [],
    reportedSpans: windows.toReversed().flat(),
    reportedDays: [],
  };
}
