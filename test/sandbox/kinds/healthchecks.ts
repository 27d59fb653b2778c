/** A Healthchecks over the sandbox's world: each service is a job that reports, or does not. */

import { createHash } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { Service, ServiceStatus } from '../../../src/sandbox/services.ts';
import { healthchecks } from '../../../src/sync/connectors/healthchecks/connector.ts';
import { headerOf, json, type Upstream } from '../exchange.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

const NAME = 'healthchecks';

export const healthchecksSandbox: SandboxKind = {
  connector: healthchecks,
  upstreams: [{ name: NAME, ids: ['jobs'], entry: (url) => ({ ...healthchecks.example, url }) }],
  variables: ({ secret }) => ({ HEALTHCHECKS_KEY: secret(NAME) }),
  start: ({ world, secret }) => ({ [NAME]: createHealthchecks(world, secret(NAME)) }),
};

const WORDS: Readonly<Record<ServiceStatus, string>> = {
  up: 'up',
  degraded: 'grace',
  down: 'down',
  pending: 'new',
  paused: 'paused',
};

const keyOf = ({ key }: Service): string => createHash('sha1').update(key).digest('hex');

function createHealthchecks(world: World, apiKey: string): Upstream {
  return ({ method, path, headers, query, now }) => {
    if (method !== 'GET') return json(405, {});
    if (headerOf(headers, 'x-api-key') !== apiKey) return json(401, { error: 'wrong api key' });
    if (path === '/api/v3/checks/')
      return json(200, { checks: world.services.map((service) => check(world, service, now)) });
    const key = /^\/api\/v3\/checks\/([0-9a-f]+)\/flips\/$/.exec(path)?.[1];
    const service = world.services.find((one) => keyOf(one) === key);
    if (service === undefined) return json(404, { error: 'not found' });
    return json(200, { flips: flips(world, service, { now, seconds: Number(query.get('seconds') ?? 0) }) });
  };
}

function check(world: World, service: Service, now: EpochMs): Record<string, unknown> {
  return {
    name: service.name,
    slug: service.key,
    tags: service.isPublic ? 'shop' : 'inside',
    desc: service.description,
    grace: 600,
    n_pings: 12_000 + service.id,
    status: WORDS[world.stateOf(service, now).status],
    started: false,
    last_ping: toIso(toEpochMs(now - 30_000)),
    next_ping: toIso(toEpochMs(now + 30_000)),
    timeout: 60,
    unique_key: keyOf(service),
  };
}

/** Newest first, in an object and with the seconds cut, as the program answers and not as its documentation shows. */
function flips(world: World, service: Service, { now, seconds }: { readonly now: EpochMs; readonly seconds: number }) {
  const from = now - Math.min(seconds * 1_000, 365 * DAY_MS);
  return world
    .incidentsAt(now, service)
    .flatMap(({ startedAt, endedAt }) =>
      [...(endedAt === null ? [] : [{ timestamp: cut(endedAt), up: 1 }]), { timestamp: cut(startedAt), up: 0 }].filter(
        ({ timestamp }) => Date.parse(timestamp) >= from,
      ),
    );
}

function cut(at: EpochMs): string {
  return toIso(at).replace(/\.\d+Z$/, '+00:00');
}
