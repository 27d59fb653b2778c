/** What values mean: held to the conditions of the configuration, all series of a query together. */

import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import type { Span } from '../../../model/span.ts';
import { combinedState, type State } from '../../../model/state.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../model/time.ts';
import { note, parseItem, unknownMonitor } from '../items.ts';
import { unknownWord } from '../wire.ts';
import { type Condition, type QueryAnswer, RangeSeriesSchema, SeriesSchema } from './schema.ts';

/** One monitor of the configuration. */
export interface Rule {
  readonly id: string;
  readonly name: string;
  /** It is up while this holds. */
  readonly up: Condition;
  /** And degraded while this holds as well; null: it never is. */
  readonly degraded: Condition | null;
}

export const RESULT_TYPES = ['vector', 'scalar', 'matrix'] as const;

/** Evaluated longer ago than Prometheus itself looks back for a sample: somebody kept the answer. */
const AGE_MAX_MS = 5 * MINUTE_MS;

/** No number, no state. */
function stateOf({ up, degraded }: Rule, value: number): State {
  if (!Number.isFinite(value)) return 'unknown';
  if (!up(value)) return 'major_outage';
  return degraded?.(value) === true ? 'degraded' : 'operational';
}

/** The monitor of a rule in the state that an instant query gives it; `unknown` where it gives no number. Never throws. */
export function projectQuery(
  rule: Rule,
  { data: { resultType, result } }: QueryAnswer,
  { upstreamId, now }: { readonly upstreamId: string; readonly now: EpochMs },
): { monitor: MonitorObservation; problems: Problem[]; itemsTotal: number } {
  const place = `monitors.${rule.id}`;
  const monitor = monitorOf(rule, upstreamId);
  const unknown = (problem: Problem): ReturnType<typeof projectQuery> => ({
    monitor,
    problems: [problem],
    itemsTotal: 1,
  });
  if (resultType !== 'vector' && resultType !== 'scalar')
    return unknown(unknownWord(`${place}.resultType`, resultType));
  if (!Array.isArray(result)) return unknown({ kind: 'dropped', place, message: 'the result is not a list' });
  if (resultType === 'vector' && result.length === 0) return unknown(note(place, 'the query returned no series'));
  const problems: Problem[] = [];
  const states = (resultType === 'scalar' ? [{ value: result }] : result).map((item: unknown, index): State => {
    const parsed = parseItem(SeriesSchema, item, `${place}.result[${index}]`);
    if ('problem' in parsed) {
      problems.push(parsed.problem);
      return 'unknown';
    }
    const { atSeconds, value } = parsed.item.value;
    if (Math.abs(now - atSeconds * SECOND_MS) <= AGE_MAX_MS) return stateOf(rule, value);
    problems.push(note(place, 'it was evaluated more than five minutes ago'));
    return 'unknown';
  });
  return {
    monitor: { ...monitor, state: combinedState(states) },
    problems,
    itemsTotal: states.length,
  };
}

/** A monitor of which nothing is known yet. */
export function monitorOf({ id, name }: Pick<Rule, 'id' | 'name'>, upstreamId: string): MonitorObservation {
  return { ...unknownMonitor(upstreamId, id, 'query'), name };
}

/**
 * What a range query tells of `[from, until)`: spans in which each sample holds for one step, disjoint and sorted.
 * Instants without a number are left out. Null: it is no matrix that can be read.
 */
export function projectRange(
  rule: Rule,
  { data: { resultType, result } }: QueryAnswer,
  { from, until, stepMs }: { readonly from: number; readonly until: number; readonly stepMs: number },
): Span[] | null {
  if (resultType !== 'matrix' || !Array.isArray(result)) return null;
  const states = new Map<number, State[]>();
  for (const item of result) {
    const parsed = RangeSeriesSchema.safeParse(item).data;
    if (parsed === undefined) return null;
    for (const { atSeconds, value } of parsed.values) {
      const at = Math.round(atSeconds * SECOND_MS);
      if (at >= from && at < until) states.getOrInsertComputed(at, () => []).push(stateOf(rule, value));
    }
  }
  const spans: Span[] = [];
  for (const [at, together] of [...states].toSorted(([a], [b]) => a - b)) {
    const state = combinedState(together);
    const to = toEpochMs(Math.min(at + stepMs, until));
    if (state === 'unknown') continue;
    const last = spans.at(-1);
    if (last?.to === at && last.state === state) spans[spans.length - 1] = { ...last, to };
    else spans.push({ state, from: toEpochMs(Math.max(at, last?.to ?? 0)), to });
  }
  return spans;
}
