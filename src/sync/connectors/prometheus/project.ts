/**
 * What values mean: held to the conditions of the configuration, all series of a query together. Alerts of an Alertmanager
 * are incidents of the monitors that the configuration names them for.
 */

import {
  type Incident,
  type IncidentImpact,
  type MonitorId,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { Span } from '../../../model/overlap.ts';
import { combinedState, type State } from '../../../model/state.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../model/time.ts';
import type { PullContext } from '../../connector.ts';
import { createIncident, endMissing } from '../entries.ts';
import { note, parseItem, parseItems, uniqueById } from '../items.ts';
import { toSpans } from '../measurements.ts';
import { lookUp, unknownWord } from '../wire.ts';
import {
  type Alert,
  AlertSchema,
  type Condition,
  type QueryAnswer,
  RangeSeriesSchema,
  SeriesSchema,
} from './schema.ts';

/** A configured monitor. */
export interface Rule {
  readonly id: string;
  /** It is operational while this is true. */
  readonly up: Condition;
  /** It is degraded while this is also true; null: never. */
  readonly degraded: Condition | null;
}

export const RESULT_TYPES = ['vector', 'scalar', 'matrix'] as const;

/** Prometheus looks back this far for a sample. Older answers come from a cache. */
const AGE_MAX_MS = 5 * MINUTE_MS;

/** Without a number, there is no state. */
function judgeValue({ up, degraded }: Rule, value: number): State {
  if (!Number.isFinite(value)) return 'unknown';
  if (!up(value)) return 'major_outage';
  return degraded?.(value) === true ? 'degraded' : 'operational';
}

/** What Prometheus says is wrong with a query, cut and without control characters; null: nothing. */
export function readFault(answer: QueryAnswer): string | null {
  if (answer.status === 'success') return null;
  const words = answer.error.replaceAll(/\p{Cc}+/gu, '');
  return `Prometheus rejected the query: ${words.length > 300 ? `${words.slice(0, 300)}…` : words}`;
}

/** The states of the series that an instant query gives; `unknown` where there is no number. Never throws. */
export function projectQuery(rule: Rule, answer: QueryAnswer, now: EpochMs, problems: Problem[]): readonly State[] {
  const place = `monitors.${rule.id}`;
  const unknown = (problem: Problem): readonly State[] => {
    problems.push(problem);
    return ['unknown'];
  };
  if (answer.status === 'error') return unknown(note(place, readFault(answer) ?? ''));
  const { resultType, result } = answer.data;
  if (resultType !== 'vector' && resultType !== 'scalar')
    return unknown(unknownWord(`${place}.resultType`, resultType));
  if (!Array.isArray(result)) return unknown({ kind: 'dropped', place, message: 'the result is not a list' });
  if (resultType === 'vector' && result.length === 0) return unknown(note(place, 'the query returned no series'));
  return (resultType === 'scalar' ? [{ value: result }] : result).map((item: unknown, index): State => {
    const series = parseItem(SeriesSchema, item, `${place}.result[${index}]`, problems);
    if (series === undefined) return 'unknown';
    const { atSeconds, value } = series.value;
    if (Math.abs(now - atSeconds * SECOND_MS) <= AGE_MAX_MS) return judgeValue(rule, value);
    problems.push(note(place, 'it was evaluated more than five minutes ago'));
    return 'unknown';
  });
}

/**
 * What a range query tells of `[from, until)`: spans in which each sample holds for one step, disjoint and sorted.
 * Instants without a number are left out. Null: it is no matrix that can be read.
 */
export function projectRange(
  rule: Rule,
  answer: QueryAnswer,
  { from, until, stepMs }: { readonly from: number; readonly until: number; readonly stepMs: number },
): Span[] | null {
  if (answer.status === 'error' || answer.data.resultType !== 'matrix') return null;
  const { result } = answer.data;
  if (!Array.isArray(result)) return null;
  const states = new Map<number, State[]>();
  for (const item of result) {
    const parsed = RangeSeriesSchema.safeParse(item).data;
    if (parsed === undefined) return null;
    for (const { atSeconds, value } of parsed.values) {
      const at = Math.round(atSeconds * SECOND_MS);
      if (at >= from && at < until) states.getOrInsertComputed(at, () => []).push(judgeValue(rule, value));
    }
  }
  let end = 0;
  const pieces = [...states]
    .toSorted(([a], [b]) => a - b)
    .map(([at, together]): Span => {
      const from = toEpochMs(Math.max(at, end));
      end = Math.min(at + stepMs, until);
      return { state: combinedState(together), from, to: toEpochMs(end) };
    });
  return toSpans(pieces);
}

/** Muted alerts aren't shown. */
const SUPPRESSED = 'suppressed';
export const ALERT_STATES = ['active', 'unprocessed', SUPPRESSED] as const;

/** As rules usually call them; another word has some impact. */
const IMPACTS: Readonly<Record<string, IncidentImpact>> = {
  critical: 'critical',
  page: 'critical',
  error: 'major',
  major: 'major',
  warning: 'minor',
  info: 'none',
  none: 'none',
};

/** Which alerts are about a monitor: labels that they must have. */
interface AlertRule {
  readonly id: string;
  readonly selectors: readonly Readonly<Record<string, string>>[];
}

/**
 * The alerts that concern a monitor, sorted by id; one that was open and is not among them any more is over as of now, unless
 * it may be among those that cannot be read (`isSure` false), or `isComplete` is false. Never throws.
 *
 * @param isComplete  whether the Alertmanager is known to have every alert that fires
 */
export function projectAlerts(
  items: readonly unknown[],
  rules: readonly AlertRule[],
  { upstreamId, now, memory }: PullContext,
  isComplete: boolean,
) {
  const open = memory.openStories ?? new Map<string, Incident>();
  const problems: Problem[] = [];
  const alerts = parseItems(AlertSchema, items, 'alerts', problems);
  const listed = new Set<string>();
  const firing = alerts.flatMap((alert, index): Incident[] => {
    const { state } = alert.status;
    if (!ALERT_STATES.some((word) => word === state))
      problems.push(unknownWord(`alerts[${index}].status.state`, state));
    // Alerts with the same labels fire repeatedly; each time is an incident of its own.
    const id = `alert/${alert.fingerprint}/${alert.startsAt}`;
    const monitors = matchMonitors(alert, rules, upstreamId);
    if (monitors.length === 0) return [];
    listed.add(id);
    return state === SUPPRESSED && !open.has(id) ? [] : [toIncident(alert, `${upstreamId}/${id}`, monitors)];
  });
  const unique = uniqueById(firing, problems);
  const isSure = isComplete && alerts.length === items.length;
  const ended = isSure ? endMissing(open, listed, { upstreamId, now, endId: 'resolved' }) : [];
  return { incidents: uniqueById([...unique, ...ended]), problems, isSure, itemsTotal: items.length };
}

function matchMonitors({ labels }: Alert, rules: readonly AlertRule[], upstreamId: string): MonitorId[] {
  const isMatch = (wanted: Readonly<Record<string, string>>): boolean =>
    Object.entries(wanted).every(([label, value]) => (labels[label] ?? '') === value);
  return rules.filter(({ selectors }) => selectors.some(isMatch)).map(({ id }) => toMonitorId(upstreamId, id));
}

function toIncident({ startsAt, labels, annotations }: Alert, id: string, monitors: readonly MonitorId[]): Incident {
  const body = annotations.description ?? annotations.message ?? '';
  return createIncident({
    id,
    title: (annotations.summary ?? labels['alertname'] ?? 'Alert').slice(0, 500),
    impact: lookUp(IMPACTS, labels['severity']?.toLowerCase()) ?? 'minor',
    startedAt: startsAt,
    monitors,
    updates: [{ id: 'firing', at: startsAt, status: 'investigating', body }],
  });
}
