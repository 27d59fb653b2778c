/** A thread of the pool that prepares pages. It reads the store and writes releases, but doesn't switch to them. */

import { workerData } from 'node:worker_threads';
import type { BirpcReturn } from 'birpc';
import { loadRenderer } from '../../publish/draw/renderer.ts';
import { preparePage } from '../../publish/page-release.ts';
import type { PrepareControl } from '../../publish/publish-control.ts';
import { DISK } from '../../publish/releases/disk.ts';
import { createStore } from '../../store/create-store.ts';
import { openStoreReader } from '../open-store.ts';
import { drawingWith } from './drawing.ts';
import { answerParent } from './threads.ts';
import { type PageCalls, type PageWorkerData, prepareCalls } from './worker-pool.ts';

const { store, folders, components } = workerData as PageWorkerData;

async function start() {
  return {
    ...{ store: createStore(openStoreReader(store)), folders, disk: DISK },
    ...drawingWith(await loadRenderer(components)),
    ...prepareCalls(host),
  };
}

const host: BirpcReturn<PrepareControl, object> = answerParent({
  prepare: async (task) => preparePage(await deps, task),
} satisfies PageCalls);
const deps = start();
// Reported to the caller of `prepare`.
deps.catch(() => undefined);
