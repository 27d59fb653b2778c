/**
 * Threads that prepare pages in addition to the publishing thread. They start when there is work and end when there is none.
 * Our own, because a task must fail if its thread can't start; tinypool waits forever.
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

/** Data that a thread starts with. */
export interface PageWorkerData {
  readonly store: StorePlace;
  readonly folders: ReleaseFolders;
  /** An operator's own components; null: none. */
  readonly components: OwnComponents | null;
}

/** Calls that a thread answers. */
export interface PageWorkerHandlers {
  readonly prepare: (task: PageTask) => Promise<PreparedPage>;
  readonly [name: string]: (...args: never[]) => unknown;
}

/** Calls from a thread. */
export interface PageWorkerHost extends PrepareControl {
  readonly [name: string]: (...args: never[]) => unknown;
}

/** More threads would wait for the disk. */
const SIZE_MAX = 8;
/** Memory of the process without threads, and of each thread while it renders (`npm run bench -- memory`), in bytes. */
const BASE_BYTES = 300 * 2 ** 20;
const THREAD_BYTES = 100 * 2 ** 20;

interface Member {
  readonly worker: Worker;
  readonly rpc: RpcPeer<PageWorkerHandlers>;
}

/**
 * Returns the number of threads: as many as there are cores, and as fit into the memory that the process may use.
 *
 * @param limitBytes memory limit of the control group; 0: none
 */
export function poolSize(cores: number, limitBytes: number): number {
  const fitting = limitBytes > 0 ? Math.floor((limitBytes - BASE_BYTES) / THREAD_BYTES) : SIZE_MAX;
  return Math.max(1, Math.min(SIZE_MAX, cores, fitting));
}

/** Creates a pool whose threads start when there is work. */
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
