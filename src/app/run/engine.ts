/** One run after another: what is asked for when, by whom, and the result. */

import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Store } from '../../store/store.ts';
import type { RunDeps, RunOrder } from './order.ts';
import { type ActiveRun, beginRun, type RunOutcome } from './run.ts';

export interface RunRequest extends Omit<RunOrder, 'isManual' | 'isHinted' | 'isScheduled' | 'onTrouble'> {
  /** What began it: `schedule`, `command`, `rebuild`, `hook`, `write`, `start`; `news`: another process learned something. */
  readonly trigger: string;
  /** True: before everything that waits, since somebody says that something just changed. */
  readonly isUrgent?: boolean;
  /** Who asked, for the audit: `operator`, `hook:svc`; never an address or a secret. Absent: nobody did. */
  readonly actor?: string;
  /** Trace ids of whoever asked, for the log. */
  readonly traces?: readonly string[];
  /** Keyed hash of the address that asked, for the audit. */
  readonly client?: string | null;
}

/** A run that was asked for: its id is known at once, its report later. */
export interface QueuedRun {
  readonly id: string;
  readonly report: Promise<RunReport>;
}

export interface RunReport extends RunOutcome {
  readonly id: string;
  readonly trigger: string;
  /** Of all that asked for it, in the order in which they did. */
  readonly traces: readonly string[];
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
  /** Whether an upstream or a page failed. */
  readonly hasFailed: boolean;
}

export interface EngineDeps extends RunDeps {
  readonly store: Store;
  readonly retentionDays: () => number;
  readonly onReport: (report: RunReport) => void;
  /** The run ended without a report. */
  readonly onError: (error: unknown, runId: string) => void;
  /** Something went wrong that the run goes on after. */
  readonly onTrouble: (error: unknown, runId: string) => void;
  /** Told of every request, with the id of the run that it begins or joins. */
  readonly onQueued?: (runId: string, request: RunRequest) => void;
  readonly onStarted?: (runId: string) => void;
  /** Whether something happened to a page that no run has published yet. Default: never. */
  readonly hasNews?: () => boolean;
}

export interface Engine {
  /**
   * Queues a run after whatever is running. Requests that wait together and ask the same upstreams are one run: of every
   * kind, at most one runs and one waits, however many ask. While a run waits for slow upstreams, what is urgent and what
   * the schedule says is asked within it.
   */
  readonly submit: (request: RunRequest) => QueuedRun;
  /** `submit`, for callers that only want the report. */
  readonly run: (request: RunRequest) => Promise<RunReport>;
  /**
   * Publishes what another process learned: within the run under way, if that waits for upstreams still, or else after it,
   * unless it took that along.
   */
  readonly publishNews: () => void;
  /** Does something after what runs and before what waits. */
  readonly between: <T>(task: () => Promise<T>) => Promise<T>;
  readonly lastReport: () => RunReport | null;
  /** What runs, then what waits, in order. */
  readonly underWay: () => readonly RunUnderWay[];
  /** Resolves when nothing is running. */
  readonly idle: () => Promise<void>;
}

export interface RunUnderWay {
  readonly id: string;
  readonly trigger: string;
  /** Null: it waits for its turn. */
  readonly startedAt: EpochMs | null;
}

interface Waiting extends QueuedRun {
  readonly key: string;
  /** Grows with every request that joins. */
  request: RunRequest;
  readonly start: () => Promise<void>;
}

interface Running extends QueuedRun {
  /** That of the most deliberate request that is asked within it. */
  trigger: string;
  readonly traces: string[];
  readonly startedAt: EpochMs;
  readonly run: ActiveRun;
}

/** What several requests are called together: that of the most deliberate. */
const TRIGGERS = ['news', 'start', 'schedule', 'hook', 'write', 'rebuild', 'command'];
/** An operator asks, so an upstream that is being left alone is tried all the same. */
const MANUAL_TRIGGERS: ReadonlySet<string> = new Set(['rebuild', 'command']);

/** Of a storm of notifications those that asked last. */
const TRACES_MAX = 20;
/** One run a minute makes some megabytes a day; what they changed is kept elsewhere for longer. */
const RUN_DAYS_KEPT = 30;

/**
 * Makes the engine. Runs never overlap in this process; passes of other processes are kept apart by leases. The queue is
 * our own, because what waits in it is joined, moved forward and listed.
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
      // In the same step as the look that found nothing: what is queued a moment later begins anew.
      running = null;
    }
  }

  /** To be called with something queued. */
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
    // Whoever waits for the report is told; so is the log, also when nobody waits.
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

  /** Asks within the run that is under way, if it waits for upstreams still; null: it does not. */
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
    // Before the first report everything is news, and it is being published.
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

/** One request that does what both ask for; two that name different pages publish all. */
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

/** Whose wish a run is: an operator's, or that of an upstream which proves by it that it lives. */
function askerOf({ trigger }: RunRequest): Pick<RunOrder, 'isManual' | 'isHinted' | 'isScheduled'> {
  return {
    isManual: MANUAL_TRIGGERS.has(trigger),
    isHinted: trigger === 'hook' || trigger === 'write',
    isScheduled: trigger === 'schedule' || trigger === 'start',
  };
}

/** Whether other nodes asked and there was nothing to publish here: they tell of it. */
function isOfOthers({ pass, publish }: RunReport): boolean {
  const asked = pass?.upstreams ?? [];
  const isElsewhere = asked.every((item) => item.kind === 'skipped' && item.cause === 'elsewhere');
  return asked.length > 0 && isElsewhere && (publish?.pages ?? []).every(({ kind }) => kind === 'unchanged');
}
