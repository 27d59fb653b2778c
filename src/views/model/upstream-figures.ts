/** What an upstream counts itself of a component, where we have no figure of our own or beside it. */

import { type ComponentModel, type EpochMs, responseTimeFigures, windowOf } from '../../model/index.ts';

/** Its uptime, 0 to 1; null: it gives neither a figure nor counts of checks. */
export function upstreamRatio({ upstreamUptime }: Pick<ComponentModel, 'upstreamUptime'>): number | null {
  if (upstreamUptime === null) return null;
  const { uptimeRatio, checksTotal, checksUp } = upstreamUptime;
  if (uptimeRatio !== null) return uptimeRatio;
  return checksTotal === null || checksUp === null || checksTotal === 0 ? null : checksUp / checksTotal;
}

/** Its average response time in ms, where it gives no samples of the last day; null: none, or it is not heard from. */
export function upstreamResponseMs(
  { isStale, responseTimes, upstreamUptime }: ComponentModel,
  asOf: EpochMs,
): number | null {
  if (isStale || responseTimeFigures(responseTimes, windowOf('24h', asOf)) !== null) return null;
  return upstreamUptime?.responseTimeAverageMs ?? null;
}
