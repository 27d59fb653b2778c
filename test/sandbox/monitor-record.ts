/** The world in the monitor records of the uptime service's document, which its infrastructure files share. */

import type { ServiceStatus } from '../../src/sandbox/services.ts';
import type { ServiceState } from '../../src/sandbox/world.ts';

interface UptimeMonitor {
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
