/** The world in the monitor records of the uptime service, in the words of the document's resource tables. */

import type { EpochMs } from '../../model/time.ts';
import type { Service, ServiceState, ServiceStatus, World } from '../world.ts';

export interface UptimeMonitor {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly periodicity: '30s' | '1m' | '5m';
  /** Milliseconds. */
  readonly timeout: number;
  /** Milliseconds. */
  readonly degradedAt: number;
  readonly retry: number;
  readonly active: boolean;
  readonly public: boolean;
  readonly regions: readonly string[];
  readonly status: 'active' | 'degraded' | 'error' | 'unknown';
}

/** A paused monitor keeps its last status; `active: false` is what tells. */
const WORDS: Readonly<Record<ServiceStatus, UptimeMonitor['status']>> = {
  up: 'active',
  degraded: 'degraded',
  down: 'error',
  pending: 'unknown',
  paused: 'active',
};

/** What all three kinds of monitor have. */
export function uptimeMonitor({ service, status }: ServiceState): UptimeMonitor {
  return {
    id: String(service.id),
    name: service.name,
    description: service.description,
    periodicity: '1m',
    timeout: 45_000,
    degradedAt: service.responseTimeMs * 2,
    retry: 3,
    active: status !== 'paused',
    public: service.isPublic,
    regions: service.id % 2 === 0 ? ['fly-fra', 'fly-iad'] : ['fly-ams', 'koyeb-par'],
    status: WORDS[status],
  };
}

/** The body of the notification webhook for one monitor, flat and unsigned as documented. */
export function webhookBody(world: World, service: Service, now: EpochMs): Record<string, unknown> {
  const { status } = world.stateOf(service, now);
  const latency = world.responseTimeAt(service, now);
  const isDown = status === 'down';
  return {
    monitor: { id: service.id, name: service.name, url: service.target },
    cronTimestamp: now,
    status: isDown ? 'error' : status === 'degraded' ? 'degraded' : 'recovered',
    ...(service.kind === 'http' ? { statusCode: isDown ? 503 : 200 } : {}),
    ...(latency === null ? {} : { latency }),
    ...(isDown ? { errorMessage: `${service.name} did not answer` } : {}),
  };
}
