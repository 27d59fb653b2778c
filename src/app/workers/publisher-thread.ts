/**
 * The thread that publishes. It renders, compresses and writes releases, and asks the thread with the database to switch to
 * them.
 */

import { flushCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import type { ResolvedPage, ResolvedSite } from '../../publish/definitions/definitions.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import { loadRenderer } from '../../publish/draw/renderer.ts';
import { createPublisher } from '../../publish/publisher.ts';
import { createStore } from '../../store/create-store.ts';
import { openStoreReader } from '../open-store.ts';
import { drawingWith } from './drawing.ts';
import {
  createRemoteControl,
  type PublisherCalls,
  type PublisherHost,
  type PublisherThreadData,
  type SentState,
} from './publisher-client.ts';
import { answerParent } from './threads.ts';
import { createPictures, createWorkerPool } from './worker-pool.ts';

const { store, folders, components, since } = workerData as PublisherThreadData;
const touched = new Set<string>();
const pictures = createPictures();
let resolved: ResolvedSite | null = null;

/** Returns the same definitions as long as none changed. */
function unpack({ resolved: sent, ...state }: SentState): SiteState {
  const known = new Map(resolved?.pages.map((page) => [page.definition.slug, page]));
  const pageOf = (page: ResolvedPage | string): ResolvedPage => {
    const found = typeof page === 'string' ? known.get(page) : page;
    if (found === undefined) throw new Error(`the page ${String(page)} is unknown in this thread`);
    return found;
  };
  if (sent !== null) resolved = { ...sent, pages: sent.pages.map(pageOf) };
  if (resolved === null) throw new Error('the definitions were never sent');
  return { ...state, resolved };
}

const host = answerParent<PublisherHost>({
  ready: async () => {
    await publisher;
    // When the thread is terminated, its compile cache would be lost.
    flushCompileCache();
  },
  publish: async (sent, more, slug) => {
    const state = unpack(sent);
    for (const one of more) touched.add(one);
    return (await publisher).publish(state, slug === null ? {} : { slug });
  },
  publishSite: async (sent) => {
    const state = unpack(sent);
    return (await publisher).publishSite(state);
  },
  settled: async () => (await publisher).settled(),
  stop: async () => {
    await (await publisher).close();
    await pictures.close();
    await reader.close();
  },
  render: async (kind, view) => (await renderer).render(kind, view as never),
  runTask: (task) => control.runTask(task),
} satisfies PublisherCalls);
const control = createRemoteControl(host);
const reader = createStore(openStoreReader(store));
const renderer = loadRenderer(components);

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
    onPage: (done, total) => void host.onPage(done, total),
    onError: (error) => void host.onError(messageOf(error)),
  });
}

const publisher = start();
// Reported to the callers of `publisher`.
publisher.catch(() => undefined);
