/** The folders and buckets of a configuration. Targets are kept current in the background. */

import type { Config } from '../config/load.ts';
import type { SourceFreshness } from '../model/page.ts';
import type { EpochMs } from '../model/time.ts';
import { type ProxySettings, proxySettings } from '../network/proxy.ts';
import { programVersion } from '../publish/draw/program-version.ts';
import type { ReleaseFolders } from '../publish/releases/folders.ts';
import { createTarget, type Target, type TargetOptions, type TargetReport } from '../publish/targets/create-target.ts';
import type { PageLock } from '../publish/targets/host-files.ts';
import { createBucket, createFolder, fenceStore, type ObjectStore } from '../publish/targets/object-store.ts';
import { createStaticListing } from '../publish/targets/static-listing.ts';
import type { Secret } from '../schema/secret.ts';
import type { Database } from '../store/database.ts';
import { raiseReleaseNumbers } from '../store/release-numbers.ts';
import { now } from './clock.ts';

interface TargetDeps {
  readonly folders: ReleaseFolders;
  /** Key for parts of the ledger that only Pharos may read. */
  readonly key: Secret;
  readonly onNumbers: TargetOptions['onNumbers'];
  readonly now: () => EpochMs;
  readonly siteUrl: () => string;
  /** Slug of the page that the root is an address of. */
  readonly home: () => string | null;
  /** How fresh each upstream is by now. */
  readonly sources: () => readonly SourceFreshness[];
  /** Whether this node is elected to upload; checked before each write. Default: it is the only node. */
  readonly mayUpload?: () => Promise<boolean>;
}

/**
 * Name of the task that one node is elected for: uploading to the bucket. Folders belong to their node. Null: there is no
 * bucket.
 */
export function uploadTask({ output: { s3 } }: Config): string | null {
  return s3 === undefined ? null : `output/${s3.endpoint}/${s3.bucket}/${s3.prefix}`;
}

/** The same for uploading releases for web nodes. */
export function releasesTask({ releases }: Pick<Config, 'releases'>): string | null {
  return releases === undefined ? null : `releases/s3://${releases.s3.bucket}/${releases.s3.prefix}`;
}

/** What targets need of a site. */
export function targetDeps(
  {
    folders,
    key,
    live,
    database,
  }: Pick<TargetDeps, 'folders' | 'key'> & { readonly live: Pick<TargetDeps, 'siteUrl'>; readonly database: Database },
  { addresses, sources }: Pick<TargetDeps, 'sources'> & { readonly addresses: () => { readonly home: string | null } },
): TargetDeps {
  return {
    ...{ folders, key, now, siteUrl: live.siteUrl, sources },
    onNumbers: (numbers) => raiseReleaseNumbers(database, numbers),
    home: () => addresses().home,
  };
}

/** Parallel requests for releases: a web node that begins with nothing fetches thousands of small objects. */
const RELEASE_CONNECTIONS_MAX = 32;

/** Where releases for web nodes are kept; null: there are none. Connects only when used. */
export function releaseBucket({ releases }: Pick<Config, 'releases'>, proxy: ProxySettings): ObjectStore | null {
  if (releases === undefined) return null;
  const limits = { connectionsMax: RELEASE_CONNECTIONS_MAX };
  return createBucket({ ...releases.s3, setting: 'releases.s3' }, { now, random: Math.random, proxy, limits });
}

/** A folder as a target; with `isSealed`, password pages too, each as one encrypted file. */
export function folderTarget(
  folder: string,
  config: Config,
  { folders, key, onNumbers, siteUrl, home, sources, isSealed }: TargetDeps & { readonly isSealed: boolean },
): Target {
  const hostFiles = { isHttps: siteUrl().startsWith('https:') };
  const sealed = isSealed ? pageLocks(config) : new Map<string, PageLock>();
  const listing = createStaticListing({ folders, home, sources, sealed, hostFiles, version: programVersion(null) });
  return createTarget({ store: createFolder(folder), key, onNumbers, listing });
}

/** Every target that is configured. Nothing is opened before it is used. */
export function configuredTargets(config: Config, deps: TargetDeps, isSealed = config.output.sealed): Target[] {
  const { folder, s3 } = config.output;
  const targets = folder === undefined ? [] : [folderTarget(folder, config, { ...deps, isSealed })];
  if (s3 === undefined) return targets;
  const { key, onNumbers, mayUpload } = deps;
  const sealed = isSealed ? pageLocks(config) : new Map<string, PageLock>();
  const listing = createStaticListing({ ...deps, sealed, hostFiles: null, version: programVersion(null) });
  const proxy = proxySettings(process.env);
  const bucket = createBucket({ ...s3, setting: 'output.s3' }, { now: deps.now, random: Math.random, proxy });
  // A node that was paused while another took over must not overwrite what that one wrote.
  const store = mayUpload === undefined ? bucket : fenceStore(bucket, mayUpload);
  return [...targets, createTarget({ store, encoding: s3.contentEncoding, key, onNumbers, listing })];
}

function pageLocks({ pages, site }: Config): ReadonlyMap<string, PageLock> {
  return new Map(
    // An encrypted file opens anywhere.
    pages.flatMap(({ slug, password, locale, allow_ips: ranges }) =>
      password === undefined || ranges !== undefined ? [] : [[slug, { password, locale: locale ?? site.locale }]],
    ),
  );
}

export interface TargetKeeper {
  /** Reads the targets' ledgers and brings the targets up to date, in the background. */
  readonly open: () => void;
  /** This node uploads from now on. Another one did before, so the ledger is read again. */
  readonly takeOver: () => void;
  /** Updates the targets after this run, in the background. If an update is running, another one follows it. */
  readonly follow: (runId: string) => void;
  /** Removes these pages from every target at once, interrupting any update. */
  readonly withdraw: (slugs: readonly string[]) => void;
  /** Report of the last update of each target. */
  readonly reports: () => readonly TargetReport[];
  /** Stops updates; the next start continues them. */
  readonly close: () => Promise<void>;
}

interface TargetKeeperOptions {
  /** The one in force. */
  readonly config: () => Config;
  readonly make: (config: Config) => readonly Target[];
  readonly onReport: (report: TargetReport, runId: string) => void;
  /** Whether this node is responsible for a target. */
  readonly isOurs: (target: Target) => boolean;
}

/** Creates the keeper. A slow or unreachable target delays nothing, not even the other target. */
export function createTargetKeeper(options: TargetKeeperOptions): TargetKeeper {
  const { config, make } = options;
  let kept: { readonly config: Config; readonly keepers: readonly OneKeeper[] } | null = null;
  /** Resolves when the targets of former configurations have stopped: two must never write to one place. */
  let retired: Promise<unknown> | null = null;
  let isClosed = false;

  function retire(): void {
    const closing = (kept?.keepers ?? []).map((keeper) => keeper.close());
    retired = Promise.allSettled([retired, ...closing]);
    kept = null;
  }

  function current(): readonly OneKeeper[] {
    const wanted = config();
    if (kept?.config === wanted) return kept.keepers;
    if (kept !== null) retire();
    kept = { config: wanted, keepers: make(wanted).map((target) => keepOne(target, { ...options, ready: retired })) };
    return kept.keepers;
  }

  const open = (): void => {
    for (const keeper of current()) keeper.open();
  };

  return {
    open,
    takeOver: () => {
      if (isClosed) return;
      retire();
      open();
    },
    follow: (runId) => {
      if (!isClosed) for (const keeper of current()) keeper.follow(runId);
    },
    withdraw: (slugs) => {
      if (isClosed || slugs.length === 0) return;
      for (const keeper of current()) keeper.withdraw();
    },
    reports: () => kept?.keepers.flatMap((keeper) => keeper.report() ?? []) ?? [],
    close: async () => {
      isClosed = true;
      retire();
      await retired;
    },
  };
}

/** Used instead of a run's id for updates after pages closed, and at startup. */
const CLOSING = 'closing';
const OPENING = 'start';

interface OneKeeper {
  readonly open: () => void;
  /** Updates at once; removals come first. */
  readonly withdraw: () => void;
  readonly follow: (runId: string) => void;
  readonly report: () => TargetReport | null;
  readonly close: () => Promise<void>;
}

function keepOne(
  target: Target,
  {
    onReport,
    isOurs,
    ready,
  }: Pick<TargetKeeperOptions, 'onReport' | 'isOurs'> & { readonly ready: Promise<unknown> | null },
): OneKeeper {
  let last: TargetReport | null = null;
  let isRunning = false;
  let isClosed = false;
  let waiting: string | null = null;
  const work = async (runId: string): Promise<void> => {
    isRunning = true;
    if (ready !== null) await ready;
    for (let next: string | null = waiting ?? runId; next !== null && !isClosed; ) {
      waiting = null;
      last = await target.update();
      // An update that ends because we stop isn't reported.
      if (!isClosed) onReport(last, next);
      next = waiting;
    }
    isRunning = false;
  };
  const follow = (runId: string): void => {
    if (!isOurs(target)) return;
    if (isRunning) waiting = runId;
    else void work(runId);
  };
  return {
    // Pages that closed while no process ran, or that are public only because of a restored backup, are removed before anything
    // is published.
    open: () => {
      if (!isOurs(target)) return;
      void Promise.resolve(ready)
        .then(() => (isClosed ? undefined : target.open()))
        .then(() => follow(OPENING));
    },
    follow,
    withdraw: () => {
      target.interrupt();
      follow(CLOSING);
    },
    report: () => last,
    close: () => {
      isClosed = true;
      return target.close();
    },
  };
}
