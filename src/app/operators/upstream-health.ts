/** Health of an upstream, from the store: remaining quota, and whether it is in back-off. */

import { type EpochMs, HOUR_MS, toEpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';
import { readControl, requestsSince } from '../../store/upstream-control.ts';
import { type Circuit, circuitOf } from '../../sync/pass/circuit-breaker.ts';
import { windowsOf } from '../../sync/quota/windows.ts';
import type { Upstream } from '../../sync/upstream.ts';

interface QuotaLeft {
  readonly lengthMs: number;
  readonly max: number;
  readonly left: number;
}

interface UpstreamHealth {
  readonly circuit: Circuit;
  /** One for each window that limits it. */
  readonly quota: readonly QuotaLeft[];
}

export async function healthOf(reader: Reader, upstream: Upstream, now: EpochMs): Promise<UpstreamHealth> {
  const control = await readControl(reader, upstream.id);
  const quota = await Promise.all(
    windowsOf(upstream.limits).map(async ({ lengthMs, requestsMax }) => {
      const used = await requestsSince(reader, upstream.id, toEpochMs(now - lengthMs));
      return { lengthMs, max: requestsMax, left: Math.max(0, requestsMax - used) };
    }),
  );
  return { circuit: circuitOf(control, now, upstream.fingerprint), quota };
}

/** `minute` or `hour`: our windows are a little longer than the upstream's. */
export function windowName({ lengthMs }: Pick<QuotaLeft, 'lengthMs'>): 'minute' | 'hour' {
  return lengthMs >= HOUR_MS ? 'hour' : 'minute';
}
