/** The server monitor of the sandbox. */

import type { SandboxContext, SandboxKind } from '../../../sandbox/kind.ts';
import { serverMonitor } from './connector.ts';
import { createApi, type ServerMonitorSettings } from './sandbox/api.ts';
import { DOCUMENTED_LIMITS } from './sandbox/request-limits.ts';

const SETTINGS: ServerMonitorSettings = { limits: DOCUMENTED_LIMITS, offsetMinutes: 120, hasFutureEndpoints: false };

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
        entry: (url) => ({ ...serverMonitor.example, baseUrl: url, auth: 'x-api-key' }),
        isUsual: true,
        // The others are shown as the uptime service sees them: it has a word for slow, and knows of maintenances.
        serviceIds: [3, 4, 8, 9],
      },
    ],
    variables: (context) => ({ EDGE_KEY: serverMonitorKeys(context).apiKey }),
    start: (context) => ({
      'server-monitor': createApi({ world: context.world, ...serverMonitorKeys(context), ...SETTINGS, ...settings }),
    }),
  };
}
