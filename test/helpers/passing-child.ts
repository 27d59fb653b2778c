/** Commits passes to a store as fast as it can and says each on standard output, until somebody kills it. */

import { NOTHING_LEARNED, toMonitorId } from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import { MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';

const [file = '', first = '0'] = process.argv.slice(2);
const store = createStore(openSqlite(file, 0).database);
const T0 = Date.UTC(2026, 0, 1);

for (let pass = Number(first); ; pass += 1) {
  const at = toEpochMs(T0 + pass * MINUTE_MS);
  const state: State = pass % 2 === 0 ? 'operational' : 'major_outage';
  const monitors = Array.from({ length: 20 }, (_, index) => ({
    id: toMonitorId('edge', index),
    name: `Monitor ${index}`,
    description: null,
    kind: 'http',
    target: null,
    state,
    isPublic: null,
    createdAt: null,
  }));
  await store.commitPass({
    upstreamId: 'edge',
    observedAt: at,
    learned: { ...NOTHING_LEARNED, monitors },
    continuity: pass === Number(first) ? 'broken' : 'continuous',
    spanChanges: pass === Number(first) ? [] : monitors.map((monitor) => ({ monitor: monitor.id, at, state })),
  });
  process.stdout.write(`${pass}\n`);
}
