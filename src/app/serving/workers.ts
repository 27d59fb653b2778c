/**
 * Worker processes that answer visitors, for machines with several cores. They share the data folder and one port, over which
 * the system distributes connections. The main process does everything else. Workers learn access rules from the store and the
 * disk, like any other node.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { messageOf } from '../../errors.ts';
import { lastingFamilies, type MetricFamily } from '../../server/operators/metric-sums.ts';
import type { Log } from '../log.ts';
import { createRpc, type RpcPeer } from '../workers/rpc.ts';
import { cannotListen } from './listening.ts';

/** Data that a worker starts with. */
export interface WorkerOrder {
  /** Path of the configuration from the command line; null: the default. */
  readonly configFile: string | null;
  readonly isQuiet: boolean;
  readonly host: string;
  readonly port: number;
  /** Socket on which the main process answers requests below `/-/`. */
  readonly socketPath: string;
}

/** Calls that a worker answers. */
export interface WorkerHandlers {
  /** Starts listening; resolves when it does. */
  readonly begin: (order: WorkerOrder) => Promise<void>;
  readonly metrics: () => Promise<readonly MetricFamily[]>;
  /** Reloads the configuration. */
  readonly reload: () => Promise<void>;
  readonly drain: () => void;
  /** Finishes current responses; then the process ends. */
  readonly close: () => void;
  readonly [name: string]: (...args: never[]) => unknown;
}

export interface WorkersOptions extends Omit<WorkerOrder, 'port'> {
  /** Entry module of a worker. */
  readonly entry: URL;
  readonly count: number;
  /** 0: any that is free. */
  readonly port: number;
  readonly log: Log;
}

export interface Workers {
  readonly port: number;
  /** Metrics of all workers, including ended ones. */
  readonly metrics: () => Promise<readonly (readonly MetricFamily[])[]>;
  readonly reload: () => Promise<void>;
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly rpc: RpcPeer<WorkerHandlers>;
  readonly startedAt: number;
  /** Its last reported counters. */
  counted: readonly MetricFamily[];
}

/** Wait before a crashed worker is replaced; doubled each time it crashes again. */
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** After this time, a worker counts as started successfully. */
const SETTLED_MS = 10_000;
/** How often counters are collected. A killed worker loses no more than that. */
const COUNT_EVERY_MS = 1_000;
const ANSWER_MS = 2_000;
const CLOSE_MS = 12_000;

/**
 * Starts the workers; all listen when this resolves.
 *
 * @throws CONFIG_INVALID when the port can't be used
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { count, host, log } = options;
  const port = await freePort(options.port, host);
  const { entry: _, count: __, log: ___, ...rest } = options;
  const order: WorkerOrder = { ...rest, port };
  const running = new Set<Running>();
  /** Counters of ended workers. */
  let ended: readonly MetricFamily[] = [];
  /** True after all have started and until they are stopped: workers that end in between are replaced. */
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
      // A worker that can't start, for example because it can't reach the database, is replaced like one that ended.
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
 * Finds the port to share. With shared ports, the system would also let another Pharos use it, so the port is first opened
 * alone.
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

/** The result of a promise, or a default if it fails or takes too long. */
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
