/**
 * Answers of the HTTP API of Prometheus (v1) and of Alertmanager (v2), and what they mean: values are held to the conditions of the configuration, all series of a query together. Alerts of an Alertmanager
 * are incidents of the monitors that the configuration names them for.
 */

import { z } from 'zod';
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
import { InstantSchema, lookUp, NumberSchema, TextSchema, unknownWord } from '../wire.ts';

/** Names a series in its list: its labels. */
export const ID_FIELD = 'metric';

/** What a query gave, whose type decides how `result` is read; or with status 400 or 422, what is wrong with it. */
export const QueryAnswerSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.object({ resultType: z.unknown(), result: z.unknown() }) }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);
export type QueryAnswer = z.output<typeof QueryAnswerSchema>;

const SAMPLE_VALUE = /^([+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf)|NaN)$/;

/**
 * A sample: seconds since 1970, and the value as text. They are told apart by their types, so that no order is relied on;
 * `value` is NaN where there is none.
 */
const SampleSchema = z
  .array(z.unknown())
  .length(2)
  .transform(([first, second], context): { readonly atSeconds: number; readonly value: number } => {
    const [instant, text] = typeof second === 'number' ? [second, first] : [first, second];
    const atSeconds = NumberSchema.safeParse(instant).data;
    if (atSeconds !== undefined && typeof text === 'string' && SAMPLE_VALUE.test(text))
      return { atSeconds, value: Number(text.replace('Inf', 'Infinity')) };
    context.addIssue({ code: 'custom', message: 'expected an instant and a value' });
    return z.NEVER;
  });

/** One element of a vector. */
const SeriesSchema = z.object({ value: SampleSchema });
/** One row of a matrix. */
const RangeSeriesSchema = z.object({ values: z.array(SampleSchema) });

/** When an Alertmanager started: it keeps alerts in memory only. */
export const AlertmanagerSchema = z.object({ uptime: InstantSchema });

export const AlertsSchema = z.array(z.unknown());
const AlertSchema = z.object({
  fingerprint: z.string().min(1).max(200),
  startsAt: InstantSchema,
  labels: z.record(z.string(), z.string()),
  annotations: z
    .object({ summary: TextSchema, description: TextSchema, message: TextSchema })
    .catch({ summary: null, description: null, message: null }),
  status: z.object({ state: z.unknown() }).catch({ state: null }),
});
type Alert = z.output<typeof AlertSchema>;

/** A comparison of a value with a number. */
type Condition = (value: number) => boolean;

const COMPARISONS: Readonly<Record<string, (value: number, than: number) => boolean>> = {
  '>': (value, than) => value > than,
  '>=': (value, than) => value >= than,
  '<': (value, than) => value < than,
  '<=': (value, than) => value <= than,
  '==': (value, than) => value === than,
  '!=': (value, than) => value !== than,
};
const CONDITION = /^\s*(>=?|<=?|==|!=)\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*$/;

/** `>0`, `<= 0.5` … as the configuration writes it. */
export const ConditionSchema = z.string().regex(CONDITION, 'expected a comparison with a number such as >0 or <= 0.5');

/** What a text that `ConditionSchema` let pass says. */
export function parseCondition(text: string): Condition {
  const [, comparison = '', than = ''] = CONDITION.exec(text) ?? [];
  const compare = COMPARISONS[comparison];
  if (compare === undefined) throw new Error(`${text} is not a condition`);
  return (value) => compare(value, Number(than));
}

const SELECTOR = /^\s*([A-Za-z_][\w:]*)\s*(?:\{([^{}]*)\})?\s*$/;
const MATCHER = /\s*([A-Za-z_]\w*)\s*=\s*"([^"\\]*)"\s*/y;

/** Labels that an alert must have, its name among them, by a selector such as `Down{job="api"}`; null: it is none. */
export function parseSelector(text: string): Readonly<Record<string, string>> | null {
  const [whole, name = '', inside = ''] = SELECTOR.exec(text) ?? [];
  if (whole === undefined) return null;
  const labels: Record<string, string> = { alertname: name };
  MATCHER.lastIndex = 0;
  while (MATCHER.lastIndex < inside.trimEnd().length) {
    const [, label, value = ''] = MATCHER.exec(inside) ?? [];
    if (label === undefined) return null;
    labels[label] = value;
    if (inside[MATCHER.lastIndex] === ',') MATCHER.lastIndex += 1;
    else if (MATCHER.lastIndex < inside.length) return null;
  }
  return labels;
}

const SELECTOR_EXPECTED = 'expected the name of an alert, optionally with labels: Down{job="api"}';
export const SelectorSchema = z.string().refine((text) => parseSelector(text) !== null, SELECTOR_EXPECTED);

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
