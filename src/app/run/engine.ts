/** Queues runs and executes one after another. */

import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Store } from '../../store/create-store.ts';
import { type ActiveRun, type Asker, beginRun, type RunDeps, type RunOrder, type RunOutcome } from './run.ts';

export interface RunRequest extends Omit<RunOrder, keyof Asker | 'onTrouble'> {
  /**
   * What triggered it: `schedule`, `command`, `rebuild`, `hook`, `write`, `start`, `check`; `news`: another process committed something.
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

export type Engine = ReturnType<typeof createEngine>;

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
const TRIGGERS = ['news', 'start', 'schedule', 'check', 'hook', 'write', 'rebuild', 'command'];
/** An operator asks, so upstreams in back-off are queried too. */
const MANUAL_TRIGGERS: ReadonlySet<string> = new Set(['rebuild', 'command']);

/** Maximum number of trace ids kept; the latest ones win. */
const TRACES_MAX = 20;
/** One run a minute makes some megabytes a day. What runs changed is kept elsewhere for longer. */
const RUN_DAYS_KEPT = 30;

interface Queue {
  readonly deps: EngineDeps;
  readonly waiting: Waiting[];
  /** Tasks to run between two runs. */
  readonly asides: (() => Promise<void>)[];
  /** Resolves when the queue is empty; null: it is. */
  working: Promise<void> | null;
  current: Running | null;
  lastReport: RunReport | null;
  lastRetained: EpochMs;
  isNewsWaiting: boolean;
}

/**
 * Creates the engine. Runs of this process never overlap; leases keep passes of other processes apart. The queue is our own,
 * because waiting runs are merged, moved forward and listed.
 */
export function createEngine(deps: EngineDeps) {
  const queue: Queue = {
    ...{ deps, waiting: [], asides: [], working: null, current: null, lastReport: null, isNewsWaiting: false },
    lastRetained: toEpochMs(0),
  };
  return {
    /**
     * Queues a run after the current one. Waiting requests for the same upstreams become one run, so of each kind at most one
     * runs and one waits. While a run waits for slow upstreams, urgent and scheduled requests join it.
     */
    submit: (request: RunRequest): QueuedRun => submit(queue, request),
    /** `submit`, for callers that only want the report. */
    run: (request: RunRequest) => submit(queue, request).report,
    /**
     * Publishes what another process committed: within the current run if that still waits for upstreams, otherwise after it,
     * unless that run has published it already.
     */
    publishNews: () => publishNews(queue),
    /** Runs a task between the current run and the next. */
    between: <T>(task: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        queue.asides.push(() => task().then(resolve, reject));
        wake(queue);
      }),
    lastReport: () => queue.lastReport,
    /** The current run, then the waiting ones, in order. */
    underWay: () => [
      ...(queue.current === null ? [] : [queue.current]).map(({ id, trigger, startedAt }) => ({
        id,
        trigger,
        startedAt,
      })),
      ...queue.waiting.map(({ id, request: { trigger } }) => ({ id, trigger, startedAt: null })),
    ],
    /** Resolves when nothing is running. */
    idle: async () => {
      await queue.working;
    },
  };
}

function submit(queue: Queue, request: RunRequest): QueuedRun {
  const { onQueued } = queue.deps;
  const within = askWithin(queue, request);
  if (within !== null) {
    onQueued?.(within.id, request);
    return within;
  }
  const key = JSON.stringify([request.upstreams ?? null, request.isPublishing ?? true]);
  const queued = queue.waiting.find((item) => item.key === key);
  if (queued !== undefined) join(queue, queued, request);
  const mine = queued ?? enqueueNew(queue, key, request);
  onQueued?.(mine.id, request);
  wake(queue);
  return mine;
}

/** Adds a request to the current run, if that still waits for upstreams; null: it doesn't. */
function askWithin({ current }: Queue, request: RunRequest): QueuedRun | null {
  const { upstreams, trigger, page } = request;
  const isUrgent = request.isUrgent === true;
  const isFitting = page === undefined && request.isPublishing !== false && (isUrgent || trigger === 'schedule');
  if (current === null || upstreams === undefined || upstreams.length === 0 || !isFitting) return null;
  if (!current.run.ask({ upstreams, ...findAsker(request), isUrgent })) return null;
  current.trigger = moreDeliberate(current.trigger, trigger);
  current.traces.push(...(request.traces ?? []));
  return current;
}

function join(queue: Queue, item: Waiting, request: RunRequest): void {
  const wasUrgent = item.request.isUrgent === true;
  item.request = joined(item.request, request);
  if (wasUrgent || item.request.isUrgent !== true) return;
  queue.waiting.splice(queue.waiting.indexOf(item), 1);
  insert(queue, item);
}

function insert({ waiting }: Queue, item: Waiting): void {
  const urgent = waiting.findLastIndex((other) => other.request.isUrgent === true);
  waiting.splice(item.request.isUrgent === true ? urgent + 1 : waiting.length, 0, item);
}

function enqueueNew(queue: Queue, key: string, request: RunRequest): Waiting {
  const { deps } = queue;
  const id = randomUUID();
  const { promise, resolve, reject } = Promise.withResolvers<RunReport>();
  // `onError` logs the error, so it doesn't matter whether anyone waits for the report.
  promise.catch(() => undefined);
  const onTrouble = (error: unknown): void => deps.onTrouble(error, id);
  const start = async (): Promise<void> => {
    try {
      const { trigger } = item.request;
      const order = { ...item.request, ...findAsker(item.request), onTrouble };
      const traces = [...(item.request.traces ?? [])];
      queue.current = { id, trigger, traces, startedAt: deps.now(), run: beginRun(deps, order), report: promise };
      deps.onStarted?.(id);
      resolve(await execute(queue, queue.current));
    } catch (error) {
      queue.current = null;
      deps.onError(error, id);
      reject(error);
    }
  };
  const item: Waiting = { id, report: promise, key, request, start };
  insert(queue, item);
  return item;
}

/** Starts working on the queue, which is not empty. */
function wake(queue: Queue): void {
  queue.working ??= work(queue);
}

async function work(queue: Queue): Promise<void> {
  const next = (): (() => Promise<void>) | undefined => queue.asides.shift() ?? queue.waiting.shift()?.start;
  try {
    for (let task = next(); task !== undefined; task = next()) await task();
  } finally {
    // No await since the queue was found empty, so a request that comes next starts `work` again.
    queue.working = null;
  }
}

async function execute(queue: Queue, mine: Running): Promise<RunReport> {
  const { store, now, onReport } = queue.deps;
  const { id, startedAt } = mine;
  const { pass, publish } = await mine.run.outcome;
  // Read afterwards, because requests may have joined.
  const { trigger, traces } = mine;
  const endedAt = now();
  const hasFailed =
    (pass?.upstreams.some((item) => item.kind === 'failed') ?? false) ||
    (publish?.pages.some((page) => page.kind === 'failed') ?? false);
  const report: RunReport = { id, trigger, traces, startedAt, endedAt, pass, publish, hasFailed };
  if (!isOfOthers(report)) await store.recordRun({ id, startedAt, endedAt, trigger, report: JSON.stringify(report) });
  await retainDaily(queue);
  queue.lastReport = report;
  queue.current = null;
  onReport(report);
  return report;
}

async function retainDaily(queue: Queue): Promise<void> {
  const { store, retentionDays } = queue.deps;
  const now = queue.deps.now();
  if (now - queue.lastRetained < DAY_MS) return;
  queue.lastRetained = now;
  const keptDays = retentionDays();
  await store.retain(toEpochMs(now - keptDays * DAY_MS), toEpochMs(now - Math.min(keptDays, RUN_DAYS_KEPT) * DAY_MS));
}

function publishNews(queue: Queue): void {
  const { hasNews } = queue.deps;
  const request: RunRequest = { trigger: 'news', upstreams: [], isUrgent: true };
  // Until the first run has ended, that run publishes everything.
  if (queue.lastReport === null || hasNews?.() !== true || queue.isNewsWaiting) return;
  if (queue.current?.run.ask({ upstreams: [], ...findAsker(request), isUrgent: true }) === true) return;
  queue.isNewsWaiting = true;
  void (queue.working ?? Promise.resolve()).then(() => {
    queue.isNewsWaiting = false;
    if (hasNews?.() === true) submit(queue, request);
  });
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
function findAsker({ trigger }: RunRequest): Asker {
  return {
    isManual: MANUAL_TRIGGERS.has(trigger),
    isHinted: trigger === 'hook' || trigger === 'write' || trigger === 'check',
    isScheduled: trigger === 'schedule' || trigger === 'start',
  };
}

/** Whether other nodes queried the upstreams and there was nothing to publish here. These nodes report the run. */
function isOfOthers({ pass, publish }: RunReport): boolean {
  const asked = pass?.upstreams ?? [];
  const isElsewhere = asked.every((item) => item.kind === 'skipped' && item.cause === 'elsewhere');
  return asked.length > 0 && isElsewhere && (publish?.pages ?? []).every(({ kind }) => kind === 'unchanged');
}
