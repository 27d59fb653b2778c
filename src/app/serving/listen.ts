/** Opens the front door over a composed Pharos. */

import type { AddressInfo } from 'node:net';
import { messageOf, StatusError } from '../../errors.ts';
import { createFrontDoor } from '../../server/front-door.ts';
import { createHookHandler } from '../../server/hooks/hooks.ts';
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
import { type ReadinessFacts, staleness, unreadiness } from './readiness.ts';

export interface Door {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** From now on this node says that it is not ready, and ends each connection with its answer; it serves as before. */
  readonly drain: () => void;
  /** Lets answers under way end, then closes. */
  readonly close: () => Promise<void>;
}

export interface ListenOptions {
  readonly log: Log;
  readonly port: number;
  readonly host: string;
  /** False: it says that it is not ready, so that no balancer sends visitors. Default: true. */
  readonly takesVisitors?: boolean;
}

const CLOSE_PATIENCE_MS = 5_000;

/** Listens; what is published is served from this moment. */
export async function listen(pharos: Pharos, { log, port, host, takesVisitors = true }: ListenOptions): Promise<Door> {
  const stopLooking = await followStore(pharos, log);
  const reader = createReleaseReader(pharos.folders);
  let isStopping = false;
  const readiness = (): ReadinessFacts => ({
    folders: pharos.folders,
    state: pharos.lastState(),
    isStopping,
    takesVisitors,
    hasReleases: pharos.taking?.hasReleases() ?? true,
    hasPublished: pharos.engine.lastReport() !== null,
  });
  const logAccess = createAccessLog(() => pharos.config.server.accessLog);
  const server = createFrontDoor({
    addresses: pharos.addresses,
    reader,
    access: pharos.access,
    subscriptions: pharos.notices.subscriptions,
    own: ownRoutesOf(pharos, { log, readiness }),
    isStopping: () => isStopping,
    badges: createBadgeService(),
    ensure: pharos.taking?.ensure,
    sources: pharos.sources,
    locale: () => pharos.config.site.locale,
    // Asked at every request, since the configuration may change meanwhile.
    get trustedProxyHops() {
      return pharos.config.server.trustedProxyHops;
    },
    get isHttpsSite() {
      return pharos.siteUrl().startsWith('https://');
    },
    now,
    onError: (error, where) => log.error({ where }, messageOf(error)),
    onAnswered: (request) => {
      pharos.metrics.requestAnswered(request.status, request.seconds);
      logAccess(request);
    },
    onSignIn: (slug, result) => {
      pharos.metrics.signInTried(result);
      pharos.audit.signIn(slug, result);
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new StatusError({
          code: 'CONFIG_INVALID',
          message:
            error.code === 'EADDRINUSE'
              ? `Port ${port} on ${host} is already in use. Stop the other program, or choose another port with --port (0 picks a free one).`
              : `Cannot listen on ${host}:${port}: ${error.message}`,
          issues: [{ path: 'server.port', message: error.message }],
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  pharos.notices.open();
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
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

function ownRoutesOf(
  pharos: Pharos,
  { log, readiness }: { readonly log: Log; readonly readiness: () => ReadinessFacts },
): ReturnType<typeof createOwnRoutes> {
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
      return { text: await metrics.text({ ...(await gauges()), ...node }), contentType: metrics.contentType };
    },
    ops: routes,
    ...createWritingRoutes(pharos, guard, log),
  });
}
