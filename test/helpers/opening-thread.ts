/** Opens the databases `0` to `count - 1` of a folder, each at the moment at which the other threads do. */

import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../src/errors.ts';
import { createStore } from '../../src/store/create-store.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';

const { shared, folder, count, threads } = workerData as {
  /** How many threads have arrived at all meetings so far, and the number of the last meeting that was complete. */
  shared: SharedArrayBuffer;
  folder: string;
  count: number;
  threads: number;
};
const meeting = new Int32Array(shared);

for (let number = 1; number <= count; number += 1) {
  if (Atomics.add(meeting, 0, 1) + 1 === threads * number) Atomics.store(meeting, 1, number);
  // Awake, so that all go on within microseconds of each other.
  while (Atomics.load(meeting, 1) < number);
  try {
    const { database, damagedFile } = openSqlite(join(folder, String(number), 'pharos.db'), 0);
    await createStore(database).close();
    if (damagedFile !== null) parentPort?.postMessage(`took ${damagedFile} for damaged`);
  } catch (error) {
    parentPort?.postMessage(messageOf(error));
  }
}
