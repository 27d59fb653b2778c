/** Queries an upstream outside of passes: is it reachable, is the key valid, and do the clocks agree? */

import { isStatusError, messageOf } from '../errors.ts';
import type { Learned } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import { counted } from '../schema/counted.ts';
import type { Store } from '../store/create-store.ts';
import { readControl } from '../store/upstream-control.ts';
import type { Probe, Pull, PullMemory } from '../sync/connector.ts';
import { toWarnings } from '../sync/connectors/items.ts';
import type { Http } from '../sync/http/http.ts';
import {
  createQuota,
  detailAgeMaxMs,
  fastestSchedule,
  hasRoom,
  intervalMinMs,
  type PassSize,
} from '../sync/pass/quota.ts';
import { createRunner, type Runner, type RunnerDeps } from '../sync/pass/runner.ts';
import { listsOnly } from '../sync/pass/snapshot.ts';
import type { Upstream } from '../sync/upstream.ts';
import type { StoreParts } from './build-store.ts';
import { now, sleep } from './clock.ts';

/** Status pages and monitors of an upstream, as a probe saw them. */
export type ProbedPages = Pick<Learned, 'monitors' | 'pages'>;

export interface ProbeRow {
  readonly upstream: string;
  readonly kind: string;
  readonly isOk: boolean;
  readonly summary: string;
  readonly code: string | null;
  readonly warnings: readonly string[];
  readonly monitorsTotal: number | null;
  /** Maximum age of a monitor's details within the quota and the schedule, in ms; null: not known, or there are none. */
  readonly detailAgeMaxMs: number | null;
  /** How far its clock is ahead of ours, to a second; null: not known. */
  readonly clockSkewMs: number | null;
}

export interface ProbeHooks {
  /** Called with its status pages, if it defines any. */
  readonly onPages?: (probed: ProbedPages) => void;
  /** Called with all that its lists have, unless its kind is asked for something else. */
  readonly onLists?: (learned: Learned) => void;
  readonly onWait?: RunnerDeps['onWait'];
}

/**
 * Never throws because of the upstream; errors are in the row.
 */
export async function probeUpstream(
  { http, store }: Pick<StoreParts, 'http' | 'store'>,
  upstream: Upstream,
  { onPages, onLists, onWait }: ProbeHooks = {},
): Promise<ProbeRow> {
  // A probe makes fewer requests than a pass. The last pass tells how many that needs.
  const { listCalls: known } = await readControl(store.database, upstream.id);
  const runner = singleRunner({ http, store, now, sleep, ...(onWait === undefined ? {} : { onWait }) }, upstream);
  const base = {
    ...{ upstream: upstream.id, kind: upstream.kind },
    ...{ code: null, warnings: [], monitorsTotal: null, detailAgeMaxMs: null },
  };
  try {
    const context = { upstreamId: upstream.id, now: now(), memory: NOTHING_REMEMBERED };
    const probe = await runner.run(upstream.probe?.(context) ?? probeLists(upstream.pull(context), onLists));
    if (probe.learned !== undefined) onPages?.(probe.learned);
    const tally = runner.tally();
    const size: PassSize = {
      listCallsPerPass: Math.max(known, probe.listCalls ?? 0, tally.listCalls),
      monitorsTotal: probe.monitorsTotal ?? 1,
    };
    const ageMs = detailAgeMaxMs(upstream.limits, { ...size, intervalMs: upstream.intervalMs });
    return {
      ...base,
      isOk: true,
      summary: probe.summary,
      warnings: [...probe.warnings, ...missedWarnings(runner, probe), ...scheduleWarnings(upstream, size)],
      monitorsTotal: probe.monitorsTotal,
      detailAgeMaxMs:
        probe.monitorsTotal === null || ageMs === Number.POSITIVE_INFINITY ? null : (ageMs ?? upstream.intervalMs),
      clockSkewMs: tally.clockSkewMs,
    };
  } catch (error) {
    return {
      ...base,
      isOk: false,
      summary: messageOf(error),
      code: isStatusError(error) ? error.code : 'UPSTREAM_SHAPE',
      clockSkewMs: runner.tally().clockSkewMs,
    };
  }
}

/** Counts what a pass would read from its lists. */
function* probeLists(pull: Pull<Learned>, onLists: ProbeHooks['onLists']): Pull<Probe> {
  const learned = yield* listsOnly(pull, ['list', 'incident']);
  onLists?.(learned);
  const { monitors, pages, incidents, maintenances, announcements } = learned;
  const lists = { monitors, 'status pages': pages, incidents, 'maintenance windows': maintenances, announcements };
  const found = Object.entries(lists).filter(([, items]) => items.length > 0);
  return {
    summary: found.map(([words, { length }]) => counted(length, words)).join(', ') || '0 monitors, 0 incidents',
    warnings: toWarnings(learned.problems),
    monitorsTotal: monitors.length,
    learned,
  };
}

/** Optional requests that failed, unless the probe already reports them. */
function missedWarnings(runner: Runner, { warnings }: Probe): string[] {
  const isSaid = (message: string): boolean => warnings.some((warning) => warning.includes(message));
  return runner.missed().flatMap(({ place, message }) => (isSaid(message) ? [] : [`${place}: ${message}`]));
}

function scheduleWarnings({ limits, intervalMs }: Upstream, size: PassSize): string[] {
  if (hasRoom(limits, { ...size, intervalMs })) return [];
  const isTooOften = intervalMs < intervalMinMs(limits, size.listCallsPerPass);
  const fault = isTooOften
    ? 'its schedule is faster than its rate limit allows, so some syncs are skipped'
    : 'at this schedule the lists use up the rate limit, so details and history arrive late or never';
  const fastest = fastestSchedule(limits, size);
  const remedy =
    fastest === null
      ? 'no schedule leaves enough for details and history. Raise limits if the upstream allows more'
      : `the fastest schedule that includes details and history is every ${fastest.intervalMs / 1_000} s, schedule: "${fastest.cron}"`;
  return [`${fault}; ${remedy}`];
}

// Asks an upstream outside of a pass: within its quota, and without what a pass remembers.

/** An empty memory: nothing has been requested yet, and no history is needed. */
export const NOTHING_REMEMBERED: PullMemory = {
  detailFetchedAt: new Map(),
  openIncidents: new Set(),
  incidentsReadAt: new Map(),
  isBackfilled: true,
};

export interface SingleRunnerDeps {
  readonly http: Http;
  readonly store: Store;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onWait?: RunnerDeps['onWait'];
}

export function singleRunner({ http, store, now, sleep, onWait }: SingleRunnerDeps, upstream: Upstream): Runner {
  const { id: upstreamId, limits, ca, intervalMs } = upstream;
  return createRunner(
    { upstreamId, limits, ca, intervalMs, listCalls: 1, isHalfOpen: true },
    {
      ...{ http, now, sleep, random: Math.random, stored: store.database },
      quota: createQuota(store.database, Math.random),
      ...(onWait === undefined ? {} : { onWait }),
    },
  );
}
