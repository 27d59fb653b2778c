/** The backup control plane of the sandbox. */

import type { SandboxContext, SandboxKind } from '../../../sandbox/kind.ts';
import { noiseUuid } from '../../../sandbox/world/noise.ts';
import { backupControlPlane } from './connector.ts';
import { createApi } from './sandbox/api.ts';
import type { BackupCredentials } from './sandbox/records.ts';

export function backupCredentials({ world, secret }: Pick<SandboxContext, 'world' | 'secret'>): BackupCredentials {
  const tenant = (name: string): string => noiseUuid(world.seed, 'tenant', name);
  return {
    email: 'pharos@acme.example',
    password: secret('backup'),
    tenants: { acme: tenant('acme'), initech: tenant('initech'), globex: tenant('globex') },
  };
}

export const backupControlPlaneSandbox: SandboxKind = {
  connector: backupControlPlane,
  upstreams: [
    {
      name: 'backup',
      ids: ['backups'],
      entry: (url) => ({
        ...backupControlPlane.example,
        baseUrl: `${url}/api`,
        email: 'pharos@acme.example',
        tenants: ['acme'],
      }),
      isUsual: true,
    },
  ],
  variables: (context) => ({ BACKUP_PASSWORD: backupCredentials(context).password }),
  start: (context) => ({ backup: createApi({ world: context.world, credentials: backupCredentials(context) }) }),
};
