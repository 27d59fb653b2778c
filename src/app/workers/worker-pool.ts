/**
 * Threads that prepare pages beside the one that serves. They begin when there is work and end when there is none.
 * By hand, since what waits for a thread that cannot begin must fail with it; in tinypool it waits for ever.
 */

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { StatusError } from '../../errors.ts';
import type { PageTask, PreparedPage } from '../../publish/page/page-release.ts';
import type { WorkerPool } from '../../publish/publisher.ts';
import type { ReleaseFolders } from '../../publish/releases/folders.ts';
import type { StorePlace } from '../open-store.ts';

/** What a thread is begun with. */
export interface PageWorkerData {
  readonly store: StorePlace;
  readonly folders: ReleaseFolders;
}

export interface PageWorkerRequest {
  readonly id: number;
  readonly task: PageTask;
}

export type PageWorkerAnswer =
  | { readonly id: number; readonly prepared: PreparedPage }
  | { readonly id: number; readonly message: string };

/** More would wait for the disk. */
const SIZE_MAX = 8;

interface Member {
  readonly worker: Worker;
  readonly waiting: Map<number, { resolve: (prepared: PreparedPage) => void; reject: (error: Error) => void }>;
}

/** Makes a pool of as many threads as there are cores. */
export function createWorkerPool(data: PageWorkerData): WorkerPool {
  const size = Math.min(SIZE_MAX, availableParallelism());
  let members: Member[] = [];
  let lastId = 0;

  function begin(): Member {
    const worker = new Worker(new URL('./page-worker.ts', import.meta.url), { workerData: data });
    const member: Member = { worker, waiting: new Map() };
    worker.on('message', (answer: PageWorkerAnswer) => {
      const asked = member.waiting.get(answer.id);
      member.waiting.delete(answer.id);
      if ('prepared' in answer) asked?.resolve(answer.prepared);
      else asked?.reject(new Error(answer.message));
    });
    const end = (error: Error): void => {
      members = members.filter((other) => other !== member);
      for (const { reject } of member.waiting.values()) reject(error);
      member.waiting.clear();
    };
    worker.on('error', end);
    worker.on('exit', (status) =>
      end(new StatusError({ code: 'PUBLISH_FAILED', message: `A thread that draws pages ended with ${status}.` })),
    );
    members.push(member);
    return member;
  }

  return {
    size,
    prepare: (task) => {
      const idle = members.find(({ waiting }) => waiting.size === 0);
      const leastBusy = members.toSorted((a, b) => a.waiting.size - b.waiting.size)[0];
      const member = idle ?? (members.length < size || leastBusy === undefined ? begin() : leastBusy);
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        member.waiting.set(id, { resolve, reject });
        // Passwords stay in the thread that checks them; what is drawn has none.
        member.worker.postMessage({ id, task: withoutSecrets(task) } satisfies PageWorkerRequest);
      });
    },
    terminate: async () => {
      const idle = members.filter(({ waiting }) => waiting.size === 0);
      members = members.filter((member) => !idle.includes(member));
      await Promise.all(idle.map(({ worker }) => worker.terminate()));
    },
  };
}

function withoutSecrets({ page, ...task }: PageTask): PageTask {
  const { config } = page;
  return {
    ...task,
    page: { ...page, password: null, config: config === null ? null : { ...config, password: undefined } },
  };
}
