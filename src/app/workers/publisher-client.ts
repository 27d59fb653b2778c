/** Runs the publisher in its own thread, so that requests never wait for rendering, compressing or reading folders. */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StatusError } from '../../errors.ts';
import type { OwnComponents } from '../../publish/draw/own-components.ts';
import type { Rendered, Renderer } from '../../publish/draw/renderer.ts';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { Publisher, PublishReport } from '../../publish/publisher.ts';
import type { ReleaseFolders } from '../../publish/releases/folders.ts';
import type { ViewKind } from '../../views/html.ts';
import type { StorePlace } from '../open-store.ts';
import { type ControlHandlers, createControlHost } from './remote-control.ts';
import { createRpc } from './rpc.ts';
import { createStateSender, type SentState } from './state-transfer.ts';

/** Data that the thread starts with. */
export interface PublisherThreadData {
  readonly store: StorePlace;
  readonly folders: ReleaseFolders;
  /** An operator's own components; null: none. */
  readonly components: OwnComponents | null;
  /** Revision of the store up to which the last process recorded what it published; null: no record. */
  readonly since: number | null;
}

/** Calls that the thread answers. */
export interface PublisherHandlers {
  readonly ready: () => Promise<void>;
  readonly publish: (order: {
    readonly state: SentState;
    readonly touched: readonly string[];
    readonly slug: string | null;
  }) => Promise<PublishReport>;
  readonly publishSite: (state: SentState) => Promise<void>;
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly render: (kind: ViewKind, view: unknown) => Promise<Rendered>;
  readonly [name: string]: (...args: never[]) => unknown;
}

/** Calls from the thread. */
export interface PublisherHost extends ControlHandlers {
  readonly onError: (message: string) => void;
  readonly onPage: (done: number, total: number) => void;
}

export interface PublisherClientOptions extends PublisherThreadData {
  readonly control: PublishControl;
  /** Returns the slugs of pages that changed since the last call. */
  readonly takeTouched: () => ReadonlySet<string>;
  /** Called after each page of a run with the number of pages that are done. */
  readonly onPage?: (done: number, total: number) => void;
  readonly onError: (error: unknown) => void;
}

/** The publisher in the other thread. It can also render pages that belong to no release. */
export interface PublisherClient extends Publisher {
  readonly render: Renderer['render'];
}

/**
 * Starts the thread.
 *
 * @throws PUBLISH_FAILED when it can't render
 */
export async function startPublisher(options: PublisherClientOptions): Promise<PublisherClient> {
  const { store, folders, components, since, control, takeTouched, onPage, onError } = options;
  const worker = new Worker(new URL(`./publisher-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: { store, folders, components, since } satisfies PublisherThreadData,
  });
  const host = createControlHost(control);
  const rpc = createRpc<PublisherHandlers>(worker, {
    ...host.handlers,
    onError: (message: string) => onError(new Error(message)),
    onPage: (done: number, total: number) => onPage?.(done, total),
  });
  let isClosing = false;
  const end = (error: Error): void => {
    rpc.end(error);
    host.end();
    if (!isClosing) onError(error);
  };
  worker.on('error', end);
  worker.on('exit', (status) =>
    end(new StatusError({ code: 'PUBLISH_FAILED', message: `The publishing thread exited with status ${status}.` })),
  );
  const send = createStateSender();
  try {
    await rpc.call('ready');
  } catch (error) {
    isClosing = true;
    await worker.terminate();
    throw error;
  }
  return {
    publish: (state, { slug } = {}) =>
      rpc.call('publish', { state: send(state), touched: [...takeTouched()], slug: slug ?? null }),
    publishSite: (state) => rpc.call('publishSite', send(state)),
    settled: () => rpc.call('settled'),
    close: async () => {
      isClosing = true;
      await rpc.call('close').catch(onError);
      await worker.terminate();
    },
    render: (kind, view) => rpc.call('render', kind, view),
  };
}
