/** The states that an upstream's monitors were last seen in, without what else is known of them. */

import type { MonitorId } from '../model/observation.ts';
import { STATES, type State } from '../model/state.ts';
import type { Reader } from './database.ts';

/** Of the monitors that are listed, in no order. A state that no version of ours knows is `unknown`. */
export async function readMonitorStates(reader: Reader, upstreamId: string): Promise<ReadonlyMap<MonitorId, State>> {
  const rows = await reader.all('SELECT id, state FROM monitor WHERE upstream = ? AND gone_at IS NULL', [upstreamId]);
  return new Map(
    rows.map((row) => [row['id'] as MonitorId, STATES.find((state) => state === row['state']) ?? 'unknown']),
  );
}
