/** The composition root: everything that a command needs, built from a configuration. Nothing imports this but commands. */

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import type { Access, AccessPage } from '../access/access.ts';
import { createAccess } from '../access/create-access.ts';
import { createPrintingMailer, createSmtpMailer } from '../access/mailer.ts';
import type { SendMail } from '../access/sign-in-mail.ts';
import type { Config } from '../config/load.ts';
import { messageOf } from '../errors.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import type { ResolvedPage } from '../publish/definitions.ts';
import { createPublisher, type Publisher } from '../publish/publisher.ts';
import { type ReleaseFolders, releaseFolders } from '../publish/releases/folders.ts';
import { loadRenderer } from '../publish/renderer.ts';
import { siteFilesOf } from '../publish/site-files.ts';
import { createSiteMemory } from '../publish/site-memory.ts';
import type { SiteState, SiteStateInputs } from '../publish/site-state.ts';
import type { SiteAddresses } from '../server/address.ts';
import { createMetrics, type Metrics } from '../server/metrics.ts';
import { createStore } from '../store/create-store.ts';
import { openSqlite } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { connectorOf } from '../sync/connectors/index.ts';
import { createHttp, type Http } from '../sync/http.ts';
import { runPass } from '../sync/pass.ts';
import { intervalMsOf } from '../sync/schedule.ts';
import { bindUpstream, type Upstream } from '../sync/upstream.ts';
import { loginView } from '../views/login.ts';
import { loginMail } from '../views/login-mail.ts';
import { drawingWith } from './drawing.ts';
import { createEngine, type Engine, type RunReport } from './engine.ts';
import type { Log } from './log.ts';
import { createPageTeam } from './page-team.ts';

export interface Pharos {
  readonly config: Config;
  readonly store: Store;
  readonly folders: ReleaseFolders;
  readonly upstreams: readonly Upstream[];
  readonly http: Http;
  readonly engine: Engine;
  /** Null: nothing is drawn. */
  readonly publisher: Publisher | null;
  readonly access: Access;
  readonly metrics: Metrics;
  /** What the store knows of the site. */
  readonly siteState: (at: EpochMs) => Promise<SiteState>;
  readonly siteUrl: () => string;
  /** Once it is known on which port we listen, where the configuration left it open. */
  readonly setSiteUrl: (url: string) => void;
  readonly addresses: () => SiteAddresses;
  /** Reads the pages from the store and tells the gates; also without a pass. */
  readonly refreshPages: (now: EpochMs) => Promise<SiteState>;
  readonly close: () => Promise<void>;
}

export interface ComposeOptions {
  readonly log: Log;
  /** False: nothing is drawn (`pharos sync`, `pharos check`, `pharos serve`). */
  readonly isPublishing: boolean;
  readonly onReport?: (report: RunReport) => void;
  /** Prints sign-in mails instead of sending them. */
  readonly printsMail: boolean;
}

/** The clock of the process. */
export const now = (): EpochMs => toEpochMs(Date.now());

/** Waits without keeping the process alive by itself. */
export const sleep = (ms: number): Promise<void> => wait(ms);

/** Binds the configured upstreams to their connectors. */
export function bindUpstreams(config: Config): readonly Upstream[] {
  return config.upstreams.map((entry) => {
    const connector = connectorOf(entry.kind);
    if (connector === undefined) throw new Error(`the configuration let the unknown kind ${entry.kind} pass`);
    return bindUpstream(connector, {
      id: entry.id,
      options: entry.options,
      limits: entry.limits,
      intervalMs: intervalMsOf(entry.schedule ?? config.schedule),
    });
  });
}

/** Opens the store and builds what the command asks for; `close` gives everything back. */
export async function compose(config: Config, options: ComposeOptions): Promise<Pharos> {
  const { log } = options;
  const databaseFile = join(config.data, 'pharos.db');
  const { database, damagedFile } = openSqlite(databaseFile, now());
  if (damagedFile !== null) {
    log.error(
      { damagedFile },
      'The database was damaged. It was moved aside and a new one was begun; the published pages stay, the upstreams are asked again. To bring history back, restore a backup.',
    );
  }
  const store = createStore(database);
  const folders = releaseFolders(config.data);
  const upstreams = bindUpstreams(config);
  const http = createHttp();
  let siteUrl = config.site.url.replace(/\/+$/, '');
  const siteInputs = (): SiteStateInputs => ({
    site: {
      url: siteUrl,
      name: config.site.name,
      home: config.site.home ?? null,
      timezone: config.site.timezone,
      locale: config.site.locale,
    },
    pages: config.pages,
    intervalMs: new Map(upstreams.map((upstream) => [upstream.id, upstream.intervalMs])),
  });
  const renderer = options.isPublishing ? await loadRenderer() : null;
  const access = createAccess({
    database,
    now,
    sendMail: mailerOf(config, options),
    sessionHours: config.access.sessionHours,
    onError: (error, where) => log.error({ where }, messageOf(error)),
    renderLogin: async (prompt) =>
      (renderer ?? (await loadRenderer())).render('login', loginView({ ...prompt, locale: config.site.locale })),
    writeMail: loginMail,
  });
  let customDomains: ReadonlyMap<string, string> = new Map();

  const memory = createSiteMemory(store);
  let gated: SiteState['resolved'] | null = null;
  async function refreshPages(at: EpochMs): Promise<SiteState> {
    const state = await memory.look(siteInputs(), at);
    if (state.resolved === gated) return state;
    const { pages } = state.resolved;
    customDomains = new Map(
      pages.flatMap(({ definition }) =>
        definition.customDomain === null ? [] : [[definition.customDomain, definition.slug]],
      ),
    );
    await access.setPages(pages.map(toAccessPage));
    gated = state.resolved;
    return state;
  }

  const metrics = createMetrics(packageJson.version);
  const publisher =
    renderer === null
      ? null
      : createPublisher({
          store,
          folders,
          ...drawingWith(renderer),
          siteFilesOf,
          takeTouched: memory.takeTouched,
          team: createPageTeam({ databaseFile, folders }),
          now,
          sleep,
          onError: (error) => log.error(messageOf(error)),
        });
  const engine = createEngine({
    store,
    now,
    pass: (ids, passOptions) =>
      runPass(
        ids === null ? upstreams : upstreams.filter((upstream) => ids.includes(upstream.id)),
        { store, http, now, random: Math.random, sleep },
        passOptions,
      ),
    publisher,
    retentionDays: config.retentionDays,
    beforePublish: refreshPages,
    onReport: (report) => {
      countRun(metrics, report);
      options.onReport?.(report);
    },
    onError: (error, run) => log.error({ run }, messageOf(error)),
  });
  return {
    config,
    store,
    folders,
    upstreams,
    http,
    engine,
    publisher,
    access,
    metrics,
    siteState: refreshPages,
    siteUrl: () => siteUrl,
    setSiteUrl: (url) => {
      siteUrl = url;
    },
    addresses: () => {
      const { hostname, pathname } = new URL(siteUrl);
      return {
        siteHost: hostname.toLowerCase(),
        basePath: pathname.endsWith('/') ? pathname : `${pathname}/`,
        home: config.site.home ?? null,
        customDomains,
      };
    },
    refreshPages,
    close: async () => {
      await engine.idle();
      await publisher?.close();
      await access.close();
      await http.close();
      await store.close();
    },
  };
}

function toAccessPage({ definition, settings, password }: ResolvedPage): AccessPage {
  const { slug, title, access, emailDomains } = definition;
  if (access === 'closed') throw new Error(`the closed page ${slug} was to be published`);
  return { slug, title, locale: settings.locale, url: settings.url, access, password, emailDomains };
}

/** Without a mail server nobody can be sent a link; the page says so to nobody, the log says it to the operator. */
function mailerOf(config: Config, { printsMail, log }: ComposeOptions): SendMail {
  if (printsMail) return createPrintingMailer((text) => process.stdout.write(`\n${text}\n\n`));
  const { smtp, from } = config.access;
  if (smtp !== undefined && from !== undefined) return createSmtpMailer({ url: smtp.reveal(), from });
  return async () => {
    log.error('A sign-in mail cannot be sent: access.smtp and access.from are not configured.');
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
