/** Opens the front door over a composed Pharos. */

import type { AddressInfo } from 'node:net';
import { isStatusError, messageOf, StatusError } from '../errors.ts';
import { currentNumber } from '../publish/releases/folders.ts';
import { createFrontDoor } from '../server/front-door.ts';
import { createHookHandler } from '../server/hooks/hooks.ts';
import { createOwnRoutes } from '../server/own-routes.ts';
import { createBadgeService } from '../server/visitors/badge-service.ts';
import { createReleaseReader } from '../server/visitors/release-reader.ts';
import { now, type Pharos } from './compose.ts';
import { followStore } from './follow-store.ts';
import type { Log } from './log.ts';
import { gaugesOf } from './operators/gauges.ts';
import { createOperators } from './operators/operators.ts';
import { createWritingRoutes } from './operators/writing.ts';

export interface Door {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** Lets answers under way end, then closes. */
  readonly close: () => Promise<void>;
}

const CLOSE_PATIENCE_MS = 5_000;

/** Listens; what is published is served from this moment. */
export async function listen(
  pharos: Pharos,
  { log, port, host }: { log: Log; port: number; host: string },
): Promise<Door> {
  const stopLooking = await followStore(pharos, log);
  const reader = createReleaseReader(pharos.folders);
  const server = createFrontDoor({
    addresses: pharos.addresses,
    reader,
    access: pharos.access,
    subscriptions: pharos.notices.subscriptions,
    own: ownRoutesOf(pharos, log),
    badges: createBadgeService(),
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
    onAnswered: pharos.metrics.requestAnswered,
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
              ? `Port ${port} on ${host} is taken. Stop what listens there, or name another with --port (0: any free one).`
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
    close: () =>
      new Promise((resolve) => {
        stopLooking();
        pharos.events.close();
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), CLOSE_PATIENCE_MS).unref();
      }),
  };
}

function ownRoutesOf(pharos: Pharos, log: Log): ReturnType<typeof createOwnRoutes> {
  const { engine, access, audit, metrics } = pharos;
  const { guard, routes } = createOperators(pharos);
  const takeHook = createHookHandler({
    hookOf: (id) => pharos.config.upstreams.find((upstream) => upstream.id === id)?.hook ?? null,
    pull: (id, address) =>
      engine.submit({
        trigger: 'hook',
        actor: `hook:${id}`,
        client: audit.clientOf(address),
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
    submit: (page, address) =>
      engine.submit({
        trigger: 'rebuild',
        actor: 'operator',
        client: audit.clientOf(address),
        ...(page === null ? {} : { page }),
      }),
    hasPage: (slug) => access.pageOf(slug) !== null,
    hooks: async (id, request) => {
      const result = await takeHook(id, request);
      metrics.hookTaken(result.kind);
      return result;
    },
    unreadiness: () =>
      unreadinessOf(pharos).catch((error: unknown) => {
        if (isStatusError(error)) return ['the database cannot be read'];
        throw error;
      }),
    metrics: async () => ({ text: await metrics.text(await gaugesOf(pharos)), contentType: metrics.contentType }),
    ops: routes,
    ...createWritingRoutes(pharos, guard, log),
  });
}

/** Ready is published and fresh. */
async function unreadinessOf({ folders, siteState }: Pharos): Promise<readonly string[]> {
  const { resolved, sources } = await siteState(now());
  return [
    ...resolved.pages
      .filter(({ definition }) => currentNumber(folders, definition.slug) === null)
      .map(({ definition }) => `page ${definition.slug} is not published yet`),
    ...sources.filter((source) => source.isMonitorsStale).map(({ upstreamId }) => `upstream ${upstreamId} is stale`),
  ];
}
