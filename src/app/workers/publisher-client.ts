/** Runs the publisher in its own thread, so that requests never wait for rendering, compressing or reading folders. */

import type { BirpcReturn } from 'birpc';
import type { ResolvedPage, ResolvedSite } from '../../publish/definitions/definitions.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import type { Rendered, Renderer } from '../../publish/draw/renderer.ts';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { Publisher, PublisherOptions, PublishReport } from '../../publish/publisher.ts';
import type { Fence } from '../../publish/releases/switch.ts';
import type { ViewKind } from '../../views/html.ts';
import { startThread, type Thread, YOUNG_MB } from './threads.ts';
import { type PageWorkerData, prepareCalls } from './worker-pool.ts';

/** Data that the thread starts with. */
export interface PublisherThreadData extends PageWorkerData {
  /** Revision of the store up to which the last process recorded what it published; null: no record. */
  readonly since: number | null;
}

/** The state of the site as it is sent: a page that the thread has already is its slug. Null: no definition changed. */
export interface SentState extends Omit<SiteState, 'resolved'> {
  readonly resolved: (Omit<ResolvedSite, 'pages'> & { readonly pages: readonly (ResolvedPage | string)[] }) | null;
}

/** Calls that the thread answers. */
export interface PublisherCalls extends TaskCalls {
  readonly ready: () => Promise<void>;
  readonly publish: (state: SentState, touched: ReadonlySet<string>, slug: string | null) => Promise<PublishReport>;
  readonly publishSite: (state: SentState) => Promise<void>;
  readonly settled: () => Promise<void>;
  /** Publishes nothing more. It still renders. */
  readonly stop: () => Promise<void>;
  readonly render: (kind: ViewKind, view: unknown) => Promise<Rendered>;
}

/** Calls from the thread. */
export interface PublisherHost extends ControlCalls {
  readonly onError: (message: string) => void;
  readonly onPage: (done: number, total: number) => void;
}

export interface PublisherClientOptions
  extends PublisherThreadData,
    Pick<PublisherOptions, 'control' | 'takeTouched' | 'onPage' | 'onError'> {}

/** The publisher in the other thread. It can also render pages that belong to no release. */
export interface PublisherClient extends Publisher {
  /** Resolves once the thread has loaded; calls wait for that. Rejects with PUBLISH_FAILED when it can't render. */
  readonly ready: Promise<void>;
  readonly render: Renderer['render'];
  /** Publishes nothing more, but still renders what visitors ask for. */
  readonly stop: () => Promise<void>;
  /** The same, and ends the thread as soon as nothing is being rendered. */
  readonly close: () => Promise<void>;
}

/** Starts the thread. */
export function startPublisher(options: PublisherClientOptions): PublisherClient {
  const { store, folders, components, since, control, takeTouched, onPage, onError } = options;
  let isClosing = false;
  const thread: Thread<PublisherCalls> = startThread('publisher-thread', {
    data: { store, folders, components, since } satisfies PublisherThreadData,
    youngMb: YOUNG_MB.publisher,
    answers: {
      ...controlCalls(control, () => thread.calls),
      onError: (message) => onError(new Error(message)),
      onPage: (done, total) => onPage?.(done, total),
    } satisfies PublisherHost,
    onEnd: (error) => {
      if (!isClosing) onError(error);
    },
  });
  const { calls } = thread;
  const ready = calls.ready().catch(async (error: unknown) => {
    isClosing = true;
    await thread.terminate();
    throw error;
  });
  // Whoever needs it asks.
  ready.catch(() => undefined);
  const pack = createPacking();
  const rendering = new Set<Promise<unknown>>();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= calls.stop().catch(onError);
    return stopped;
  };
  return {
    ready,
    publish: (state, { slug } = {}) => calls.publish(pack(state), takeTouched(), slug ?? null),
    publishSite: (state) => calls.publishSite(pack(state)),
    settled: () => calls.settled(),
    render: async (kind, view) => {
      const rendered = calls.render(kind, view);
      rendering.add(rendered);
      return rendered.finally(() => rendering.delete(rendered));
    },
    stop,
    close: async () => {
      await stop();
      await Promise.allSettled(rendering);
      isClosing = true;
      await thread.terminate();
    },
  };
}

/**
 * Cloning 1,000 pages of 50 components takes 130 ms of CPU, much of it in the thread that serves, so a page is sent only when it
 * changed. Passwords aren't sent, because rendering needs none.
 */
function createPacking(): (state: SiteState) => SentState {
  let last: ResolvedSite | null = null;
  return ({ resolved, ...state }) => {
    if (resolved === last) return { ...state, resolved: null };
    const known = new Set(last?.pages);
    last = resolved;
    const pages = resolved.pages.map((page) => {
      if (known.has(page)) return page.definition.slug;
      const config = page.config === null ? null : { ...page.config, password: undefined };
      return { ...page, password: null, config };
    });
    return { ...state, resolved: { ...resolved, pages } };
  };
}

/**
 * Gives the publishing thread control over leases and transactions. The database that writes is in the other thread, which goes
 * on renewing leases while this one renders. What the publishing thread does under a lease or in a transaction stays there: the
 * other thread calls it back, by number, as soon as it holds the lease or has begun the transaction.
 */
const plainCalls = (control: Omit<PublishControl, 'withLease'>) => ({
  ...prepareCalls(control),
  ...{ mayServe: control.mayServe, tell: control.tell },
});

/** Calls that the thread with the database answers. */
interface ControlCalls extends ReturnType<typeof plainCalls> {
  /** Takes the lease, runs a task of the publishing thread, and returns the lease. */
  readonly withLease: (task: number) => Promise<void>;
  /** Runs a task in the transaction of a switch, which is rolled back if the task fails. */
  readonly pass: (lease: number, task: number) => Promise<void>;
}

/** Calls that the publishing thread answers. */
interface TaskCalls {
  readonly runTask: (task: number) => Promise<void>;
}

/** The control as the publishing thread uses it. */
export function createRemoteControl(host: BirpcReturn<ControlCalls, object>): PublishControl & TaskCalls {
  const tasks = new Map<number, () => Promise<void>>();
  let last = 0;

  /** Lets the other thread run a task, by a number. Fails with the error of the task itself, if that is why. */
  async function lend<Result>(call: (number: number) => Promise<void>, task: (number: number) => Promise<Result>) {
    last += 1;
    const number = last;
    let running: Promise<Result> | undefined;
    tasks.set(number, async () => {
      running = task(number);
      await running;
    });
    try {
      await call(number);
    } catch (error) {
      await running;
      throw error;
    } finally {
      tasks.delete(number);
    }
    if (running === undefined) throw new Error('the task was not run');
    return running;
  }

  return {
    withLease: (task) =>
      lend(
        (number) => host.withLease(number),
        (lease) => task({ pass: (switching) => lend((number) => host.pass(lease, number), switching) }),
      ),
    runTask: async (number) => tasks.get(number)?.(),
    ...plainCalls(host),
  };
}

/** Answers the publishing thread with the control of this one. If that thread ends, its tasks fail, which returns the lease. */
function controlCalls(control: PublishControl, thread: () => TaskCalls): ControlCalls {
  const fences = new Map<number, Fence>();
  return {
    withLease: (task) =>
      control.withLease(async (fence) => {
        fences.set(task, fence);
        try {
          await thread().runTask(task);
        } finally {
          fences.delete(task);
        }
      }),
    pass: async (lease, task) => {
      const fence = fences.get(lease);
      if (fence === undefined) throw new Error('the lease is no longer held');
      await fence.pass(() => thread().runTask(task));
    },
    ...plainCalls(control),
  };
}
