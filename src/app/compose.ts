/** The composition root: everything that a command needs, built from a configuration. Nothing imports this but commands. */

import { setTimeout as wait } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import type { Access } from '../access/access.ts';
import { createAccess } from '../access/create-access.ts';
import type { Config } from '../config/load.ts';
import type { Secret } from '../config/secret.ts';
import { messageOf } from '../errors.ts';
import type { SendMail } from '../mail/mail.ts';
import { createPrintingMailer, createSmtpMailer } from '../mail/mailer.ts';
import type { SourceFreshness } from '../model/page.ts';
import type { EpochMs } from '../model/time.ts';
import { proxySettings } from '../network/proxy.ts';
import { createDeliverer } from '../notify/deliver.ts';
import { once } from '../once.ts';
import { createSiteMemory, type SiteMemory } from '../publish/definitions/site-memory.ts';
import type { SiteState, SiteStateInputs } from '../publish/definitions/site-state.ts';
import { compileRenderer, loadRenderer } from '../publish/draw/load-renderer.ts';
import type { Renderer } from '../publish/draw/renderer.ts';
import { createPublishControl } from '../publish/publish-control.ts';
import { notedRevision } from '../publish/published-note.ts';
import type { Publisher } from '../publish/publisher.ts';
import { type ReleaseFolders, releaseFolders } from '../publish/releases/folders.ts';
import type { TargetOptions } from '../publish/targets/create-target.ts';
import type { TargetReport } from '../publish/targets/target.ts';
import type { SiteAddresses } from '../server/address.ts';
import { createMetrics, type Metrics } from '../server/operators/metrics.ts';
import { createOpsEvents, type OpsEvents } from '../server/operators/ops-events.ts';
import { createAudit } from '../store/audit.ts';
import { createStore } from '../store/create-store.ts';
import type { OnOlder } from '../store/migrations.ts';
import { createLeases, FILE_LEASE_MS, SERVER_LEASE_MS } from '../store/nodes/leases.ts';
import { raiseReleaseNumbers } from '../store/release-numbers.ts';
import type { Store } from '../store/store.ts';
import { createHttp, type Http } from '../sync/http/http.ts';
import { type PassOptions, runPass } from '../sync/pass/pass.ts';
import type { UpstreamReport } from '../sync/pass/report.ts';
import type { Upstream } from '../sync/upstream.ts';
import { loginView } from '../views/login/login.ts';
import { loginMail } from '../views/login/login-mail.ts';
import { followClock, now } from './clock.ts';
import { createIcons } from './icons.ts';
import { createLiveConfig } from './live-config.ts';
import type { Log } from './log.ts';
import { createElections, type Elections } from './nodes/elections.ts';
import { releaseStoreOf } from './nodes/release-store-of.ts';
import { createTaking, type Taking } from './nodes/take-releases.ts';
import { askingOf, releasesOf } from './nodes/turns.ts';
import { createReleaseUploads, type ReleaseUploads } from './nodes/upload-releases.ts';
import { type Channels, createChannels } from './notify/channels.ts';
import { createNotices, type Notices } from './notify/notices.ts';
import { openStore, type StorePlace, storePlace } from './open-store.ts';
import { type AuditTrail, createAuditTrail } from './operators/audit-trail.ts';
import { ownComponents } from './own-components.ts';
import { createEngine, type Engine, type RunReport } from './run/engine.ts';
import { secretKeyIn, secretKeyToRead } from './secret-key.ts';
import { createSiteKeeper } from './site-keeper.ts';
import { configuredTargets, createTargetKeeper, type TargetKeeper, uploadingOf } from './targets.ts';
import { type PublisherClient, startPublisher } from './workers/publisher-client.ts';

export { now } from './clock.ts';

export interface Pharos {
  /** The current configuration. */
  readonly config: Config;
  readonly store: Store;
  readonly folders: ReleaseFolders;
  /** Key for hashes and encryption of addresses. */
  readonly key: Secret;
  readonly upstreams: readonly Upstream[];
  readonly http: Http;
  readonly engine: Engine;
  /** Tasks that this node does for all nodes of the database. */
  readonly elections: Elections;
  /** Null: this node uploads no releases. */
  readonly releaseUploads: ReleaseUploads | null;
  /** Null: this node renders its own releases, or has none. */
  readonly taking: Taking | null;
  /** Null: this process doesn't publish. */
  readonly publisher: Publisher | null;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly audit: AuditTrail;
  /** Notifications to subscribers and channels. */
  readonly notices: Notices;
  /** Called with release numbers that are in use elsewhere. */
  readonly onNumbers: TargetOptions['onNumbers'];
  /** Keeps the places in `output` current after each run. */
  readonly targets: TargetKeeper;
  /** Live updates for open operators' pages. */
  readonly events: OpsEvents;
  /** Whether sign-in mails are printed instead of sent. */
  readonly printsMail: boolean;
  readonly sendMail: SendMail;
  /** Notification channels, including those from upstreams. */
  readonly channels: Channels;
  /** Renders a page that belongs to no release. The renderer is loaded at the first call. */
  readonly draw: Renderer['render'];
  /**
   * Switches to another configuration: access rules at once, everything else between two runs.
   *
   * @returns names of changed settings that need a restart
   * @throws CONFIG_INVALID with nothing changed
   */
  readonly reconfigure: (next: Config) => Promise<readonly string[]>;
  /** Reads the state of the site from the store. */
  readonly siteState: (at: EpochMs) => Promise<SiteState>;
  /** The configuration of the site, and the known icons. */
  readonly siteInputs: () => Promise<SiteStateInputs>;
  readonly siteUrl: () => string;
  /** Called once the port is known, if the configuration leaves it open. */
  readonly setSiteUrl: (url: string) => void;
  readonly addresses: () => SiteAddresses;
  /** The state of the site when the store was last read; null: not read yet. Doesn't wait. */
  readonly lastState: () => SiteState | null;
  /** How fresh each upstream was when the store was last read. */
  readonly sources: () => readonly SourceFreshness[];
  /** Reads the pages from the store and updates access rules, even without a pass. */
  readonly refreshPages: (now: EpochMs) => Promise<SiteState>;
  /** Serves the public pages that are on disk, until the store can be read. */
  readonly showLastPublished: () => void;
  readonly close: () => Promise<void>;
}

/** Progress of a run, for a terminal. */
export interface RunProgress {
  readonly asking: (answered: number, total: number) => void;
  readonly answered: (report: UpstreamReport) => void;
  /** A request waits until this time for the quota of its upstream. */
  readonly waiting: (upstreamId: string, until: EpochMs) => void;
  /** Counts pages with news. */
  readonly publishing: (published: number, total: number) => void;
}

interface ComposeOptions {
  readonly log: Log;
  /** False: don't publish (`pharos sync`, `pharos check`, `pharos serve`). */
  readonly isPublishing: boolean;
  /** True: a server, which waits for a database that can't be reached. Default: false. */
  readonly isLasting?: boolean;
  /** What happens to a database of an older version. Default: `refuse`. */
  readonly onOlder?: OnOlder;
  /** False: a damaged database stays where it is, which is an error. Default: it is moved aside, and a new one is created. */
  readonly replacesDamaged?: boolean;
  /** Use this copy instead of the configured database. */
  readonly store?: StorePlace;
  readonly onReport?: (report: RunReport) => void;
  readonly progress?: RunProgress;
  /** Prints sign-in mails instead of sending them. */
  readonly printsMail: boolean;
  /** True: a web node, which takes releases from other nodes. Default: false. */
  readonly isTaking?: boolean;
  /** Called with the names of tasks that this node takes over from another; absent: it takes part in none. */
  readonly onTaken?: (names: readonly string[]) => void;
  /** True: a preview, which also shows drafts. */
  readonly showsDrafts?: boolean;
}

/** Waits. */
export const sleep = (ms: number): Promise<void> => wait(ms);

/** Opens the store and builds what the command asks for; `close` gives everything back. */
export async function compose(first: Config, options: ComposeOptions): Promise<Pharos> {
  const { log } = options;
  const place = options.store ?? storePlace(first);
  const database = await openStore(place, {
    log,
    now: now(),
    isLasting: options.isLasting ?? false,
    mayOnlyRead: options.isLasting === true && !options.isPublishing,
    onOlder: options.onOlder ?? 'refuse',
    replacesDamaged: options.replacesDamaged ?? true,
    folder: first.data,
  });
  const store = createStore(database);
  const isServer = 'url' in place;
  const unfollowClock = isServer ? await followClock(database) : () => undefined;
  const leases = createLeases(database, isServer ? SERVER_LEASE_MS : FILE_LEASE_MS);
  const folders = releaseFolders(first.data);
  // Stopping doesn't wait for a quota or a slow answer.
  const stopping = new AbortController();
  const proxy = proxySettings(process.env);
  const http = createHttp({ proxy });
  const live = createLiveConfig(first, {
    mailerOf: (config) => mailerOf(config, options),
    showsDrafts: options.showsDrafts ?? false,
  });
  const deliverer = createDeliverer({ sendMail: live.sendMail, now, proxy });
  const channels = createChannels({ config: live.config, upstreams: live.upstreams, http, store, now, sleep });
  const ownRenderer = once(() => loadRenderer(ownComponents(first)));
  const draw: Renderer['render'] = async (kind, view) => {
    const renderer = site.publisher ?? (await ownRenderer());
    return renderer.render(kind, view);
  };
  const key = first.access.key ?? (database.isReadOnly ? secretKeyToRead(first.data, log) : secretKeyIn(first.data));
  const access = createAccess({
    database,
    key,
    now,
    sendMail: live.sendMail,
    sessionHours: first.access.sessionHours,
    onError: (error, where) => log.error({ where }, messageOf(error)),
    renderLogin: (prompt) => draw('login', loginView({ ...prompt, locale: live.config().site.locale })),
    writeMail: loginMail,
  });
  const metrics = createMetrics(packageJson.version);
  const notices = createNotices({
    database,
    key,
    now,
    log,
    config: live.config,
    access,
    page: (slug) => keeper.page(slug),
    knowChannels: async () => void (await channels.known()),
    channels: () =>
      channels.latest().map((channel) => ({
        ...channel,
        deliver: (notice) => deliverer.deliver(channel, notice),
      })),
    printsMail: options.printsMail,
    isSending: options.isTaking !== true,
    render: (view) => draw('subscribe', view),
    onResult: metrics.noticesSettled,
  });
  const icons = createIcons(database, {
    now,
    signal: stopping.signal,
    proxy,
    onError: (error) => log.error(messageOf(error)),
  });
  const beginSite = async (): Promise<Site> => {
    if (!options.isPublishing) return { memory: createSiteMemory(store), publisher: null };
    const since = await notedRevision(store, folders);
    const memory = createSiteMemory(store, since);
    // Compiled here, because errors can be reported better than from the thread.
    await compileRenderer(ownComponents(first));
    const publisher = await startPublisher({
      store: place,
      folders,
      components: ownComponents(first),
      since,
      control: createPublishControl({
        database,
        folders,
        now,
        sleep,
        leases,
        mayServe: (release) => keeper.mayServe(release, now()),
        tell: notices.tell,
      }),
      takeTouched: memory.takeTouched,
      ...(options.progress === undefined ? {} : { onPage: options.progress.publishing }),
      onError: (error) => log.error(messageOf(error)),
    });
    return { memory, publisher };
  };
  let site = await beginSite();
  let reconfigured: Promise<unknown> = Promise.resolve();
  const siteInputs = async (): Promise<SiteStateInputs> => ({ ...live.siteInputs(), icons: await icons.known() });
  const keeper = createSiteKeeper({
    folders,
    access,
    config: live.config,
    inputs: siteInputs,
    siteUrl: live.siteUrl,
    memory: () => site.memory,
    isKeepingLinks: options.isPublishing || options.isTaking === true,
    onClosed: (slugs, state) => {
      log.info({ pages: slugs }, 'pages made private or removed');
      targets.withdraw(slugs);
      site.publisher?.publishSite(state).catch((error: unknown) => log.error(messageOf(error)));
    },
  });

  const events = createOpsEvents();
  const audit = createAuditTrail({
    audit: createAudit(database),
    now,
    key: () => live.config().operators.token ?? null,
    isPage: (slug) => access.pageOf(slug) !== null,
    onError: (error) => log.error(messageOf(error)),
  });
  const stored = releaseStoreOf(first, { database, proxy });
  const elections = createElections({
    leases,
    names: () => {
      const common = [uploadingOf(live.config()), stored === null ? null : releasesOf(stored.place)];
      return [...live.upstreams().map(({ id }) => askingOf(id)), ...common.filter((name) => name !== null)];
    },
    onTaken: options.onTaken ?? (() => undefined),
  });
  const engine = createEngine({
    store,
    now,
    upstreamIds: () => live.upstreams().map(({ id }) => id),
    pass: (ids, { isScheduled, ...wanted }) => {
      const upstreams = live.upstreams().filter((upstream) => ids.includes(upstream.id));
      const { signal } = stopping;
      const deps = { store, leases, http, now, random: Math.random, sleep, signal, ...waitingOf(options) };
      const turnOf = isScheduled ? (id: string) => elections.leaseOf(askingOf(id)) : undefined;
      return runPass(upstreams, deps, telling(options.progress, upstreams.length, { ...wanted, turnOf }));
    },
    hasNews: () => site.publisher !== null && site.memory.hasTouched(),
    publisher: () => site.publisher,
    retentionDays: () => live.config().retentionDays,
    beforePublish: async (at) => {
      const known = await keeper.refresh(at);
      const state = (await icons.refresh(known.resolved.pages, at)) ? await keeper.refresh(at) : known;
      return state;
    },
    onQueued: (run, request) => {
      audit.queued(run, request);
      events.announce();
    },
    onStarted: events.announce,
    onReport: (report) => {
      countRun(metrics, report);
      audit.ended(report);
      events.announce();
      options.onReport?.(report);
    },
    onTrouble: (error, run) => log.warn({ run }, messageOf(error)),
    onError: (error, run) => {
      log.error({ run }, messageOf(error));
      audit.failed(run, messageOf(error));
      events.announce();
    },
  });
  const reconfigure: Pharos['reconfigure'] = async (next) => {
    const restartNeeded = live.replace(next);
    // Access rules don't wait for the current run.
    await keeper.refresh(now());
    return engine.between(async () => {
      await site.publisher?.close();
      // The memory follows from the old configuration, so releases are compared as after a restart.
      site = await beginSite();
      await keeper.refresh(now());
      return restartNeeded;
    });
  };
  const releases = releasesOf(stored?.place ?? '');
  const releaseUploads =
    stored === null || options.onTaken === undefined
      ? null
      : createReleaseUploads({
          ...{ store: stored, folders, database, now, log, state: keeper.lastState },
          // Web nodes that use the database need no copy of the definitions.
          key: first.releases?.database === true ? null : (first.access.key ?? null),
          isElected: () => elections.leaseOf(releases) !== null,
          mayUpload: () => elections.confirm(releases),
        });
  const taking =
    stored === null || options.isTaking !== true
      ? null
      : createTaking({
          ...{ store: stored, folders, database, log, mayServe: keeper.mightServe },
          copyKey: isServer ? null : key,
          refreshPages: () => keeper.refresh(now()),
        });
  const onNumbers: Pharos['onNumbers'] = (numbers) => raiseReleaseNumbers(database, numbers);
  const targets = createTargetKeeper({
    config: live.config,
    make: (config) =>
      configuredTargets(config, {
        folders,
        key,
        onNumbers,
        now,
        siteUrl: live.siteUrl,
        home: () => keeper.addresses().home,
        sources: keeper.sources,
        mayUpload: async () => {
          const name = uploadingOf(live.config());
          return name !== null && elections.confirm(name);
        },
      }),
    isOurs: ({ kind }) => {
      const name = kind === 's3' ? uploadingOf(live.config()) : null;
      return name === null || elections.leaseOf(name) !== null;
    },
    onReport: (report, run) => {
      logTarget(log, report, run);
      metrics.targetUpdated({ target: report.kind, isCurrent: report.result === 'current', ...report });
      events.announce();
    },
  });
  return {
    get config() {
      return live.config();
    },
    get upstreams() {
      return live.upstreams();
    },
    get publisher() {
      return site.publisher;
    },
    printsMail: options.printsMail,
    sendMail: live.sendMail,
    channels,
    store,
    folders,
    key,
    http,
    engine,
    elections,
    releaseUploads,
    taking,
    access,
    metrics,
    audit,
    notices,
    events,
    targets,
    onNumbers,
    draw,
    reconfigure: (next) => {
      const done = reconfigure(next);
      reconfigured = Promise.allSettled([reconfigured, done]);
      return done;
    },
    siteState: keeper.refresh,
    siteInputs,
    siteUrl: live.siteUrl,
    setSiteUrl: live.setSiteUrl,
    addresses: keeper.addresses,
    lastState: keeper.lastState,
    sources: keeper.sources,
    refreshPages: keeper.refresh,
    showLastPublished: keeper.showLastPublished,
    close: async () => {
      stopping.abort();
      await targets.close();
      await releaseUploads?.close();
      await taking?.close();
      // A reload starts another publisher, which must exist before it can be closed.
      await reconfigured;
      await engine.idle();
      await site.publisher?.close();
      await notices.close();
      await deliverer.close();
      await access.close();
      await audit.close();
      await http.close();
      await icons.close();
      await elections.close();
      unfollowClock();
      // Leases that can't be returned expire.
      await leases.close().catch(() => undefined);
      await store.close();
    },
  };
}

function logTarget(log: Log, report: TargetReport, run: string): void {
  const { kind: target, place, filesWritten: written, filesRemoved: removed, durationMs, message, warnings } = report;
  for (const warning of warnings) log.warn({ run, target }, warning);
  if (message !== null) log.error({ run, target, written, removed }, message);
  else if (written + removed > 0)
    log.info({ run, target, place, written, removed, ms: Math.round(durationMs) }, 'output updated');
}

/** The publisher and its memory of the site. */
interface Site {
  readonly memory: SiteMemory;
  /** Null: this process doesn't publish. */
  readonly publisher: PublisherClient | null;
}

function waitingOf({ progress }: ComposeOptions): { onWait?: RunProgress['waiting'] } {
  return progress === undefined ? {} : { onWait: progress.waiting };
}

/** Adds progress reports for each upstream that answers. */
function telling(progress: RunProgress | undefined, total: number, options: PassOptions): PassOptions {
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

/** Without a mail server, sign-in links can't be sent. The page doesn't reveal this; the log tells the operator. */
function mailerOf(config: Config, { printsMail, log }: ComposeOptions): SendMail {
  if (printsMail) return createPrintingMailer((text) => process.stdout.write(`\n${text}\n\n`));
  const { smtp, from } = config.access;
  if (smtp !== undefined && from !== undefined) return createSmtpMailer({ url: smtp.reveal(), from });
  return async () => {
    log.error('Can’t send a sign-in email: access.smtp and access.from are not configured.');
    throw new Error('no mail server is configured');
  };
}

function countRun(metrics: Metrics, report: RunReport): void {
  metrics.runEnded({
    trigger: report.trigger,
    hasFailed: report.hasFailed,
    seconds: (report.endedAt - report.startedAt) / 1_000,
  });
  for (const { upstreamId: id, kind, requestsUsed, itemsDropped } of report.pass?.upstreams ?? []) {
    metrics.upstreamAsked({ id, kind, requestsUsed, itemsDropped });
  }
  for (const page of report.publish?.pages ?? []) metrics.pagePublished(page);
}
