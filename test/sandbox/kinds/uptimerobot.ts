/** An UptimeRobot over the sandbox's world. What it refuses it refuses with status 200. */

import { type EpochMs, SECOND_MS } from '../../../src/model/time.ts';
import type { Service, ServiceStatus } from '../../../src/sandbox/services.ts';
import { uptimerobot } from '../../../src/sync/connectors/uptimerobot/connector.ts';
import { json, objectOf, type Upstream } from '../exchange.ts';
import { shifted } from '../faults.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

const NAME = 'uptimerobot';
const PER_PAGE_MAX = 50;

export const uptimerobotSandbox: SandboxKind = {
  connector: uptimerobot,
  upstreams: [{ name: NAME, ids: ['robot'], entry: (url) => ({ ...uptimerobot.example, url }) }],
  variables: ({ secret }) => ({ UPTIMEROBOT_KEY: secret(NAME) }),
  start: ({ world, secret }) => ({ [NAME]: createRobot(world, secret(NAME)) }),
};

const STATUS: Readonly<Record<ServiceStatus, number>> = { up: 2, degraded: 2, down: 9, pending: 8, paused: 0 };
const TYPES: Readonly<Record<Service['kind'], number>> = { http: 1, tcp: 4, dns: 3 };
const UP = 2;
const DOWN = 1;
const seconds = (at: number): number => Math.floor(at / SECOND_MS);

function createRobot(world: World, apiKey: string): Upstream {
  return ({ method, path, body, now, pagingShift }) => {
    if (path !== '/v2/getMonitors') return json(404, { stat: 'fail', error: { type: 'not_found' } });
    if (method !== 'POST') return json(405, { stat: 'fail', error: { type: 'method_not_allowed' } });
    const asked = objectOf(body) ?? {};
    if (asked['api_key'] !== apiKey)
      return json(200, {
        stat: 'fail',
        error: { type: 'invalid_parameter', parameter_name: 'api_key', message: 'api_key is invalid.' },
      });
    const offset = Number(asked['offset'] ?? 0);
    const limit = Math.min(PER_PAGE_MAX, Number(asked['limit'] ?? PER_PAGE_MAX));
    const services = shifted(world.services, pagingShift);
    const monitors = services.slice(offset, offset + limit).map((service) => ({
      ...monitor(world, service, now),
      ...(asked['logs'] === 1 ? { logs: logs(world, service, now) } : {}),
    }));
    return json(200, { stat: 'ok', pagination: { offset, limit, total: services.length }, monitors });
  };
}

function monitor(world: World, service: Service, now: EpochMs): Record<string, unknown> {
  return {
    id: 777_000_000 + service.id,
    friendly_name: service.name,
    url: service.target,
    type: TYPES[service.kind],
    sub_type: '',
    interval: 300,
    status: STATUS[world.stateOf(service, now).status],
    create_datetime: seconds(service.createdAt),
  };
}

/** Newest first. */
function logs(world: World, service: Service, now: EpochMs): Record<string, unknown>[] {
  const outages = world.incidentsAt(now, service);
  return outages.flatMap(({ startedAt, endedAt }, index) => {
    const down = { type: DOWN, datetime: seconds(startedAt), duration: seconds((endedAt ?? now) - startedAt) };
    if (endedAt === null) return [down];
    const next = outages[index - 1]?.startedAt ?? now;
    return [{ type: UP, datetime: seconds(endedAt), duration: Math.max(0, seconds(next - endedAt)) }, down];
  });
}
