/** A thread that runs one module of a thread after another, told by the one that started it (`warm-threads.ts`). */

import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { alive, clearTimers, leftBehind } from './left-behind.ts';
import { shareThreads, type ThreadTask } from './warm-threads.ts';

/** Otherwise it is ended. */
const CLOSES_WITHIN_MS = 2_000;
const parent = threads.parentPort;
let runs = 0;
// It has threads for pictures.
shareThreads();
parent?.on('message', (task: ThreadTask) => void run(task));

async function run({ module, data, env, port }: ThreadTask): Promise<void> {
  const before = alive();
  const left = new Promise<void>((close) => port.once('close', close));
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.assign(threads, { workerData: data, parentPort: port });
  syncBuiltinESMExports();
  runs += 1;
  // The module is evaluated for each run, what it imports is there.
  await import(`${module}?${runs}`);
  await left;
  const open = await leftBehind(before, CLOSES_WITHIN_MS);
  clearTimers();
  parent?.postMessage(open.length === 0);
}
