/**
 * The thread that publishes. It renders, compresses and writes releases, and asks the thread with the database to switch to
 * them.
 */

import { flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import { loadRenderer } from '../../publish/draw/renderer.ts';
import { createPublisher } from '../../publish/publisher.ts';
import { createStore } from '../../store/create-store.ts';
import { openStoreReader } from '../open-store.ts';
import { drawingWith } from './drawing.ts';
import { createPictures } from './picture-client.ts';
import type { PublisherHandlers, PublisherHost, PublisherThreadData } from './publisher-client.ts';
import { createRemoteControl } from './remote-control.ts';
import { createRpc } from './rpc.ts';
import { createStateReceiver } from './state-transfer.ts';
import { createWorkerPool } from './worker-pool.ts';

if (parentPort === null) throw new Error('this module is the entry point of a thread');
const { store, folders, components, since } = workerData as PublisherThreadData;
const receive = createStateReceiver();
const touched = new Set<string>();
const pictures = createPictures();

const handlers: PublisherHandlers = {
  ready: async () => {
    await publisher;
    // When the thread is terminated, its compile cache would be lost.
    flushCompileCache();
  },
  publish: async ({ state: sent, touched: more, slug }) => {
    const state = receive(sent);
    for (const one of more) touched.add(one);
    return (await publisher).publish(state, slug === null ? {} : { slug });
  },
  publishSite: async (sent) => {
    const state = receive(sent);
    return (await publisher).publishSite(state);
  },
  settled: async () => (await publisher).settled(),
  close: async () => {
    await (await publisher).close();
    await pictures.close();
    await reader.close();
  },
  render: async (kind, view) => (await renderer).render(kind, view as never),
};

const host = createRpc<PublisherHost>(parentPort, handlers);
const reader = createStore(openStoreReader(store));
const renderer = loadRenderer(components);
const control = createRemoteControl(host);

async function start() {
  const noting = { version: (await renderer).version, since };
  return createPublisher({
    noting,
    store: reader,
    folders,
    ...drawingWith(await renderer, pictures.draw),
    control,
    takeTouched: () => {
      const taken = new Set(touched);
      touched.clear();
      return taken;
    },
    workers: createWorkerPool({ store, folders, components }, control),
    onPage: (done, total) => void host.call('onPage', done, total),
    onError: (error) => void host.call('onError', messageOf(error)),
  });
}

const publisher = start();
// Reported to the callers of `publisher`.
publisher.catch(() => undefined);
