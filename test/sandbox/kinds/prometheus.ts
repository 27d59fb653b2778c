/** A Prometheus and its Alertmanager over the sandbox's world: `service_up{service="…"}`, and an alert for each that is down. */

import { DAY_MS, type EpochMs, SECOND_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { Service, ServiceStatus } from '../../../src/sandbox/services.ts';
import { prometheus } from '../../../src/sync/connectors/prometheus/connector.ts';
import { json, type Reply, type Upstream } from '../exchange.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

const NAME = 'prometheus';
const SERVICES = ['website', 'api', 'database', 'search'] as const;
/** Up, with half of what it should do, down; what is not measured gives no series. */
const VALUES: Readonly<Record<ServiceStatus, string | null>> = {
  up: '1',
  degraded: '0.5',
  down: '0',
  pending: 'NaN',
  paused: null,
};
/** As far back as it keeps samples. */
const RETENTION_MS = 15 * 86_400_000;

export const prometheusSandbox: SandboxKind = {
  connector: prometheus,
  upstreams: [
    {
      name: NAME,
      ids: ['metrics'],
      entry: (url) => ({
        ...prometheus.example,
        url,
        alertmanager: `${url}/alertmanager`,
        monitors: SERVICES.map((key) => ({
          id: key,
          name: key,
          query: `service_up{service="${key}"}`,
          degraded: '<1',
          alerts: [`ServiceDown{service="${key}"}`],
        })),
      }),
    },
  ],
  variables: () => ({}),
  start: ({ world }) => ({ [NAME]: createPrometheus(world) }),
};

function createPrometheus(world: World): Upstream {
  return ({ method, path, query, now }) => {
    if (method !== 'GET') return json(405, { status: 'error', errorType: 'bad_method', error: 'only GET here' });
    if (path === '/alertmanager/api/v2/status')
      return json(200, { uptime: toIso(toEpochMs(world.startedAt - DAY_MS)) });
    if (path === '/alertmanager/api/v2/alerts') return json(200, alerts(world, now));
    const service = serviceOf(world, query.get('query') ?? '');
    if (service === null) return refused('parse error: unknown metric');
    if (path === '/api/v1/query') return vector(world, service, now);
    if (path === '/api/v1/query_range') return matrix(world, service, { query, now });
    return json(404, { status: 'error', errorType: 'not_found', error: 'no such endpoint' });
  };
}

const refused = (error: string): Reply => json(400, { status: 'error', errorType: 'bad_data', error });
const answer = (resultType: string, result: unknown): Reply =>
  json(200, { status: 'success', data: { resultType, result } });
const labels = ({ key }: Service) => ({ __name__: 'service_up', service: key, job: 'world' });

function serviceOf(world: World, query: string): Service | null {
  const key = /^service_up\{service="([a-z-]+)"\}$/.exec(query)?.[1];
  return world.services.find((service) => service.key === key) ?? null;
}

function vector(world: World, service: Service, now: EpochMs): Reply {
  const value = VALUES[world.stateOf(service, now).status];
  return answer('vector', value === null ? [] : [{ metric: labels(service), value: [now / SECOND_MS, value] }]);
}

function matrix(
  world: World,
  service: Service,
  { query, now }: { readonly query: URLSearchParams; readonly now: EpochMs },
): Reply {
  const [start = 0, end = 0, step = 0] = ['start', 'end', 'step'].map((name) => Number(query.get(name)));
  if (!(step > 0) || end < start) return refused('invalid parameter "step"');
  if ((end - start) / step > 11_000) return refused('exceeded maximum resolution of 11,000 points per timeseries');
  const values: [number, string][] = [];
  for (let at = start; at <= end; at += step) {
    if (at * SECOND_MS < now - RETENTION_MS) continue;
    const value = VALUES[world.stateOf(service, toEpochMs(at * SECOND_MS)).status];
    if (value !== null) values.push([at, value]);
  }
  return answer('matrix', values.length === 0 ? [] : [{ metric: labels(service), values }]);
}

function alerts(world: World, now: EpochMs): unknown[] {
  return world
    .incidentsAt(now)
    .filter(({ endedAt }) => endedAt === null)
    .map(({ service, startedAt, title }) => ({
      annotations: { summary: title, description: `${service.name} gives no answer.` },
      endsAt: toIso(toEpochMs(now + 240_000)),
      fingerprint: `f${service.id}`,
      receivers: [{ name: 'team' }],
      startsAt: toIso(startedAt),
      status: { inhibitedBy: [], silencedBy: [], state: 'active' },
      updatedAt: toIso(now),
      generatorURL: 'http://prometheus.acme.example/graph',
      labels: { alertname: 'ServiceDown', service: service.key, severity: 'critical' },
    }));
}
