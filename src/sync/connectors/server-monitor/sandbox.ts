/** The server monitor of the sandbox. */

import type { SandboxContext, SandboxKind } from '../../../sandbox/kind.ts';
import { serverMonitor } from './connector.ts';
import { createApi, type ServerMonitorSettings } from './sandbox/api.ts';
import { DOCUMENTED_LIMITS, limitsFor } from './sandbox/request-limits.ts';

const SETTINGS: Omit<ServerMonitorSettings, 'limits'> = { offsetMinutes: 120, hasFutureEndpoints: false };

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
      'server-monitor': createApi({
        world: context.world,
        limits: limitsFor(context.world.services.length),
        ...serverMonitorKeys(context),
        ...SETTINGS,
        ...settings,
      }),
    }),
  };
}
