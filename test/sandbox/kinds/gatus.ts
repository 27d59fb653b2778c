/** A Gatus over the sandbox's world: one result a minute. */

import { DAY_MS, type EpochMs, MINUTE_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { Service } from '../../../src/sandbox/services.ts';
import { gatus } from '../../../src/sync/connectors/gatus/connector.ts';
import { json, type Upstream } from '../exchange.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

const NAME = 'gatus';
/** More than it keeps are never given. */
const RESULTS_MAX = 100;

export const gatusSandbox: SandboxKind = {
  connector: gatus,
  upstreams: [{ name: NAME, ids: ['gatus'], entry: (url) => ({ ...gatus.example, url }) }],
  variables: () => ({}),
  start: ({ world }) => ({ [NAME]: createGatus(world) }),
};

function createGatus(world: World): Upstream {
  return ({ method, path, query, now }) => {
    if (path !== '/api/v1/endpoints/statuses') return json(404, { error: 'Not found' });
    if (method !== 'GET') return json(405, { error: 'Method not allowed' });
    const count = Math.min(RESULTS_MAX, Math.max(1, Number(query.get('pageSize') ?? 20)));
    return json(
      200,
      world.services.map((service) => endpoint(world, service, { now, count })),
    );
  };
}

function endpoint(world: World, service: Service, { now, count }: { readonly now: EpochMs; readonly count: number }) {
  const group = service.isPublic ? 'shop' : 'inside';
  return {
    name: service.name,
    group,
    key: `${group}_${service.key}`,
    results: resultsOf(world, service, { now, count }),
  };
}

/** Oldest first; one that is paused has none of today. */
function resultsOf(world: World, service: Service, { now, count }: { readonly now: EpochMs; readonly count: number }) {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: count }, (_, index) => {
    const at = toEpochMs(last - (count - 1 - index) * MINUTE_MS);
    const { status } = world.stateOf(service, at);
    const success = status !== 'down';
    return {
      status: success ? 200 : 503,
      hostname: service.host,
      duration: (world.responseTimeAt(service, at) ?? 5_000) * 1e6,
      conditionResults: [{ condition: '[STATUS] == 200', success }],
      success,
      timestamp: toIso(status === 'paused' ? toEpochMs(at - DAY_MS) : at),
    };
  });
}
