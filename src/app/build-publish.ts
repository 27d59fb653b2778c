/** Last of the four builders: runs, which ask upstreams and publish, and what carries releases elsewhere. Nothing runs yet. */

import type { Config } from '../config/load.ts';
import { messageOf } from '../errors.ts';
import type { EpochMs } from '../model/time.ts';
import { createSiteMemory } from '../publish/definitions/site-memory.ts';
import type { SiteState } from '../publish/definitions/site-state.ts';
import { compilePages } from '../publish/draw/compile-pages.ts';
import { createPublishControl } from '../publish/publish-control.ts';
import { notedRevision } from '../publish/published-note.ts';
import type { TargetReport } from '../publish/targets/create-target.ts';
import type { Metrics } from '../server/operators/metrics.ts';
import { type PassOptions, runPass } from '../sync/pass/pass.ts';
import type { UpstreamReport } from '../sync/pass/requester.ts';
import type { ServeParts } from './build-serve.ts';
import type { StoreParts } from './build-store.ts';
import type { TellParts } from './build-tell.ts';
import { now, sleep } from './clock.ts';
import { createNews, type Log } from './log.ts';
import { createChecksKeeper, ownChecksTask } from './nodes/checks.ts';
import { askTask, createElections, type Elections } from './nodes/elections.ts';
import { createReleaseUploads, type ReleaseUploads } from './nodes/releases.ts';
import { logSettled } from './references.ts';
import { createEngine, type Engine, type RunReport } from './run/engine.ts';
import {
  configuredTargets,
  createTargetKeeper,
  releaseBucket,
  releasesTask,
  type TargetKeeper,
  uploadTask,
} from './targets.ts';
import { sitePageLog } from './transparency.ts';
import { startPublisher } from './workers/publisher-client.ts';

/** Progress of a run, for a terminal. */
export interface RunProgress {
  readonly asking: (answered: number, total: number) => void;
  readonly answered: (report: UpstreamReport) => void;
  /** A request waits until this time for the quota of its upstream. */
  readonly waiting: (upstreamId: string, until: EpochMs) => void;
  /** Counts pages with news. */
  readonly publishing: (published: number, total: number) => void;
}

export interface PublishOptions {
  /** False: this process publishes nothing. */
  readonly isPublishing: boolean;
  /** True: a server, which need not wait until it can publish before it serves what is there. Default: false. */
  readonly isLasting?: boolean;
  readonly progress?: RunProgress;
  readonly onReport?: (report: RunReport) => void;
  /** Called with the names of tasks that this node takes over from another; absent: it takes part in none. */
  readonly onTaken?: (names: readonly string[]) => void;
}

export type PublishParts = Awaited<ReturnType<typeof buildPublish>>;

export async function buildPublish(base: StoreParts, serving: ServeParts, telling: TellParts, options: PublishOptions) {
  const { live, closing, publishing, stopping } = base;
  const { keeper } = serving;
  const elections = createNodeElections(base, options.onTaken);
  closing.defer(elections.close);

  async function begin(): Promise<void> {
    if (!options.isPublishing) publishing.memory = createSiteMemory(base.store);
    else await beginPublishing(base, serving, telling, options.progress, releaseUploads);
  }
  const releaseUploads = options.onTaken === undefined ? null : createUploads(base, serving, elections);
  closing.defer(() => publishing.publisher?.close());
  await begin();
  if (options.isLasting !== true) await publishing.publisher?.ready;
  const engine = createRuns(base, { ...options, refresh: keeper.refresh, elections, serving });
  closing.defer(engine.idle);

  async function switchTo(next: Config): Promise<readonly string[]> {
    const restartNeeded = live.replace(next);
    // Access rules don't wait for the current run.
    await keeper.refresh(now());
    // Components that don't compile leave the old publisher running.
    if (options.isPublishing) await compilePages(base.components);
    return engine.between(async () => {
      const { publisher } = publishing;
      // Only one publishes into a folder. The old one still renders what visitors ask for.
      await publisher?.stop();
      // The memory follows from the old configuration, so releases are compared as after a restart.
      await begin();
      await publishing.publisher?.ready;
      await publisher?.close();
      await keeper.refresh(now());
      return restartNeeded;
    });
  }
  let reconfigured: Promise<void> = Promise.resolve();
  // A reload starts another publisher, which must exist before it can be closed.
  closing.defer(() => reconfigured);
  if (releaseUploads !== null) closing.defer(releaseUploads.close);
  const checks = createChecksKeeper(base, engine, elections);
  closing.defer(checks.close);
  const targets = createTargets(base, serving, elections);
  publishing.targets = targets;
  closing.defer(targets.close);
  // Stopping doesn't wait for a quota or a slow answer.
  closing.defer(() => stopping.abort());
  return {
    ...{ engine, elections, checks, releaseUploads, targets },
    /** Null: this process doesn't publish. */
    get publisher() {
      return publishing.publisher;
    },
    /**
     * Switches to another configuration: access rules at once, everything else between two runs.
     *
     * @returns names of changed settings that need a restart
     * @throws CONFIG_INVALID with nothing changed
     */
    reconfigure: (next: Config): Promise<readonly string[]> => {
      const done = switchTo(next);
      reconfigured = Promise.allSettled([reconfigured, done]).then(() => undefined);
      return done;
    },
  };
}

/** Starts the publishing thread. What the last process noted as published isn't published again. */
async function beginPublishing(
  base: StoreParts,
  serving: ServeParts,
  telling: TellParts,
  progress: RunProgress | undefined,
  releaseUploads: ReleaseUploads | null,
): Promise<void> {
  const { store, folders, database, leases, components, place, log, publishing } = base;
  // The record only saves work, and while the store can't be read, the pages on disk are served.
  const since = await notedRevision(store, folders).catch(() => null);
  const memory = createSiteMemory(store, {
    since,
    onSettled: (changes) => {
      logSettled(log, database, changes).catch((error: unknown) => log.error(messageOf(error)));
    },
  });
  // Compiled here, because errors can be reported better than from the thread.
  await compilePages(components);
  const client = startPublisher({
    ...{ store: place, folders, components, since },
    control: createPublishControl({
      ...{ database, folders, now, sleep, leases, tell: telling.tell },
      mayServe: (release) => serving.keeper.mayServe(release, now()),
      log: sitePageLog(base),
      ...(releaseUploads === null ? {} : { numbersKnown: releaseUploads.numbersKnown }),
    }),
    takeTouched: memory.takeTouched,
    ...(progress === undefined ? {} : { onPage: progress.publishing }),
    onError: (error) => log.error(messageOf(error)),
  });
  publishing.publisher = {
    ...client,
    publish: (state, request) =>
      publishing.shown.publish(request?.slug === undefined ? state.revision : null, () =>
        client.publish(state, request),
      ),
  };
  publishing.memory = memory;
}

interface RunsOptions extends Pick<PublishOptions, 'onReport' | 'progress'> {
  readonly refresh: (at: EpochMs) => Promise<SiteState>;
  /** Absent: this process alone asks. */
  readonly elections?: Elections;
  /** Absent: nobody looks at the metrics. */
  readonly serving?: Pick<ServeParts, 'metrics' | 'events'>;
}

/** Runs of this process. By themselves they ask upstreams, and publish nothing. */
export function createRuns(base: StoreParts, { refresh, elections, serving, progress, onReport }: RunsOptions): Engine {
  const { live, store, leases, http, log, audit, icons, publishing } = base;
  const { signal } = base.stopping;
  const announce = (): void => serving?.events.announce();
  return createEngine({
    ...{ store, now, publisher: () => publishing.publisher },
    upstreamIds: () => live.upstreams().map(({ id }) => id),
    pass: (ids, { isScheduled, ...wanted }) => {
      const upstreams = live.upstreams().filter((upstream) => ids.includes(upstream.id));
      const waiting = progress === undefined ? {} : { onWait: progress.waiting };
      const deps = { store, leases, http, now, random: Math.random, sleep, signal, ...waiting };
      const turnOf = isScheduled && elections ? (id: string) => elections.leaseOf(askTask(id)) : undefined;
      return runPass(upstreams, deps, withProgress(progress, upstreams.length, { ...wanted, turnOf }));
    },
    hasNews: () => publishing.publisher !== null && publishing.memory.hasTouched(),
    retentionDays: () => live.config().retentionDays,
    beforePublish: async (at) => {
      const known = await refresh(at);
      return (await icons.refresh(known.resolved.pages, at)) ? refresh(at) : known;
    },
    onQueued: (run, request) => {
      audit.queued(run, request);
      announce();
    },
    onStarted: announce,
    onReport: (report) => {
      if (serving !== undefined) countRun(serving.metrics, report);
      audit.ended(report);
      announce();
      onReport?.(report);
    },
    onTrouble: (error, run) => log.warn({ run }, messageOf(error)),
    onError: (error, run) => {
      log.error({ run }, messageOf(error));
      audit.failed(run, messageOf(error));
      announce();
    },
  });
}

/** Adds progress reports for each upstream that answers. */
function withProgress(progress: RunProgress | undefined, total: number, options: PassOptions): PassOptions {
  if (progress === undefined) return options;
  let answered = 0;
  progress.asking(answered, total);
  return {
    ...options,
    onReport: (report) => {
      answered += 1;
      progress.answered(report);
      progress.asking(answered, total);
      options.onReport?.(report);
    },
  };
}

function countRun(metrics: Metrics, report: RunReport): void {
  metrics.runEnded(report);
  for (const { upstreamId, kind, requestsUsed: requests, itemsDropped: dropped } of report.pass?.upstreams ?? [])
    metrics.upstreamAsked(upstreamId, kind, { requests, dropped });
  for (const page of report.publish?.pages ?? []) metrics.pagePublished(page);
}

/** Tasks that this node does for all nodes of the database. */
function createNodeElections(base: StoreParts, onTaken: PublishOptions['onTaken']): Elections {
  const { live, leases } = base;
  const tasks = () => {
    const common = [uploadTask(live.config()), releasesTask(live.config()), ownChecksTask(base)];
    return [...live.upstreams().map(({ id }) => askTask(id)), ...common.filter((name) => name !== null)];
  };
  return createElections(leases, tasks, onTaken);
}

/** Uploads releases for web nodes. Null: there is no place for them. */
function createUploads(base: StoreParts, { keeper }: ServeParts, elections: Elections): ReleaseUploads | null {
  const { live, folders, database, log, proxy } = base;
  const config = live.config();
  const stored = releaseBucket(config, proxy);
  const task = releasesTask(config);
  if (stored === null || task === null) return null;
  return createReleaseUploads({
    ...{ store: stored, folders, database, now, log, state: keeper.lastState },
    key: config.access.key ?? null,
    isElected: () => elections.leaseOf(task) !== null,
    mayUpload: () => elections.confirm(task),
  });
}

/** Keeps the places in `output` current after each run. */
function createTargets(base: StoreParts, { keeper, metrics, events }: ServeParts, elections: Elections): TargetKeeper {
  const { live, log } = base;
  const newsOf = createNews();
  return createTargetKeeper({
    config: live.config,
    make: (config) =>
      configuredTargets(config, base, keeper, {
        mayUpload: async () => {
          const name = uploadTask(live.config());
          return name !== null && elections.confirm(name);
        },
      }),
    isOurs: ({ kind }) => {
      const name = kind === 's3' ? uploadTask(live.config()) : null;
      return name === null || elections.leaseOf(name) !== null;
    },
    onReport: (report, run) => {
      logTarget(log, newsOf, report, run);
      metrics.targetUpdated(report);
      events.announce();
    },
  });
}

function logTarget(log: Log, newsOf: ReturnType<typeof createNews>, report: TargetReport, run: string): void {
  const { kind: target, place, filesWritten: written, filesRemoved: removed, durationMs, message, warnings } = report;
  for (const warning of newsOf(`warnings ${place}`, warnings)) log.warn({ run, target }, warning);
  for (const line of newsOf(`failed ${place}`, message === null ? [] : [message]))
    log.error({ run, target, written, removed }, line);
  if (message !== null) return;
  if (written + removed > 0)
    log.info({ run, target, place, written, removed, ms: Math.round(durationMs) }, 'output updated');
}
