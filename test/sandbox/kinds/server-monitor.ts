/** The server monitor of the sandbox: what the first run has, with its request limits and announced endpoints. */

import { type EpochMs, HOUR_MS, MINUTE_MS } from '../../../src/model/time.ts';
import { createServerMonitor, failure, naiveTime } from '../../../src/sandbox/server-monitor.ts';
import { serverMonitor } from '../../../src/sync/connectors/server-monitor/connector.ts';
import { bearerToken, headerOf, json, type PagingShift, type Reply, type Request, type Upstream } from '../exchange.ts';
import { shifted } from '../faults.ts';
import type { SandboxContext, SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

interface RequestLimits {
  readonly perMinute: number;
  readonly perHour: number;
}

interface ServerMonitorSettings {
  /** Null: none. Default: those of the document, for each key; more in a large world. */
  readonly limits: RequestLimits | null;
  /** Of its clock, east of UTC. */
  readonly offsetMinutes: number;
  /** Whether `/maintenance` and `/metrics`, which the document only announces, are there. */
  readonly hasFutureEndpoints: boolean;
}

/** The figures of the document. */
const DOCUMENTED_LIMITS: RequestLimits = { perMinute: 60, perHour: 1_000 };
/** Of an account with more monitors than a page or two: the past of all of them is told at once. */
const LARGE_LIMITS: RequestLimits = { perMinute: 600, perHour: 20_000 };
const LARGE_FROM = 40;

function limitsFor(monitorsTotal: number): RequestLimits {
  return monitorsTotal >= LARGE_FROM ? LARGE_LIMITS : DOCUMENTED_LIMITS;
}

/** Its keys: one to read with, and one that exists and may nothing. */
export function serverMonitorKeys({ secret }: Pick<SandboxContext, 'secret'>): {
  readonly apiKey: string;
  readonly forbiddenKey: string;
} {
  return { apiKey: secret('edge'), forbiddenKey: secret('forbidden') };
}

export function serverMonitorSandbox(settings: Partial<ServerMonitorSettings> = {}): SandboxKind {
  return {
    connector: serverMonitor,
    upstreams: [
      {
        name: 'server-monitor',
        ids: ['edge'],
        entry: (url, { services }) => {
          const limits = limitsFor(services.length);
          return {
            ...serverMonitor.example,
            baseUrl: url,
            auth: 'x-api-key',
            ...(limits === DOCUMENTED_LIMITS ? {} : { limits }),
          };
        },
        isUsual: true,
        // The others are shown as the uptime service sees them: it has a word for slow, and knows of maintenances.
        serviceIds: [3, 4, 8, 9],
      },
    ],
    variables: (context) => ({ EDGE_KEY: serverMonitorKeys(context).apiKey }),
    start: (context) => ({
      'server-monitor': createLimited(context, {
        limits: limitsFor(context.world.services.length),
        offsetMinutes: 120,
        hasFutureEndpoints: false,
        ...settings,
      }),
    }),
  };
}

function createLimited(context: SandboxContext, settings: ServerMonitorSettings): Upstream {
  const { world } = context;
  const { apiKey, forbiddenKey } = serverMonitorKeys(context);
  const { limits, offsetMinutes, hasFutureEndpoints } = settings;
  const limiter = createRequestLimiter(limits);
  let shift: PagingShift | null = null;
  const answer = createServerMonitor({
    world: { ...world, incidentsAt: (now, service) => shifted(world.incidentsAt(now, service), shift) },
    apiKey,
    offsetMinutes,
  });
  return (request) => {
    const key = headerOf(request.headers, 'x-api-key') ?? bearerToken(request.headers);
    if (key === forbiddenKey) return failure(403, 'This API key has no permission to read');
    if (key !== apiKey) return answer(request);
    const verdict = limiter(key, request.now);
    if (verdict.kind === 'refused') {
      const headers = { 'retry-after': String(verdict.retryAfterSeconds), 'x-ratelimit-remaining': '0' };
      return failure(429, 'Rate limit exceeded', headers);
    }
    shift = request.pagingShift;
    const reply = (hasFutureEndpoints ? announced(world, request, offsetMinutes) : null) ?? answer(request);
    return limits === null
      ? reply
      : { ...reply, headers: { ...reply.headers, 'x-ratelimit-remaining': String(verdict.remaining) } };
  };
}

/** What they will answer is not known; these are guesses that a reader must be able to ignore. */
function announced(world: World, { path }: Request, offsetMinutes: number): Reply | null {
  const maintenance = world.maintenances.map(({ id, title, serviceIds, from, to }) => ({
    id,
    title,
    monitor_ids: serviceIds,
    starts_at: naiveTime(from, offsetMinutes),
    ends_at: naiveTime(to, offsetMinutes),
  }));
  if (path === '/maintenance') return json(200, { success: true, data: { maintenance } });
  const metrics = { monitors: world.services.length };
  return path === '/metrics' ? json(200, { success: true, data: { metrics } }) : null;
}

type LimitVerdict =
  | { readonly kind: 'allowed'; readonly remaining: number }
  | { readonly kind: 'refused'; readonly retryAfterSeconds: number };

/**
 * Counts requests per key, by the sandbox's clock. A request counts from its instant until one window later, that instant
 * excluded; a refused one does not count. Null limits allow everything.
 */
export function createRequestLimiter(limits: RequestLimits | null): (key: string, now: EpochMs) => LimitVerdict {
  const sentByKey = new Map<string, EpochMs[]>();
  return (key, now) => {
    if (limits === null) return { kind: 'allowed', remaining: Number.MAX_SAFE_INTEGER };
    const sent = (sentByKey.get(key) ?? []).filter((at) => at > now - HOUR_MS);
    const inMinute = sent.filter((at) => at > now - MINUTE_MS);
    const waitMs = Math.max(
      freeAfterMs(inMinute, limits.perMinute, MINUTE_MS, now),
      freeAfterMs(sent, limits.perHour, HOUR_MS, now),
    );
    sentByKey.set(key, sent);
    if (waitMs > 0) return { kind: 'refused', retryAfterSeconds: Math.ceil(waitMs / 1_000) };
    sent.push(now);
    return {
      kind: 'allowed',
      remaining: Math.min(limits.perMinute - inMinute.length, limits.perHour - sent.length + 1) - 1,
    };
  };
}

function freeAfterMs(sent: readonly EpochMs[], max: number, windowMs: number, now: EpochMs): number {
  const blocking = sent[sent.length - max];
  return blocking === undefined ? 0 : blocking + windowMs - now;
}
