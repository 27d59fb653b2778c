/** The uptime service of the sandbox, on both wires: as the document has it, and as it was recorded. */

import { uptimeService } from '../../../../src/sync/connectors/uptime-service/connector.ts';
import type { SandboxContext, SandboxKind } from '../../kind.ts';
import { createUptime } from './document.ts';
import { createKeyRing, type UptimeKey } from './keys.ts';
import { createOpenstatus } from './openstatus/openstatus.ts';

/** Services 1, 2, 5 and 7 have maintenances, of which only this service tells. */
const SERVICE_IDS = [1, 2, 5, 6, 7];

/** The same keys on both wires. */
export function uptimeKeys({ secret }: Pick<SandboxContext, 'secret'>): {
  readonly read: UptimeKey;
  readonly write: UptimeKey;
  readonly expired: UptimeKey;
} {
  return {
    write: { id: '1', token: secret('write'), scope: 'write', isExpired: false },
    read: { id: '2', token: secret('read'), scope: 'read', isExpired: false },
    expired: { id: '3', token: secret('expired'), scope: 'read', isExpired: true },
  };
}

function entry(url: string): Readonly<Record<string, unknown>> {
  return { ...uptimeService.example, preset: 'document', rpcUrl: `${url}/rpc`, restUrl: `${url}/v1` };
}

export const uptimeServiceSandbox: SandboxKind = {
  connector: uptimeService,
  upstreams: [
    { name: 'uptime', ids: ['svc'], entry, serviceIds: SERVICE_IDS },
    {
      name: 'openstatus',
      ids: ['svc', 'real'],
      entry: (url) => ({ ...entry(url), preset: 'openstatus' }),
      // The wire that tells of reports, maintenances and days before the first pass.
      isUsual: true,
      definesPages: true,
      serviceIds: SERVICE_IDS,
    },
  ],
  variables: (context) => ({ SVC_KEY: uptimeKeys(context).read.token }),
  start: (context) => {
    const { world, pagePassword } = context;
    const { write, read, expired } = uptimeKeys(context);
    const keys = createKeyRing([write, read, expired]);
    return { uptime: createUptime({ world, keys }), openstatus: createOpenstatus({ world, keys, pagePassword }) };
  },
};
