/** The last known states of monitors, without their other data. */

import type { MonitorId } from '../../model/observation.ts';
import { STATES, type State } from '../../model/state.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';
import { parseInstant } from '../../store/rows.ts';

/** States of the listed monitors, in any order. An unknown state name becomes `unknown`. */
export async function readMonitorStates(reader: Reader, upstreamId: string): Promise<ReadonlyMap<MonitorId, State>> {
  const rows = await reader.all('SELECT id, state FROM monitor WHERE upstream = ? AND gone_at IS NULL', [upstreamId]);
  return new Map(
    rows.map((row) => [row['id'] as MonitorId, STATES.find((state) => state === row['state']) ?? 'unknown']),
  );
}

/** When the monitor's current state began; null: it has none. */
export async function readOpenSince(reader: Reader, id: MonitorId): Promise<EpochMs | null> {
  const [row] = await reader.lists('SELECT from_at FROM span WHERE monitor = ? AND to_at IS NULL', [id]);
  return parseInstant(row?.[0]);
}
