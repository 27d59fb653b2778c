/** A thread of the pool that prepares pages. It reads the store and writes releases, but doesn't switch to them. */

import { parentPort, workerData } from 'node:worker_threads';
import { loadRenderer } from '../../publish/draw/renderer.ts';
import { preparePage } from '../../publish/page/page-release.ts';
import { DISK } from '../../publish/releases/disk.ts';
import { createStore } from '../../store/create-store.ts';
import type { PageFirsts } from '../../store/identities.ts';
import { openStoreReader } from '../open-store.ts';
import { drawingWith } from './drawing.ts';
import { createRpc } from './rpc.ts';
import type { PageWorkerData, PageWorkerHandlers, PageWorkerHost } from './worker-pool.ts';

if (parentPort === null) throw new Error('this module is the entry point of a thread');
const { store, folders, components } = workerData as PageWorkerData;

async function start() {
  return {
    store: createStore(openStoreReader(store)),
    folders,
    disk: DISK,
    nextNumber: (slug: string, above: number) => host.call('nextNumber', slug, above),
    rememberFirsts: (firsts: PageFirsts) => host.call('rememberFirsts', firsts),
    ...drawingWith(await loadRenderer(components)),
  };
}

const handlers: PageWorkerHandlers = { prepare: async (task) => preparePage(await deps, task) };
const host = createRpc<PageWorkerHost>(parentPort, handlers);
const deps = start();
// Reported to the caller of `prepare`.
deps.catch(() => undefined);
