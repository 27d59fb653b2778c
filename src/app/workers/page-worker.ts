/** One thread of the pool that prepares pages. It reads the store and writes releases; switching is not its business. */

import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import { loadRenderer } from '../../publish/draw/load-renderer.ts';
import { preparePage } from '../../publish/page/page-release.ts';
import { DISK } from '../../publish/releases/disk.ts';
import { createStore } from '../../store/create-store.ts';
import { openStoreReader } from '../open-store.ts';
import { drawingWith } from './drawing.ts';
import type { PageWorkerAnswer, PageWorkerData, PageWorkerRequest } from './worker-pool.ts';

const { store, folders } = workerData as PageWorkerData;
const deps = {
  store: createStore(openStoreReader(store)),
  folders,
  disk: DISK,
  ...drawingWith(await loadRenderer()),
};

parentPort?.on('message', async ({ id, task }: PageWorkerRequest) => {
  let answer: PageWorkerAnswer;
  try {
    answer = { id, prepared: await preparePage(deps, task) };
  } catch (error) {
    answer = { id, message: messageOf(error) };
  }
  parentPort?.postMessage(answer);
});
