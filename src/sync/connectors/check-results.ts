/**
 * What the results of checks mean, from all places that make them: a monitor is down when more than half of the places that
 * answered lately say so, and degraded when some do, or when more than half find it degraded.
 */

import { z } from 'zod';
import type { CheckResult } from '../../model/check-result.ts';
import type { MonitorDetail, MonitorId, MonitorObservation, Problem } from '../../model/observation.ts';
import { toMonitorId } from '../../model/observation.ts';
import type { State } from '../../model/state.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import { StoredCheckSchema } from '../../schema/stored-check.ts';
import { ask, type Pull, type PullContext } from '../connector.ts';
import { type Check, checkHeldMs, checkPeriodMs, checkTarget } from './check.ts';
import { compareIds, note } from './items.ts';
import { createDetail } from './measurements.ts';

/** The place of a node without a configured place. It runs all checks, whatever places they name. */
export const ONLY_PLACE = 'local';

/** The last results of an upstream's checks, and the places that nodes currently check from. */
const StoredChecksSchema = z.object({ results: z.array(StoredCheckSchema), places: z.array(z.string()) });
type StoredChecks = z.output<typeof StoredChecksSchema>;

/** Reads the last results of an upstream's checks from the database. */
export function* readResults(upstreamId: string): Pull<StoredChecks> {
  const url = `store:checks/${upstreamId}`;
  return (yield* ask({ name: 'read results of checks', url, schema: StoredChecksSchema })).payload;
}

/** Places named by checks that no node has. */
function missingPlaces(checks: readonly Check[], places: readonly string[]): Problem[] {
  const named = new Set(checks.flatMap(({ active, regions = [] }) => (active ? regions : [])));
  return [...named]
    .filter((place) => !places.includes(place))
    .toSorted(compareIds)
    .map((place) => note(`regions ${place}`, `${MISSING_PLACE}${places.includes(ONLY_PLACE) ? INSTEAD : ''}`));
}

const MISSING_PLACE = 'no running node has this place. Set checks.place on a node there';
const INSTEAD = '; until then, a node without a place makes its checks';

interface Combined {
  readonly state: State;
  /** Null: not known. */
  readonly since: EpochMs | null;
  /** Absent: it was known at once. */
  readonly foundAt?: EpochMs;
}

/** Whether results of a place count for a check. */
function isOfPlace({ regions = [] }: Check, place: string): boolean {
  return regions.length === 0 || regions.includes(place) || place === ONLY_PLACE;
}

/** Combines the results of all places. Outdated results, and those of places without a network, are ignored. */
export function combinePlaces(check: Check, results: readonly CheckResult[], now: EpochMs): Combined {
  const ours = results.filter(({ place }) => isOfPlace(check, place));
  const answers = ours.filter(({ at, state }) => state !== 'unknown' && now - at <= checkHeldMs(check));
  const total = answers.length;
  if (total === 0) {
    const ends = ours.map(({ state, since, at }) =>
      state === 'unknown' ? since : toEpochMs(at + checkPeriodMs(check)),
    );
    return { state: 'unknown', since: ends.length === 0 ? null : toEpochMs(Math.max(...ends)) };
  }
  const those = (states: readonly string[]): CheckResult[] =>
    answers.filter(({ state }) => states.includes(state)).toSorted((a, b) => a.since - b.since);
  const down = those(['major_outage']);
  const troubled = those(['major_outage', 'degraded']);
  const half = Math.floor(total / 2);
  const combined = (state: State, decisive: CheckResult | undefined): Combined =>
    decisive === undefined ? { state, since: null } : { state, since: decisive.since, foundAt: decisive.foundAt };
  // The state began when more than half of the places reported it.
  if (down.length > half) return combined('major_outage', down[half]);
  // Since the first was down, or since the others were half of them again.
  const [first, other] = [down[0], those(['operational', 'degraded'])[total - half - 1]];
  if (first !== undefined) return combined('degraded', (other?.since ?? 0) > first.since ? other : first);
  if (troubled.length > half) return combined('degraded', troubled[half]);
  return combined('operational', those(['operational']).at(-1));
}

/** How often details of checks without news are written. */
const DETAIL_AGE_MIN_MS = 5 * MINUTE_MS;
/** A result may be stored this long after it was found, so a pass may have missed it. */
const WRITTEN_WITHIN_MS = 5 * SECOND_MS;
/** Older answers of a place don't count, because it may be gone. */
const ANSWER_AGE_MAX_MS = DAY_MS;

/** Turns checks into monitors with their last answers by place, sorted by id. */
export function projectChecks(
  checks: readonly Check[],
  { results, places }: StoredChecks,
  { upstreamId, now, memory }: PullContext,
) {
  const byName = Map.groupBy(results, ({ name }) => name);
  const changedAt: Record<MonitorId, EpochMs> = {};
  const foundAt: Record<MonitorId, EpochMs> = {};
  const details: MonitorDetail[] = [];
  const shownAtOnce: MonitorId[] = [];
  const monitors = checks.map((check): MonitorObservation => {
    const named = byName.get(check.id) ?? [];
    const own = named.filter(({ place, at }) => isOfPlace(check, place) && at <= now + MINUTE_MS);
    const paused: Combined = { state: 'paused', since: null };
    const { state, since, foundAt: found } = check.active ? combinePlaces(check, own, now) : paused;
    const id = toMonitorId(upstreamId, check.id);
    if (since !== null) changedAt[id] = since;
    if (found !== undefined) foundAt[id] = found;
    const fetchedAt = memory.detailFetchedAt.get(check.id) ?? 0;
    const isNews = own.some((result) => result.foundAt > fetchedAt - WRITTEN_WITHIN_MS);
    if (isNews) shownAtOnce.push(id);
    if (own.length > 0 && (isNews || now - fetchedAt >= DETAIL_AGE_MIN_MS))
      details.push(toDetail(id, own, now, fetchedAt));
    return {
      id,
      name: check.name,
      description: check.description ?? null,
      kind: check.type,
      target: checkTarget(check),
      state,
      isPublic: check.public ?? null,
      createdAt: null,
    };
  });
  const byId = (a: { readonly id: string }, b: { readonly id: string }): number => compareIds(a.id, b.id);
  return {
    monitors: monitors.toSorted(byId),
    changedAt,
    foundAt,
    shownAtOnce,
    details: details.toSorted(byId),
    problems: missingPlaces(checks, places),
  };
}

function toDetail(id: MonitorId, results: readonly CheckResult[], now: EpochMs, fetchedAt: number): MonitorDetail {
  const lately = results.filter(({ at }) => now - at <= ANSWER_AGE_MAX_MS);
  const ends = lately.flatMap(({ certificateEndsAt }) => certificateEndsAt ?? []);
  return createDetail(id, now, {
    uptime: {
      ...{ periodDays: null, checksTotal: null, checksUp: null, uptimeRatio: null, responseTimeAverageMs: null },
      places: lately
        .toSorted((a, b) => compareIds(a.place, b.place))
        .map(({ place, at, state, totalMs }) => ({ place, at, state, responseTimeMs: totalMs })),
      ...(ends.length === 0 ? {} : { certificateEndsAt: toEpochMs(Math.min(...ends)) }),
    },
    // Results of other places may be stored after a later pass.
    responseTimes: results
      .flatMap(({ recent }) => recent)
      .filter(({ at }) => at > fetchedAt - MINUTE_MS && at <= now)
      .toSorted((a, b) => a.at - b.at),
  });
}
