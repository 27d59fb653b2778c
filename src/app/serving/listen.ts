/** Opens the front door over a composed Pharos. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../errors.ts';
import { createFrontDoor } from '../../server/front-door.ts';
import { createHookHandler } from '../../server/hooks/hooks.ts';
import type { MetricFamily } from '../../server/operators/metric-sums.ts';
import { createOwnRoutes } from '../../server/own-routes.ts';
import { createBadgeService } from '../../server/visitors/badge-service.ts';
import { createReleaseReader } from '../../server/visitors/release-reader.ts';
import { now, type Pharos } from '../compose.ts';
import type { Log } from '../log.ts';
import { createGaugeReader } from '../operators/gauges.ts';
import { createOperators } from '../operators/operators.ts';
import { createWritingRoutes } from '../operators/writing.ts';
import { createAccessLog } from './access-log.ts';
import { followStore } from './follow-store.ts';
import type { createForwarding } from './forward.ts';
import { cannotListen, originOf, type Place } from './listening.ts';
import { type ReadinessFacts, staleness, unreadiness } from './readiness.ts';

export interface Door {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** From now on, this node reports that it isn't ready and closes each connection after its response. It still serves. */
  readonly drain: () => void;
  /** Finishes current responses, then closes. */
  readonly close: () => Promise<void>;
}

const CLOSE_PATIENCE_MS = 5_000;

interface ListenOptions {
  readonly log: Log;
  /** An address for visitors, or the path of a socket for other processes of this node. */
  readonly place: Place | string;
  /** False: it reports that it isn't ready, so that load balancers send no visitors. Default: true. */
  readonly takesVisitors?: boolean;
  /** In a worker: forwards requests below `/-/`. The port is shared with other workers. */
  readonly worker?: { readonly forward: ReturnType<typeof createForwarding> };
  /** Metrics of workers. */
  readonly others?: () => Promise<readonly (readonly MetricFamily[])[]>;
}

/** Starts listening and serves published pages. */
export async function listen(
  pharos: Pharos,
  { log, place, takesVisitors = true, worker, others }: ListenOptions,
): Promise<Door> {
  const stopLooking = await followStore(pharos, log);
  const reader = createReleaseReader(pharos.folders);
  const isForVisitors = typeof place !== 'string';
  let isStopping = false;
  const readiness = (): ReadinessFacts => ({
    folders: pharos.folders,
    state: pharos.lastState(),
    isStopping,
    takesVisitors,
    hasReleases: pharos.taking?.hasReleases() ?? true,
    hasPublished: pharos.engine.lastReport() !== null,
  });
  const accessLog = createAccessLog();
  const server = createFrontDoor({
    addresses: pharos.addresses,
    reader,
    access: pharos.access,
    subscriptions: pharos.notices.subscriptions,
    own: ownRoutesOf(pharos, { log, readiness, others: others ?? (async () => []) }),
    ...(worker === undefined ? {} : { forward: worker.forward }),
    isStopping: () => isStopping,
    badges: createBadgeService(),
    ensure: pharos.taking?.ensure,
    sources: pharos.sources,
    locale: () => pharos.config.site.locale,
    // A getter, because the configuration may change.
    get trustedProxyHops() {
      // A forwarded request has passed one more hop: the worker.
      return pharos.config.server.trustedProxyHops + (isForVisitors ? 0 : 1);
    },
    get isHttpsSite() {
      return pharos.siteUrl().startsWith('https://');
    },
    now,
    onError: (error, where) => log.error({ where }, messageOf(error)),
    // The worker counts and logs forwarded requests.
    ...(isForVisitors
      ? {
          onAnswered: pharos.metrics.requestAnswered,
          accessLog: () => accessLog(pharos.config.server.accessLog),
        }
      : {}),
    onSignIn: (slug, result) => {
      pharos.metrics.signInTried(result);
      pharos.audit.signIn(slug, result);
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(isForVisitors ? cannotListen(error, place) : error));
    server.listen(isForVisitors ? { ...place, reusePort: worker !== undefined } : { path: place }, resolve);
  });
  if (worker === undefined) pharos.notices.open();
  return {
    url: urlOf(server, place),
    drain: () => {
      isStopping = true;
    },
    close: () =>
      new Promise((resolve) => {
        isStopping = true;
        void stopLooking();
        pharos.events.close();
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), CLOSE_PATIENCE_MS).unref();
      }),
  };
}

/** Where a server listens, without a slash at the end. */
function urlOf(server: Server, place: Place | string): string {
  if (typeof place === 'string') return place;
  const { port } = server.address() as AddressInfo;
  return originOf({ ...place, port });
}

interface OwnRoutesDeps extends Required<Pick<ListenOptions, 'log' | 'others'>> {
  readonly readiness: () => ReadinessFacts;
}

function ownRoutesOf(pharos: Pharos, { log, readiness, others }: OwnRoutesDeps): ReturnType<typeof createOwnRoutes> {
  const { engine, access, audit, metrics } = pharos;
  const { guard, routes } = createOperators(pharos);
  const gauges = createGaugeReader(pharos);
  const takeHook = createHookHandler({
    hookOf: (id) => pharos.config.upstreams.find((upstream) => upstream.id === id)?.hook ?? null,
    pull: (id, { clientAddress, trace }) =>
      engine.submit({
        trigger: 'hook',
        actor: `hook:${id}`,
        client: audit.clientOf(clientAddress),
        ...(trace === null ? {} : { traces: [trace] }),
        upstreams: [id],
        isUrgent: true,
      }).id,
    canPull: pharos.publisher !== null,
    now,
    later: (ms, call) => void setTimeout(call, ms).unref(),
  });
  return createOwnRoutes({
    guard,
    canRun: pharos.publisher !== null,
    now,
    submit: (page, { clientAddress, trace }) =>
      engine.submit({
        trigger: 'rebuild',
        actor: 'operator',
        client: audit.clientOf(clientAddress),
        ...(trace === null ? {} : { traces: [trace] }),
        ...(page === null ? {} : { page }),
      }),
    hasPage: (slug) => access.pageOf(slug) !== null,
    hooks: async (id, request) => {
      const result = await takeHook(id, request);
      metrics.hookTaken(result.kind);
      return result;
    },
    unreadiness: () => unreadiness(readiness()),
    staleness: () => staleness(readiness(), now()),
    metrics: async () => {
      const facts = readiness();
      const node = { isReady: unreadiness(facts).length === 0, isFresh: staleness(facts, now()).length === 0 };
      const text = await metrics.text({ ...(await gauges()), ...node }, await others());
      return { text, contentType: metrics.contentType };
    },
    ops: routes,
    ...createWritingRoutes(pharos, guard, log),
  });
}
