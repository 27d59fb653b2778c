/** One run after another: ask upstreams, publish what changed, remember the report. */

import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import type { Publisher, PublishReport } from '../publish/publisher.ts';
import type { SiteStateInputs } from '../publish/site-state.ts';
import type { Store } from '../store/store.ts';
import type { PassReport } from '../sync/report.ts';

export interface RunRequest {
  /** What began it: `schedule`, `command`, `rebuild`, `hook`, `start`. */
  readonly trigger: string;
  /** Only these upstreams; absent: all. Empty: none, publish only. */
  readonly upstreams?: readonly string[];
  /** Only this page is published. */
  readonly page?: string;
  /** False: into the store and no further. */
  readonly isPublishing?: boolean;
  /** True: before everything that waits, since somebody says that something just changed. */
  readonly isUrgent?: boolean;
  /** Who asked, for the audit: `operator`, `hook:svc`; never an address or a secret. */
  readonly actor?: string;
}

/** A run that was asked for: its id is known at once, its report later. */
export interface QueuedRun {
  readonly id: string;
  readonly report: Promise<RunReport>;
}

export interface RunReport {
  readonly id: string;
  readonly trigger: string;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
  readonly pass: PassReport | null;
  readonly publish: PublishReport | null;
  /** Whether an upstream or a page failed. */
  readonly hasFailed: boolean;
}

export interface EngineDeps {
  readonly store: Store;
  readonly now: () => EpochMs;
  /** `isManual`: an operator asks, so an upstream that is being left alone is tried all the same. */
  readonly pass: (
    upstreamIds: readonly string[] | null,
    options: { readonly isManual: boolean },
  ) => Promise<PassReport>;
  readonly publisher: Publisher | null;
  readonly siteInputs: () => SiteStateInputs;
  readonly retentionDays: number;
  /** Told of every page set before it is published, so that gates are up before files are. */
  readonly beforePublish: (now: EpochMs) => Promise<void>;
  readonly onReport: (report: RunReport) => void;
  readonly onError: (error: unknown) => void;
}

export interface Engine {
  /** Queues a run after whatever is running; equal requests that wait together are one run. */
  readonly submit: (request: RunRequest) => QueuedRun;
  /** `submit`, for callers that only want the report. */
  readonly run: (request: RunRequest) => Promise<RunReport>;
  readonly lastReport: () => RunReport | null;
  /** Resolves when nothing is running. */
  readonly idle: () => Promise<void>;
}

interface Waiting extends QueuedRun {
  readonly key: string;
  readonly request: RunRequest;
  readonly start: () => Promise<void>;
}

/** Makes the engine. Runs never overlap in this process; passes of other processes are kept apart by leases. */
export function createEngine(deps: EngineDeps): Engine {
  const waiting: Waiting[] = [];
  let running: Promise<void> | null = null;
  let lastReport: RunReport | null = null;
  let lastRetained = toEpochMs(0);

  async function execute(id: string, request: RunRequest): Promise<RunReport> {
    const startedAt = deps.now();
    const isAsking = request.upstreams === undefined || request.upstreams.length > 0;
    const pass = isAsking
      ? await deps.pass(request.upstreams ?? null, {
          isManual: request.trigger === 'command' || request.trigger === 'rebuild',
        })
      : null;
    let publish: PublishReport | null = null;
    if (deps.publisher !== null && request.isPublishing !== false) {
      await deps.beforePublish(deps.now());
      publish = await deps.publisher.publish(deps.siteInputs(), {
        now: deps.now(),
        ...(request.page === undefined ? {} : { slug: request.page }),
      });
    }
    const report: RunReport = {
      id,
      trigger: request.trigger,
      startedAt,
      endedAt: deps.now(),
      pass,
      publish,
      hasFailed:
        (pass?.upstreams.some((item) => item.kind === 'failed') ?? false) ||
        (publish?.pages.some((page) => page.kind === 'failed') ?? false),
    };
    await deps.store.recordRun({
      id: report.id,
      startedAt,
      endedAt: report.endedAt,
      trigger: request.trigger,
      report: JSON.stringify(report),
    });
    await retainDaily();
    lastReport = report;
    deps.onReport(report);
    return report;
  }

  async function retainDaily(): Promise<void> {
    const now = deps.now();
    if (now - lastRetained < DAY_MS) return;
    lastRetained = now;
    await deps.store.retain(toEpochMs(now - deps.retentionDays * DAY_MS));
  }

  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next.start();
  }

  function submit(request: RunRequest): QueuedRun {
    const key = JSON.stringify([request.upstreams ?? null, request.page ?? null, request.isPublishing ?? true]);
    const queued = waiting.find((item) => item.key === key);
    if (queued !== undefined) return queued;
    const id = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<RunReport>();
    // Whoever waits for the report is told; so is the log, also when nobody waits.
    promise.catch(() => undefined);
    const start = async (): Promise<void> => {
      try {
        resolve(await execute(id, request));
      } catch (error) {
        deps.onError(error);
        reject(error);
      }
    };
    const mine: Waiting = { id, report: promise, key, request, start };
    if (request.isUrgent === true) waiting.unshift(mine);
    else waiting.push(mine);
    running ??= work().finally(() => {
      running = null;
    });
    return mine;
  }

  return {
    submit,
    run: (request) => submit(request).report,
    lastReport: () => lastReport,
    idle: async () => {
      await running;
    },
  };
}
