/**
 * Processes that answer visitors, for machines with several cores. They share one data folder and one port, which the system
 * spreads connections over; everything else is done by the process that begins them. Who may see what they learn from the
 * store and the disk, as any other node does.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { messageOf } from '../../errors.ts';
import { lastingFamilies, type MetricFamily } from '../../server/operators/metric-sums.ts';
import type { Log } from '../log.ts';
import { createRpc, type RpcPeer } from '../workers/rpc.ts';
import { cannotListen } from './listening.ts';

/** What a worker is begun with. */
export interface WorkerOrder {
  /** As named on the command line; null: the usual one. */
  readonly configFile: string | null;
  readonly isQuiet: boolean;
  readonly host: string;
  readonly port: number;
  /** Where the process that began it answers what is below `/-/`. */
  readonly socketPath: string;
}

/** What a worker answers. */
export interface WorkerHandlers {
  /** Resolves when it listens. */
  readonly begin: (order: WorkerOrder) => Promise<void>;
  readonly metrics: () => Promise<readonly MetricFamily[]>;
  /** Reads its configuration again. */
  readonly reload: () => Promise<void>;
  readonly drain: () => void;
  /** Lets answers under way end; the process ends by itself afterwards. */
  readonly close: () => void;
  readonly [name: string]: (...args: never[]) => unknown;
}

export interface WorkersOptions extends Omit<WorkerOrder, 'port'> {
  /** The module that a worker begins with. */
  readonly entry: URL;
  readonly count: number;
  /** 0: any that is free. */
  readonly port: number;
  readonly log: Log;
}

export interface Workers {
  readonly port: number;
  /** What each has counted since its start, those that ended included. */
  readonly metrics: () => Promise<readonly (readonly MetricFamily[])[]>;
  readonly reload: () => Promise<void>;
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly rpc: RpcPeer<WorkerHandlers>;
  readonly startedAt: number;
  /** What it said last of its counters. */
  counted: readonly MetricFamily[];
}

/** A worker that ends at once ends again: the next is begun after this long, and twice as long each time. */
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** After this it is taken to have begun well. */
const SETTLED_MS = 10_000;
/** What a worker counted in the last second before it was killed is lost. */
const COUNT_EVERY_MS = 1_000;
const ANSWER_MS = 2_000;
const CLOSE_MS = 12_000;

/**
 * Begins them; each listens when this resolves.
 *
 * @throws CONFIG_INVALID when the port cannot be listened on
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { count, host, log } = options;
  const port = await freePort(options.port, host);
  const { entry: _, count: __, log: ___, ...rest } = options;
  const order: WorkerOrder = { ...rest, port };
  const running = new Set<Running>();
  /** Counters of those that ended. */
  let ended: readonly MetricFamily[] = [];
  /** True from when all have begun until they are to end: those that end meanwhile are replaced. */
  let isKept = false;
  let pauseMs = PAUSE_MS;

  async function begin(): Promise<void> {
    const child = fork(options.entry);
    const rpc = createRpc<WorkerHandlers>(
      {
        postMessage: (message) => void (child.connected && child.send(message as object)),
        on: (event, listener) => child.on(event, listener),
      },
      {},
    );
    const worker: Running = { child, rpc, startedAt: performance.now(), counted: [] };
    running.add(worker);
    child.once('exit', (code, signal) => {
      running.delete(worker);
      rpc.end(new Error(`a worker process exited (${signal ?? code})`));
      ended = lastingFamilies([ended, worker.counted]);
      if (!isKept) return;
      if (performance.now() - worker.startedAt > SETTLED_MS) pauseMs = PAUSE_MS;
      log.warn({ worker: child.pid, code, signal }, 'a worker process exited; starting another');
      setTimeout(again, pauseMs).unref();
      pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
    });
    child.on('error', (error) => log.error({ worker: child.pid }, messageOf(error)));
    try {
      await rpc.call('begin', order);
    } catch (error) {
      // One that cannot begin, its database out of reach, is replaced like one that ended.
      child.kill('SIGKILL');
      throw error;
    }
  }

  function again(): void {
    if (isKept) begin().catch((error: unknown) => log.error(messageOf(error)));
  }

  async function close(): Promise<void> {
    isKept = false;
    clearInterval(counting);
    const all = [...running];
    await Promise.all(
      all.map(async ({ child, rpc }) => {
        const exited = new Promise<void>((done) => child.once('exit', () => done()));
        const killing = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
        rpc.call('close').catch(() => undefined);
        await exited;
        clearTimeout(killing);
      }),
    );
  }

  const countOf = async (worker: Running): Promise<readonly MetricFamily[]> => {
    worker.counted = await within(ANSWER_MS, worker.rpc.call('metrics'), worker.counted);
    return worker.counted;
  };
  const counting = setInterval(() => {
    for (const worker of running) void countOf(worker);
  }, COUNT_EVERY_MS).unref();

  const begun = await Promise.allSettled(Array.from({ length: count }, begin));
  const failed = begun.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  isKept = true;
  return {
    port,
    metrics: async () => [ended, ...(await Promise.all([...running].map(countOf)))],
    reload: async () => void (await Promise.allSettled([...running].map(({ rpc }) => rpc.call('reload')))),
    drain: () => {
      for (const { rpc } of running) rpc.call('drain').catch(() => undefined);
    },
    close,
  };
}

/**
 * Which port to share. Where ports may be shared the system lets in whoever asks for it, another Pharos too; so it is tried
 * alone first.
 *
 * @throws CONFIG_INVALID
 */
async function freePort(port: number, host: string): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, { port, host })));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** What is promised, or something else where it takes too long or fails. */
async function within<T>(ms: number, promise: Promise<T>, otherwise: T): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timer = setTimeout(() => late.resolve(otherwise), ms).unref();
  try {
    return await Promise.race([promise, late.promise]);
  } catch {
    return otherwise;
  } finally {
    clearTimeout(timer);
  }
}
