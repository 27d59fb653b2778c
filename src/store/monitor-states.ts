/** The states that monitors were last seen in, without what else is known of them. */

import type { MonitorId } from '../model/observation.ts';
import { STATES, type State } from '../model/state.ts';
import type { EpochMs } from '../model/time.ts';
import type { Reader } from './database.ts';
import { parseInstant } from './rows.ts';

/** Of the monitors that are listed, in no order. A state that no version of ours knows is `unknown`. */
export async function readMonitorStates(reader: Reader, upstreamId: string): Promise<ReadonlyMap<MonitorId, State>> {
  const rows = await reader.all('SELECT id, state FROM monitor WHERE upstream = ? AND gone_at IS NULL', [upstreamId]);
  return new Map(
    rows.map((row) => [row['id'] as MonitorId, STATES.find((state) => state === row['state']) ?? 'unknown']),
  );
}

/** When the state of a monitor that goes on began; null: none does. */
export async function readOpenSince(reader: Reader, id: MonitorId): Promise<EpochMs | null> {
  const [row] = await reader.lists('SELECT from_at FROM span WHERE monitor = ? AND to_at IS NULL', [id]);
  return parseInstant(row?.[0]);
}
