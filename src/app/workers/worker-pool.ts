/**
 * Threads that prepare pages beside the one that publishes. They begin when there is work and end when there is none.
 * By hand, since what waits for a thread that cannot begin must fail with it; in tinypool it waits for ever.
 */

import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StatusError } from '../../errors.ts';
import type { OwnComponents } from '../../publish/draw/own-components.ts';
import type { PageTask, PreparedPage } from '../../publish/page/page-release.ts';
import type { PrepareControl } from '../../publish/publish-control.ts';
import type { WorkerPool } from '../../publish/publisher.ts';
import type { ReleaseFolders } from '../../publish/releases/folders.ts';
import type { StorePlace } from '../open-store.ts';
import { createRpc, type RpcPeer } from './rpc.ts';

/** What a thread is begun with. */
export interface PageWorkerData {
  readonly store: StorePlace;
  readonly folders: ReleaseFolders;
  /** Of an operator; null: none. */
  readonly components: OwnComponents | null;
}

/** What a thread answers. */
export interface PageWorkerHandlers {
  readonly prepare: (task: PageTask) => Promise<PreparedPage>;
  readonly [name: string]: (...args: never[]) => unknown;
}

/** What a thread asks. */
export interface PageWorkerHost extends PrepareControl {
  readonly [name: string]: (...args: never[]) => unknown;
}

/** More would wait for the disk. */
const SIZE_MAX = 8;
/** What the process takes without them, and what each of them adds while it draws (`npm run bench -- memory`), in bytes. */
const BASE_BYTES = 300 * 2 ** 20;
const THREAD_BYTES = 100 * 2 ** 20;

interface Member {
  readonly worker: Worker;
  readonly rpc: RpcPeer<PageWorkerHandlers>;
}

/**
 * How many threads draw at once: as many as there are cores, and as fit into the memory that the process may take.
 *
 * @param limitBytes of its control group; 0: there is none
 */
export function poolSize(cores: number, limitBytes: number): number {
  const fitting = limitBytes > 0 ? Math.floor((limitBytes - BASE_BYTES) / THREAD_BYTES) : SIZE_MAX;
  return Math.max(1, Math.min(SIZE_MAX, cores, fitting));
}

/** Makes a pool of threads that begin when there is work for them. */
export function createWorkerPool(data: PageWorkerData, { nextNumber, rememberFirsts }: PrepareControl): WorkerPool {
  const size = poolSize(availableParallelism(), process.constrainedMemory());
  let members: Member[] = [];

  function begin(): Member {
    const worker = new Worker(new URL(`./page-worker${extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
    });
    const member: Member = { worker, rpc: createRpc<PageWorkerHandlers>(worker, { nextNumber, rememberFirsts }) };
    const end = (error: Error): void => {
      members = members.filter((other) => other !== member);
      member.rpc.end(error);
    };
    worker.on('error', end);
    worker.on('exit', (status) =>
      end(new StatusError({ code: 'PUBLISH_FAILED', message: `A rendering thread exited with status ${status}.` })),
    );
    members.push(member);
    return member;
  }

  return {
    size,
    prepare: (task) => {
      const [leastBusy] = members.toSorted((a, b) => a.rpc.pending() - b.rpc.pending());
      const isFree = leastBusy !== undefined && (leastBusy.rpc.pending() === 0 || members.length >= size);
      return (isFree ? leastBusy : begin()).rpc.call('prepare', task);
    },
    terminate: async () => {
      const idle = members.filter(({ rpc }) => rpc.pending() === 0);
      members = members.filter((member) => !idle.includes(member));
      await Promise.all(idle.map(({ worker }) => worker.terminate()));
    },
  };
}
