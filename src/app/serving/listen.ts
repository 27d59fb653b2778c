/** Opens the front door over a composed Pharos. */

import type { AddressInfo } from 'node:net';
import { isStatusError, messageOf } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import { type SiteState, sourceFreshness } from '../../publish/definitions/site-state.ts';
import { readServed, type ServedRelease } from '../../publish/releases/folders.ts';
import type { OwnRequest } from '../../server/answer.ts';
import { createFrontDoor } from '../../server/front-door.ts';
import { createHookHandler, createOidcRoutes, createOwnRoutes } from '../../server/own-routes.ts';
import { createBadgeService } from '../../server/visitors/badge-service.ts';
import { createReleaseReader } from '../../server/visitors/release-reader.ts';
import type { SignInResult } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import type { ServeParts } from '../build-serve.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { createAccessLog, type Log } from '../log.ts';
import { createCatchUp, lookRegularly, showCommitted } from '../nodes/catch-up.ts';
import { createGaugeReader, createLatest, type Latest } from '../operators/gauges.ts';
import { createOperators } from '../operators/operators.ts';
import { createWritingRoutes } from '../operators/writing.ts';
import type { Engine } from '../run/engine.ts';
import { cannotListen, originOf } from './listening.ts';

export type Door = Awaited<ReturnType<typeof listen>>;

const CLOSE_PATIENCE_MS = 5_000;

interface ListenOptions {
  readonly log: Log;
  /** Default: `server.port` of the configuration. 0: any that is free. */
  readonly port?: number | undefined;
  /** Default: `server.host` of the configuration. */
  readonly host?: string | undefined;
  /** False: it reports that it isn't ready, so that load balancers send no visitors. Default: true. */
  readonly takesVisitors?: boolean;
}

/** Starts listening and serves published pages. */
export async function listen(pharos: Pharos, { log, port, host, takesVisitors = true }: ListenOptions) {
  const place = {
    port: port ?? pharos.base.live.config().server.port,
    host: host ?? pharos.base.live.config().server.host,
  };
  const stopLooking = await followStore(
    { keeper: pharos.serving.keeper, database: pharos.base.database, engine: pharos.publishing.engine },
    log,
  );
  pharos.base.closing.defer(stopLooking);
  const reader = createReleaseReader(pharos.base.folders);
  let isStopping = false;
  const served = createLatest(new Map<string, ServedRelease>(), async () => {
    const pages = pharos.serving.keeper.lastState()?.resolved.pages ?? [];
    return new Map(
      await readServed(
        pharos.base.folders,
        pages.map(({ definition }) => definition.slug),
      ),
    );
  });
  const readiness = async (): Promise<ReadinessFacts> => ({
    published: await served.read(),
    diskSilentMs: served.waitingMs(),
    state: pharos.serving.keeper.lastState(),
    isStopping,
    takesVisitors,
    hasReleases: pharos.serving.taking?.hasReleases() ?? true,
    hasPublished: pharos.publishing.engine.lastReport() !== null,
  });
  const accessLog = createAccessLog();
  const server = createFrontDoor({
    addresses: pharos.serving.keeper.addresses,
    reader,
    access: pharos.serving.access,
    subscriptions: pharos.telling.subscriptions,
    own: ownRoutesOf(pharos, log, served, readiness),
    isStopping: () => isStopping,
    badges: createBadgeService(),
    ensure: pharos.serving.taking?.ensure,
    catchUp: catchUpOf(pharos),
    sources: pharos.serving.keeper.sources,
    locale: () => pharos.base.live.config().site.locale,
    // A getter, because the configuration may change.
    get trustedProxyHops() {
      return pharos.base.live.config().server.trustedProxyHops;
    },
    get isHttpsSite() {
      return pharos.base.live.siteUrl().startsWith('https://');
    },
    now,
    onError: (error, where) => log.error({ where }, messageOf(error)),
    onAnswered: pharos.serving.metrics.requestAnswered,
    accessLog: () => accessLog(pharos.base.live.config().server.accessLog),
    onSignIn: signInNoted(pharos),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, place)));
    server.listen(place, resolve);
  });
  pharos.telling.open();
  return {
    /** Where it listens, without a slash at the end. */
    url: originOf({ ...place, port: (server.address() as AddressInfo).port }),
    /** From now on, this node reports that it isn't ready and closes each connection after its response. It still serves. */
    drain: () => {
      isStopping = true;
    },
    /** Finishes current responses, then closes. */
    close: () =>
      new Promise<void>((resolve) => {
        isStopping = true;
        void stopLooking();
        pharos.serving.events.close();
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), CLOSE_PATIENCE_MS).unref();
      }),
  };
}

/** Undefined: no other node serves the same site. */
function catchUpOf({ base, serving, publishing }: Pharos): ReturnType<typeof createCatchUp> | undefined {
  const refresh = () => serving.keeper.refresh(now());
  const { taking } = serving;
  if (taking !== null)
    return createCatchUp(async () => {
      await refresh();
      await taking.refresh();
    });
  if (!('url' in base.place) || publishing.publisher === null) return undefined;
  const { database, publishing: state } = base;
  const { publishNews } = publishing.engine;
  const hasNews = (): boolean => state.memory.hasTouched();
  return createCatchUp(() => showCommitted({ database, shown: state.shown, refresh, hasNews, publishNews }));
}

function ownRoutesOf(
  pharos: Pharos,
  log: Log,
  served: Latest<ReadonlyMap<string, ServedRelease>>,
  readiness: () => Promise<ReadinessFacts>,
) {
  const { audit } = pharos.base;
  const { access, metrics } = pharos.serving;
  const { engine } = pharos.publishing;
  const { guard, routes, returned } = createOperators(pharos);
  const gauges = createGaugeReader(pharos, served);
  const sender = ({ clientAddress, trace }: Pick<OwnRequest, 'clientAddress' | 'trace'>) => ({
    client: audit.clientOf(clientAddress),
    ...(trace === null ? {} : { traces: [trace] }),
  });
  const canRun = pharos.publishing.publisher !== null;
  const hookOf = (id: string) =>
    pharos.base.live.config().upstreams.find((upstream) => upstream.id === id)?.hook ?? null;
  const pull = (id: string, request: OwnRequest) =>
    engine.submit({ trigger: 'hook', actor: `hook:${id}`, upstreams: [id], isUrgent: true, ...sender(request) }).id;
  const takeHook = createHookHandler(guard, now, hookOf, canRun ? pull : null);
  return createOwnRoutes({
    ...{ guard, canRun, now },
    submit: (page, request, actor) =>
      engine.submit({ trigger: 'rebuild', actor, ...(page === null ? {} : { page }), ...sender(request) }),
    hasPage: (slug) => access.pageOf(slug) !== null,
    hooks: async (id, request) => {
      const answer = await takeHook(id, request);
      metrics.hookTaken(answer.status);
      return answer;
    },
    unreadiness: async () => unreadiness(await readiness()),
    staleness: async () => staleness(await readiness(), now()),
    metrics: async () => {
      const facts = await readiness();
      const node = { isReady: unreadiness(facts).length === 0, isFresh: staleness(facts, now()).length === 0 };
      const text = await metrics.text({ ...(await gauges()), ...node });
      return { text, contentType: metrics.contentType };
    },
    ops: routes,
    oidc: createOidcRoutes({
      ...{ oidc: pharos.serving.oidc, access, now, returned, onSignIn: signInNoted(pharos) },
      sitePath: () => `${new URL(pharos.base.live.siteUrl()).pathname.replace(/\/$/, '')}/`,
    }),
    ...createWritingRoutes(pharos, guard, log),
  });
}

function signInNoted({ serving, base }: Pharos): (slug: string, result: SignInResult) => void {
  return (slug, result) => {
    serving.metrics.signInTried(result);
    base.audit.signIn(slug, result);
  };
}

// Keeps access rules and published pages in line with the store, whichever process wrote to it. Announcements are
// followed at once. Where there are none, or they get lost, polling finds the change.

/** A page that becomes private is closed within this time. A poll without news takes three small reads. */
const LOOK_EVERY_MS = 250;

/**
 * Applies what the store says, now and whenever it changes. If it can't be read at startup, the pages that were published last
 * are served.
 *
 * @returns a function that stops this
 */
export async function followStore(
  pharos: {
    readonly keeper: Pick<ServeParts['keeper'], 'refresh' | 'showLastPublished'>;
    readonly database: Pick<Database, 'listen'>;
    readonly engine: Pick<Engine, 'publishNews'>;
  },
  log: Pick<Log, 'error'>,
): Promise<() => Promise<void>> {
  const { keeper, database, engine } = pharos;
  let lastError: string | null = null;

  async function look(): Promise<boolean> {
    try {
      await keeper.refresh(now());
      engine.publishNews();
      lastError = null;
      return true;
    } catch (error) {
      if (!isStatusError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
      // Logged once, not four times a second.
      if (messageOf(error) !== lastError) log.error(messageOf(error));
      lastError = messageOf(error);
      return false;
    }
  }

  if (!(await look())) keeper.showLastPublished();
  return lookRegularly(database, LOOK_EVERY_MS, () => look().catch((error: unknown) => log.error(messageOf(error))));
}

// Whether this node can serve visitors, and whether its pages are fresh. Both come from memory, so that a database or
// a disk that hangs doesn't delay load balancers.

export interface ReadinessFacts {
  /** Slugs of the pages with a release, when the disk was last read. */
  readonly published: Pick<ReadonlySet<string>, 'has'>;
  /** How long the disk hasn't answered; 0 or absent: it answers. */
  readonly diskSilentMs?: number;
  /** The state when the store was last read; null: not read since the start. */
  readonly state: SiteState | null;
  readonly isStopping: boolean;
  /** False: a node with the role `sync`. Default: true. */
  readonly takesVisitors?: boolean;
  /** False: a web node that has no releases yet. Default: true. */
  readonly hasReleases?: boolean;
  /** Whether the first run has ended. A page that failed in it doesn't keep the node from serving the others. */
  readonly hasPublished: boolean;
}

/** A database or a disk that doesn't answer for this long hangs or is unreachable. The store is read four times a second. */
const SILENT_MS = 10_000;

/** Reasons why a load balancer shouldn't send visitors here; empty: none. */
export function unreadiness(facts: ReadinessFacts): readonly string[] {
  const { state, isStopping, takesVisitors = true, hasReleases = true, hasPublished } = facts;
  if (isStopping) return ['the server is stopping'];
  if (!takesVisitors) return ['this node runs with --role sync and does not serve visitors'];
  // The pages that were published last are served nevertheless.
  if (state === null) return ['the database has not been read yet'];
  if (!hasReleases) return ['no releases have been fetched yet'];
  if (hasPublished) return [];
  return state.resolved.pages.length === 0 ? ['no page is known yet'] : unpublished(facts, state);
}

/** Reasons why served pages may be out of date; empty: none. */
export function staleness(facts: ReadinessFacts, now: EpochMs): readonly string[] {
  const { state, diskSilentMs = 0 } = facts;
  if (state === null) return ['the database has not been read yet'];
  const silentMs = now - state.now;
  return [
    ...(silentMs > SILENT_MS ? [`the database has not answered for ${Math.round(silentMs / 1_000)} s`] : []),
    ...(diskSilentMs > SILENT_MS ? [`the disk has not answered for ${Math.round(diskSilentMs / 1_000)} s`] : []),
    ...unpublished(facts, state),
    ...state.sources.flatMap(({ upstreamId, isAhead }) =>
      isAhead === true
        ? [`upstream ${upstreamId} was recorded in the future: the clock of this machine was set back`]
        : [],
    ),
    ...state.sources
      .map(({ upstreamId, intervalMs, ...times }) => sourceFreshness(upstreamId, times, intervalMs, now))
      .filter((source) => source.isMonitorsStale)
      .map(({ upstreamId }) => `upstream ${upstreamId} is stale`),
  ];
}

function unpublished({ published }: ReadinessFacts, { resolved }: SiteState): readonly string[] {
  return resolved.pages.flatMap(({ definition: { slug } }) =>
    published.has(slug) ? [] : [`page ${slug} is not published yet`],
  );
}
