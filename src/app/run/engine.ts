/** Queues runs and executes one after another. */

import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Store } from '../../store/store.ts';
import type { RunDeps, RunOrder } from './order.ts';
import { type ActiveRun, beginRun, type RunOutcome } from './run.ts';

export interface RunRequest extends Omit<RunOrder, 'isManual' | 'isHinted' | 'isScheduled' | 'onTrouble'> {
  /**
   * What triggered it: `schedule`, `command`, `rebuild`, `hook`, `write`, `start`; `news`: another process committed something.
   */
  readonly trigger: string;
  /** True: goes to the front of the queue, because someone says that something just changed. */
  readonly isUrgent?: boolean;
  /** Who asked, for the audit log: `operator`, `hook:svc`; never an address or a secret. Absent: nobody. */
  readonly actor?: string;
  /** Trace ids of whoever asked, for the log. */
  readonly traces?: readonly string[];
  /** Keyed hash of the client's address, for the audit log. */
  readonly client?: string | null;
}

/** A run that was asked for: its id is known at once, its report later. */
interface QueuedRun {
  readonly id: string;
  readonly report: Promise<RunReport>;
}

export interface RunReport extends RunOutcome {
  readonly id: string;
  readonly trigger: string;
  /** Trace ids of all requests that joined, in order. */
  readonly traces: readonly string[];
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
  /** Whether an upstream or a page failed. */
  readonly hasFailed: boolean;
}

interface EngineDeps extends RunDeps {
  readonly store: Store;
  readonly retentionDays: () => number;
  readonly onReport: (report: RunReport) => void;
  /** The run ended without a report. */
  readonly onError: (error: unknown, runId: string) => void;
  /** An error after which the run continues. */
  readonly onTrouble: (error: unknown, runId: string) => void;
  /** Called for every request, with the id of the run that it starts or joins. */
  readonly onQueued?: (runId: string, request: RunRequest) => void;
  readonly onStarted?: (runId: string) => void;
  /** Whether a page has news that no run has published yet. Default: never. */
  readonly hasNews?: () => boolean;
}

export interface Engine {
  /**
   * Queues a run after the current one. Waiting requests for the same upstreams become one run, so of each kind at most one
   * runs and one waits. While a run waits for slow upstreams, urgent and scheduled requests join it.
   */
  readonly submit: (request: RunRequest) => QueuedRun;
  /** `submit`, for callers that only want the report. */
  readonly run: (request: RunRequest) => Promise<RunReport>;
  /**
   * Publishes what another process committed: within the current run if that still waits for upstreams, otherwise after it,
   * unless that run has published it already.
   */
  readonly publishNews: () => void;
  /** Runs a task between the current run and the next. */
  readonly between: <T>(task: () => Promise<T>) => Promise<T>;
  readonly lastReport: () => RunReport | null;
  /** The current run, then the waiting ones, in order. */
  readonly underWay: () => readonly RunUnderWay[];
  /** Resolves when nothing is running. */
  readonly idle: () => Promise<void>;
}

interface RunUnderWay {
  readonly id: string;
  readonly trigger: string;
  /** Null: still waiting. */
  readonly startedAt: EpochMs | null;
}

interface Waiting extends QueuedRun {
  readonly key: string;
  /** Merged from all requests that joined. */
  request: RunRequest;
  readonly start: () => Promise<void>;
}

interface Running extends QueuedRun {
  /** The most deliberate trigger of the requests that joined. */
  trigger: string;
  readonly traces: string[];
  readonly startedAt: EpochMs;
  readonly run: ActiveRun;
}

/** Triggers from the least to the most deliberate. Merged requests take the most deliberate one. */
const TRIGGERS = ['news', 'start', 'schedule', 'hook', 'write', 'rebuild', 'command'];
/** An operator asks, so upstreams in back-off are queried too. */
const MANUAL_TRIGGERS: ReadonlySet<string> = new Set(['rebuild', 'command']);

/** Maximum number of trace ids kept; the latest ones win. */
const TRACES_MAX = 20;
/** One run a minute makes some megabytes a day. What runs changed is kept elsewhere for longer. */
const RUN_DAYS_KEPT = 30;

/**
 * Creates the engine. Runs of this process never overlap; leases keep passes of other processes apart. The queue is our own,
 * because waiting runs are merged, moved forward and listed.
 */
export function createEngine(deps: EngineDeps): Engine {
  const waiting: Waiting[] = [];
  const asides: (() => Promise<void>)[] = [];
  let running: Promise<void> | null = null;
  let current: Running | null = null;
  let lastReport: RunReport | null = null;
  let lastRetained = toEpochMs(0);

  async function execute(mine: Running): Promise<RunReport> {
    const { id, startedAt } = mine;
    const { pass, publish } = await mine.run.outcome;
    const { trigger, traces } = mine;
    const report: RunReport = {
      id,
      trigger,
      traces,
      startedAt,
      endedAt: deps.now(),
      pass,
      publish,
      hasFailed:
        (pass?.upstreams.some((item) => item.kind === 'failed') ?? false) ||
        (publish?.pages.some((page) => page.kind === 'failed') ?? false),
    };
    const { endedAt } = report;
    if (!isOfOthers(report))
      await deps.store.recordRun({ id, startedAt, endedAt, trigger, report: JSON.stringify(report) });
    await retainDaily();
    lastReport = report;
    current = null;
    deps.onReport(report);
    return report;
  }

  async function retainDaily(): Promise<void> {
    const now = deps.now();
    if (now - lastRetained < DAY_MS) return;
    lastRetained = now;
    const keptDays = deps.retentionDays();
    await deps.store.retain(
      toEpochMs(now - keptDays * DAY_MS),
      toEpochMs(now - Math.min(keptDays, RUN_DAYS_KEPT) * DAY_MS),
    );
  }

  async function work(): Promise<void> {
    const next = (): (() => Promise<void>) | undefined => asides.shift() ?? waiting.shift()?.start;
    try {
      for (let task = next(); task !== undefined; task = next()) await task();
    } finally {
      // No await since the queue was found empty, so a request that comes next starts `work` again.
      running = null;
    }
  }

  /** Starts working on the queue, which is not empty. */
  function wake(): void {
    running ??= work();
  }

  function enqueue(item: Waiting): void {
    const urgent = waiting.findLastIndex((other) => other.request.isUrgent === true);
    waiting.splice(item.request.isUrgent === true ? urgent + 1 : waiting.length, 0, item);
  }

  function join(item: Waiting, request: RunRequest): void {
    const wasUrgent = item.request.isUrgent === true;
    item.request = joined(item.request, request);
    if (wasUrgent || item.request.isUrgent !== true) return;
    waiting.splice(waiting.indexOf(item), 1);
    enqueue(item);
  }

  function begin(key: string, request: RunRequest): Waiting {
    const id = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<RunReport>();
    // `onError` logs the error, so it doesn't matter whether anyone waits for the report.
    promise.catch(() => undefined);
    const tell = (error: unknown): void => deps.onTrouble(error, id);
    const start = async (): Promise<void> => {
      try {
        const { trigger } = item.request;
        const order = { ...item.request, ...askerOf(item.request), onTrouble: tell };
        const traces = [...(item.request.traces ?? [])];
        current = { id, trigger, traces, startedAt: deps.now(), run: beginRun(deps, order), report: promise };
        deps.onStarted?.(id);
        resolve(await execute(current));
      } catch (error) {
        current = null;
        deps.onError(error, id);
        reject(error);
      }
    };
    const item: Waiting = { id, report: promise, key, request, start };
    enqueue(item);
    return item;
  }

  /** Adds a request to the current run, if it still waits for upstreams; null: it doesn't. */
  function askWithin(request: RunRequest): QueuedRun | null {
    const { upstreams, trigger, page } = request;
    const isUrgent = request.isUrgent === true;
    const isFitting = page === undefined && request.isPublishing !== false && (isUrgent || trigger === 'schedule');
    if (current === null || upstreams === undefined || upstreams.length === 0 || !isFitting) return null;
    if (!current.run.ask({ upstreams, ...askerOf(request), isUrgent })) return null;
    current.trigger = moreDeliberate(current.trigger, trigger);
    current.traces.push(...(request.traces ?? []));
    return current;
  }

  function submit(request: RunRequest): QueuedRun {
    const within = askWithin(request);
    if (within !== null) {
      deps.onQueued?.(within.id, request);
      return within;
    }
    const key = JSON.stringify([request.upstreams ?? null, request.isPublishing ?? true]);
    const queued = waiting.find((item) => item.key === key);
    if (queued !== undefined) join(queued, request);
    const mine = queued ?? begin(key, request);
    deps.onQueued?.(mine.id, request);
    wake();
    return mine;
  }

  let isNewsWaiting = false;
  function publishNews(): void {
    const request: RunRequest = { trigger: 'news', upstreams: [], isUrgent: true };
    // Until the first run has ended, that run publishes everything.
    if (lastReport === null || deps.hasNews?.() !== true || isNewsWaiting) return;
    if (current?.run.ask({ upstreams: [], ...askerOf(request), isUrgent: true }) === true) return;
    isNewsWaiting = true;
    void (running ?? Promise.resolve()).then(() => {
      isNewsWaiting = false;
      if (deps.hasNews?.() === true) submit(request);
    });
  }

  return {
    submit,
    run: (request) => submit(request).report,
    publishNews,
    between: <T>(task: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        asides.push(() => task().then(resolve, reject));
        wake();
      }),
    lastReport: () => lastReport,
    underWay: () => [
      ...(current === null ? [] : [{ id: current.id, trigger: current.trigger, startedAt: current.startedAt }]),
      ...waiting.map(({ id, request }) => ({ id, trigger: request.trigger, startedAt: null })),
    ],
    idle: async () => {
      await running;
    },
  };
}

/** Merges two requests; two for different pages become one for all. */
function joined(first: RunRequest, second: RunRequest): RunRequest {
  const { page, isUrgent, trigger, ...rest } = first;
  return {
    ...rest,
    trigger: moreDeliberate(trigger, second.trigger),
    traces: [...(first.traces ?? []), ...(second.traces ?? [])].slice(-TRACES_MAX),
    ...(page !== undefined && page === second.page ? { page } : {}),
    ...(isUrgent === true || second.isUrgent === true ? { isUrgent: true } : {}),
  };
}

function moreDeliberate(first: string, second: string): string {
  return TRIGGERS.indexOf(second) > TRIGGERS.indexOf(first) ? second : first;
}

/** Who wants a run: an operator, an upstream (which thereby shows that it is up), or the schedule. */
function askerOf({ trigger }: RunRequest): Pick<RunOrder, 'isManual' | 'isHinted' | 'isScheduled'> {
  return {
    isManual: MANUAL_TRIGGERS.has(trigger),
    isHinted: trigger === 'hook' || trigger === 'write',
    isScheduled: trigger === 'schedule' || trigger === 'start',
  };
}

/** Whether other nodes queried the upstreams and there was nothing to publish here. These nodes report the run. */
function isOfOthers({ pass, publish }: RunReport): boolean {
  const asked = pass?.upstreams ?? [];
  const isElsewhere = asked.every((item) => item.kind === 'skipped' && item.cause === 'elsewhere');
  return asked.length > 0 && isElsewhere && (publish?.pages ?? []).every(({ kind }) => kind === 'unchanged');
}
