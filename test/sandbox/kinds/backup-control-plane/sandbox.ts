/** The backup control plane of the sandbox. */

import { backupControlPlane } from '../../../../src/sync/connectors/backup-control-plane/connector.ts';
import type { SandboxContext, SandboxKind } from '../../kind.ts';
import { noiseUuid } from '../../noise-uuid.ts';
import { createApi } from './api.ts';
import type { BackupCredentials } from './records.ts';

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
