/** The folders and buckets of a configuration. Targets are kept current in the background. */

import type { Config } from '../config/load.ts';
import type { SourceFreshness } from '../model/page.ts';
import { type ProxySettings, proxySettings } from '../network/proxy.ts';
import { programVersion } from '../publish/draw/program-version.ts';
import { createTarget, type Target, type TargetReport } from '../publish/targets/create-target.ts';
import type { PageLock } from '../publish/targets/host-files.ts';
import { createBucket, createFolder, fenceStore, type ObjectStore } from '../publish/targets/object-store.ts';
import { createStaticListing } from '../publish/targets/static-listing.ts';
import { raiseReleaseNumbers } from '../store/identities.ts';
import type { StoreParts } from './build-store.ts';
import { now } from './clock.ts';

/** What targets show of a site that is not in its releases. */
interface TargetSite {
  /** With the slug of the page that the root is an address of. */
  readonly addresses: () => { readonly home: string | null };
  /** How fresh each upstream is by now. */
  readonly sources: () => readonly SourceFreshness[];
}

type TargetBase = Pick<StoreParts, 'folders' | 'key' | 'live' | 'database'>;

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

/** Parallel requests for releases: a web node that begins with nothing fetches thousands of small objects. */
const RELEASE_CONNECTIONS_MAX = 32;

/** Where releases for web nodes are kept; null: there are none. Connects only when used. */
export function releaseBucket({ releases }: Pick<Config, 'releases'>, proxy: ProxySettings): ObjectStore | null {
  if (releases === undefined) return null;
  const limits = { connectionsMax: RELEASE_CONNECTIONS_MAX };
  return createBucket({ ...releases.s3, setting: 'releases.s3' }, { now, random: Math.random, proxy, limits });
}

/** A folder as a target; with `isSealed`, password pages too, each as one encrypted file. */
export function folderTarget(folder: string, config: Config, base: TargetBase, site: TargetSite, isSealed: boolean) {
  const hostFiles = { isHttps: base.live.siteUrl().startsWith('https:') };
  return createTarget({ store: createFolder(folder), ...targetParts(config, base, site, isSealed, hostFiles) });
}

/**
 * Every target that is configured. Nothing is opened before it is used.
 *
 * @param mayUpload whether this node is elected to upload; checked before each write. Default: it is the only node
 */
export function configuredTargets(
  config: Config,
  base: TargetBase,
  site: TargetSite,
  { isSealed = config.output.sealed, mayUpload }: { isSealed?: boolean; mayUpload?: () => Promise<boolean> } = {},
): Target[] {
  const { folder, s3 } = config.output;
  const targets = folder === undefined ? [] : [folderTarget(folder, config, base, site, isSealed)];
  if (s3 === undefined) return targets;
  const proxy = proxySettings(process.env);
  const bucket = createBucket({ ...s3, setting: 'output.s3' }, { now, random: Math.random, proxy });
  // A node that was paused while another took over must not overwrite what that one wrote.
  const store = mayUpload === undefined ? bucket : fenceStore(bucket, mayUpload);
  return [
    ...targets,
    createTarget({ store, encoding: s3.contentEncoding, ...targetParts(config, base, site, isSealed, null) }),
  ];
}

function targetParts(
  config: Config,
  { folders, key, database }: TargetBase,
  { addresses, sources }: TargetSite,
  isSealed: boolean,
  hostFiles: { readonly isHttps: boolean } | null,
) {
  const home = () => addresses().home;
  const sealed = isSealed ? pageLocks(config) : new Map<string, PageLock>();
  return {
    key,
    onNumbers: (numbers: ReadonlyMap<string, number>) => raiseReleaseNumbers(database, numbers),
    listing: createStaticListing({ folders, home, sources, sealed, hostFiles, version: programVersion(null) }),
  };
}

function pageLocks({ pages, site }: Config): ReadonlyMap<string, PageLock> {
  return new Map(
    // An encrypted file opens anywhere.
    pages.flatMap(({ slug, password, locale = site.locale, locales = [locale], allow_ips: ranges }) =>
      password === undefined || ranges !== undefined ? [] : [[slug, { password, locale: locales[0] ?? locale }]],
    ),
  );
}

export type TargetKeeper = ReturnType<typeof createTargetKeeper>;

interface TargetKeeperOptions {
  /** The one in force. */
  readonly config: () => Config;
  readonly make: (config: Config) => readonly Target[];
  readonly onReport: (report: TargetReport, runId: string) => void;
  /** Whether this node is responsible for a target. */
  readonly isOurs: (target: Target) => boolean;
}

/** Creates the keeper. A slow or unreachable target delays nothing, not even the other target. */
export function createTargetKeeper(options: TargetKeeperOptions) {
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
    kept = { config: wanted, keepers: make(wanted).map((target) => keepOne(target, options, retired)) };
    return kept.keepers;
  }

  /** Reads the targets' ledgers and brings the targets up to date, in the background. */
  const open = (): void => {
    for (const keeper of current()) keeper.open();
  };

  return {
    open,
    /** This node uploads from now on. Another one did before, so the ledger is read again. */
    takeOver: () => {
      if (isClosed) return;
      retire();
      open();
    },
    /** Updates the targets after this run, in the background. If an update is running, another one follows it. */
    follow: (runId: string) => {
      if (!isClosed) for (const keeper of current()) keeper.follow(runId);
    },
    /** Removes these pages from every target at once, interrupting any update. */
    withdraw: (slugs: readonly string[]) => {
      if (isClosed || slugs.length === 0) return;
      for (const keeper of current()) keeper.withdraw();
    },
    /** Report of the last update of each target. */
    reports: () => kept?.keepers.flatMap((keeper) => keeper.report() ?? []) ?? [],
    /** Stops updates; the next start continues them. */
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

type OneKeeper = ReturnType<typeof keepOne>;

/** @param ready resolves when others have stopped writing there; null: nobody did */
function keepOne(target: Target, { onReport, isOurs }: TargetKeeperOptions, ready: Promise<unknown> | null) {
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
    /** Updates at once; removals come first. */
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
