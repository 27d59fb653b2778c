/** After the clock was set back: what an upstream's passes recorded for times that are yet to come is cut. */

import type { MonitorId } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import type { Writer } from './database.ts';
import { recordChanges } from './revisions.ts';
import { parseInstant } from './rows.ts';

const TIMES = ['monitors_at', 'incidents_at', 'maintenances_at', 'pages_at', 'channels_at'] as const;

/**
 * Cuts everything recorded for an upstream at `now`, inside the caller's transaction: later spans go, and the state that each
 * monitor was last seen in begins now. Returns how far ahead of `now` the last answer was recorded; 0: nothing was.
 */
export async function cutFuture(tx: Writer, upstreamId: string, now: EpochMs): Promise<number> {
  const [row] = await tx.all(`SELECT ${TIMES.join(', ')} FROM upstream WHERE id = ?`, [upstreamId]);
  const aheadMs = Math.max(0, ...TIMES.map((name) => (parseInstant(row?.[name]) ?? now) - now));
  if (aheadMs === 0) return 0;
  for (const name of TIMES)
    await tx.run(`UPDATE upstream SET ${name} = ? WHERE id = ? AND ${name} > ?`, [now, upstreamId, now]);
  const own = 'monitor IN (SELECT id FROM monitor WHERE upstream = ?)';
  const cut = await tx.all(`SELECT DISTINCT monitor FROM span WHERE (from_at >= ? OR to_at > ?) AND ${own}`, [
    now,
    now,
    upstreamId,
  ]);
  await tx.run(`DELETE FROM span WHERE from_at >= ? AND to_at IS NOT NULL AND ${own}`, [now, upstreamId]);
  await tx.run(`UPDATE span SET from_at = ? WHERE from_at > ? AND ${own}`, [now, now, upstreamId]);
  await tx.run(`UPDATE span SET to_at = ? WHERE to_at > ? AND ${own}`, [now, now, upstreamId]);
  // Otherwise they would count as just asked until the clock has caught up.
  await tx.run(`UPDATE detail SET fetched_at = ? WHERE fetched_at > ? AND ${own}`, [now, now, upstreamId]);
  await tx.run(`DELETE FROM response_time WHERE at > ? AND ${own}`, [now, upstreamId]);
  await tx.run('UPDATE incident SET read_at = ? WHERE read_at > ? AND upstream = ?', [now, now, upstreamId]);
  await recordChanges(tx, upstreamId, {
    monitors: cut.map(({ monitor }) => String(monitor) as MonitorId),
    incidents: [],
    maintenances: [],
    hasNewDefinitions: false,
  });
  return aheadMs;
}
