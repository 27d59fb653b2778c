/** The current configuration, and everything derived from it. It can be replaced while the process runs. */

import type { Config } from '../config/load.ts';
import { hasOperators } from '../config/rules.ts';
import type { SendMail } from '../mail/mail.ts';
import { createPrintingMailer, createSmtpMailer } from '../mail/mailer.ts';
import { WRITTEN_ID } from '../model/observation.ts';
import { MINUTE_MS } from '../model/time.ts';
import type { SiteStateInputs } from '../publish/definitions/site-state.ts';
import { connectorOf } from '../sync/connectors/index.ts';
import { written } from '../sync/connectors/markdown/written.ts';
import { intervalMinMs } from '../sync/pass/quota.ts';
import { scheduleIntervalMs } from '../sync/schedule.ts';
import { bindUpstream, type Upstream } from '../sync/upstream.ts';
import type { Log } from './log.ts';

interface LiveConfigOptions {
  readonly log: Pick<Log, 'error'>;
  /** Print emails instead of sending them. */
  readonly printsMail: boolean;
  /** True: a preview, which also shows drafts. */
  readonly showsDrafts: boolean;
}

export function createLiveConfig(first: Config, options: LiveConfigOptions) {
  const { showsDrafts } = options;
  let config = first;
  let bound = bindUpstreams(config, showsDrafts, []);
  let mailer = createMailer(config, options);
  let siteUrl = withoutSlash(config.site.url);
  return {
    config: () => config,
    upstreams: () => bound.map(({ upstream }) => upstream),
    siteUrl: () => siteUrl,
    /** Called once the port is known, if the configuration didn't set it. */
    setSiteUrl: (url: string) => {
      siteUrl = url;
    },
    siteInputs: (): SiteStateInputs => ({
      site: {
        url: siteUrl,
        name: config.site.name,
        home: config.site.home ?? null,
        timezone: config.site.timezone,
        locale: config.site.locale,
        locales: config.site.locales,
        historyDays: config.retentionDays,
        security: config.site.security,
        look: config.looks.site,
        publicFiles: config.publicFiles,
        subscriptions: config.subscriptions,
        hasChannels: config.notifications.length > 0,
      },
      looks: config.looks.pages,
      pages: config.pages,
      intervalMs: new Map(bound.map(({ upstream }) => [upstream.id, upstream.intervalMs])),
      callMs: new Map(bound.map(({ upstream }) => [upstream.id, intervalMinMs(upstream.limits, 1)])),
      definesPages: new Set(bound.flatMap(({ upstream }) => (upstream.definesPages ? [upstream.id] : []))),
      vendorPages: new Map(
        bound.flatMap(({ upstream: { id, vendorPage } }) => (vendorPage === null ? [] : [[id, vendorPage]])),
      ),
    }),
    sendMail: ((mail) => mailer(mail)) satisfies SendMail,
    /**
     * Puts another configuration in force. Upstreams that stay as they are go on from what they remember.
     *
     * @returns names of settings that differ and need a restart; they stay as they were
     * @throws CONFIG_INVALID with nothing changed
     */
    replace: (next: Config): readonly string[] => {
      const nextBound = bindUpstreams(next, showsDrafts, bound);
      const kept = pickFixed(config);
      const wanted = pickFixed(next);
      const isMoved = next.site.url !== config.site.url;
      bound = nextBound;
      config = {
        ...next,
        data: config.data,
        site: withComponents(next.site, config.site.components),
        store: config.store,
        releases: config.releases,
        server: { ...next.server, host: config.server.host, port: config.server.port },
        access: { ...next.access, sessionHours: config.access.sessionHours, key: config.access.key },
      };
      mailer = createMailer(config, options);
      if (isMoved) siteUrl = withoutSlash(next.site.url);
      return Object.keys(kept).filter((name) => kept[name] !== wanted[name]);
    },
  };
}

/** Without a mail server, sign-in links can't be sent. The page doesn't reveal this; the log tells the operator. */
function createMailer({ access }: Config, { printsMail, log }: LiveConfigOptions): SendMail {
  if (printsMail) return createPrintingMailer((text) => process.stdout.write(`\n${text}\n\n`));
  const { smtp, from } = access;
  if (smtp !== undefined && from !== undefined) return createSmtpMailer({ url: smtp.reveal(), from });
  return async () => {
    log.error('Can’t send a sign-in email: access.smtp and access.from are not configured.');
    throw new Error('no mail server is configured');
  };
}

/** Own components are compiled when the process begins. */
function withComponents({ components: _, ...site }: Config['site'], components: string | undefined): Config['site'] {
  return { ...site, ...(components === undefined ? {} : { components }) };
}

/** Settings that need a restart, by name. */
function pickFixed({ data, store, site, server, access, releases }: Config): Readonly<Record<string, unknown>> {
  const s3 = releases?.s3;
  return {
    data,
    'store.url': store?.url.reveal(),
    'site.components': site.components,
    'server.host': server.host,
    'server.port': server.port,
    'access.sessionHours': access.sessionHours,
    'access.key': access.key?.reveal(),
    'releases.s3': s3 === undefined ? null : `${s3.endpoint}/${s3.bucket}/${s3.prefix}`,
  };
}

interface Bound {
  /** Digest of everything that the upstream is made from. */
  readonly key: string;
  readonly upstream: Upstream;
}

function bindUpstreams(config: Config, showsDrafts: boolean, before: readonly Bound[]): readonly Bound[] {
  const schedules = readSchedules(config);
  const configured = config.upstreams.map((entry): Bound => {
    const schedule = schedules.get(entry.id) ?? config.schedule;
    const key = JSON.stringify([entry.id, entry.kind, entry.options, entry.limits, entry.ca, schedule]);
    const same = before.find((other) => other.key === key);
    if (same !== undefined) return same;
    const { id, kind, options, limits, ca } = entry;
    return {
      key,
      upstream: bindUpstream(connectorOf(kind), { id, options, limits, ca, intervalMs: scheduleIntervalMs(schedule) }),
    };
  });
  return !hasOperators(config) && !showsDrafts ? configured : [...configured, bindWritten(config, showsDrafts, before)];
}

/** The built-in upstream of operators' posts. */
function bindWritten({ schedule }: Config, drafts: boolean, before: readonly Bound[]): Bound {
  const key = JSON.stringify([WRITTEN_ID, schedule]);
  const settings = { id: WRITTEN_ID, options: { drafts }, limits: null, intervalMs: scheduleIntervalMs(schedule) };
  return before.find((other) => other.key === key) ?? { key, upstream: bindUpstream(written, settings) };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

// When each upstream is queried: as configured, but each vendor's host at most once a minute.

/** Minutes of an hour, over which pages of one host are distributed. */
const MINUTES = 60;

/**
 * Cron expressions by upstream id. Pages of vendors on one host that have no schedule of their own take turns where the
 * site's would ask the host more than once a minute: of three, each is asked every third minute.
 */
export function readSchedules({ upstreams, schedule }: Pick<Config, 'upstreams' | 'schedule'>) {
  const sharing = Map.groupBy(
    upstreams.filter((entry) => entry.schedule === null),
    ({ kind, options }) => {
      const page = connectorOf(kind).vendorPage?.(options as never);
      return page === undefined ? null : new URL(page).host;
    },
  );
  const schedules = new Map(upstreams.map((entry) => [entry.id, entry.schedule ?? schedule]));
  for (const [host, entries] of sharing) {
    const every = Math.min(entries.length, MINUTES);
    if (host === null || every === 1 || scheduleIntervalMs(schedule) >= every * MINUTE_MS) continue;
    for (const [index, { id }] of entries.entries()) schedules.set(id, `${index % every}-59/${every} * * * *`);
  }
  return schedules;
}
