/** Asks one upstream once: is it there, does it know us, and does its clock agree with ours? */

import { isStatusError, messageOf } from '../errors.ts';
import { readControl } from '../store/upstream-control.ts';
import { createRunner, type Runner } from '../sync/pass/runner.ts';
import { createQuota } from '../sync/quota/quota.ts';
import { detailAgeMaxMs, intervalMinMs } from '../sync/quota/windows.ts';
import type { Upstream } from '../sync/upstream.ts';
import { now, type Pharos, sleep } from './compose.ts';

export interface ProbeRow {
  readonly upstream: string;
  readonly kind: string;
  readonly isOk: boolean;
  readonly summary: string;
  readonly code: string | null;
  readonly warnings: readonly string[];
  readonly monitorsTotal: number | null;
  /** How old the details of a monitor get at most within the quota, in ms; null: not known or no limit. */
  readonly detailAgeMaxMs: number | null;
  /** How far its clock is ahead of ours, to a second; null: it does not tell. */
  readonly clockSkewMs: number | null;
}

/** Never throws for the upstream's sake: what is wrong with it is in the row. */
export async function probeUpstream(
  { http, store }: Pick<Pharos, 'http' | 'store'>,
  upstream: Upstream,
): Promise<ProbeRow> {
  // A probe asks less than a pass; how much a pass asks is known from the last one.
  const { listCalls: known } = await readControl(store.database, upstream.id);
  const runner = runnerFor({ http, store }, upstream);
  const base = { upstream: upstream.id, kind: upstream.kind };
  const memory = {
    detailFetchedAt: new Map(),
    openIncidents: new Set<string>(),
    incidentsReadAt: new Map(),
    isBackfilled: true,
  };
  try {
    const probe = await runner.run(upstream.probe({ upstreamId: upstream.id, now: now(), memory }));
    const tally = runner.tally();
    const listCalls = Math.max(known, tally.listCalls);
    return {
      ...base,
      isOk: true,
      summary: probe.summary,
      code: null,
      warnings: [...probe.warnings, ...scheduleWarnings(upstream, listCalls)],
      monitorsTotal: probe.monitorsTotal,
      detailAgeMaxMs:
        probe.monitorsTotal === null
          ? null
          : detailAgeMaxMs(upstream.limits, {
              listCallsPerPass: listCalls,
              intervalMs: upstream.intervalMs,
              monitorsTotal: probe.monitorsTotal,
            }),
      clockSkewMs: tally.clockSkewMs,
    };
  } catch (error) {
    return {
      ...base,
      isOk: false,
      summary: messageOf(error),
      code: isStatusError(error) ? error.code : 'UPSTREAM_SHAPE',
      warnings: [],
      monitorsTotal: null,
      detailAgeMaxMs: null,
      clockSkewMs: runner.tally().clockSkewMs,
    };
  }
}

/** Asks an upstream outside of a pass, within its quota. */
export function runnerFor({ http, store }: Pick<Pharos, 'http' | 'store'>, upstream: Upstream): Runner {
  const { id: upstreamId, limits, intervalMs } = upstream;
  return createRunner(
    { upstreamId, limits, intervalMs, listCalls: 1, isHalfOpen: true },
    { http, quota: createQuota(store.database, Math.random), now, random: Math.random, sleep },
  );
}

function scheduleWarnings({ limits, intervalMs }: Upstream, listCalls: number): string[] {
  const leastMs = intervalMinMs(limits, listCalls);
  if (intervalMs >= leastMs) return [];
  return [`its schedule runs more often than its quota allows: every ${Math.ceil(leastMs / 1_000)} s is the most`];
}
