/** Every secret of the sandbox. They open nothing but the sandbox, and are the same for the same seed. */

import { noiseHex, noiseUuid } from './noise.ts';
import type { UptimeKey } from './upstreams/uptime-keys.ts';

export interface Credentials {
  readonly serverMonitor: { readonly apiKey: string; readonly forbiddenKey: string };
  /** The same keys on the neutral and on the real wire. */
  readonly uptime: { readonly read: UptimeKey; readonly write: UptimeKey; readonly expired: UptimeKey };
  readonly backup: {
    readonly email: string;
    readonly password: string;
    /** `acme` is owned, `initech` may only be looked at, `globex` belongs to somebody else. */
    readonly tenants: { readonly acme: string; readonly initech: string; readonly globex: string };
  };
  /** Of the `Authorization` header, after `Bearer `. */
  readonly journeysToken: string;
  readonly payrollToken: string;
  readonly terraformToken: string;
  /** Of the page `partners`. */
  readonly pagePassword: string;
  readonly operatorToken: string;
}

export function createCredentials(seed: number): Credentials {
  const secret = (name: string): string => `sandbox-${name}-${noiseHex(16, seed, 'secret', name)}`;
  const key = (id: string, name: string, scope: 'read' | 'write'): UptimeKey => ({
    id,
    token: secret(name),
    scope,
    isExpired: name === 'expired',
  });
  return {
    serverMonitor: { apiKey: secret('edge'), forbiddenKey: secret('forbidden') },
    uptime: { write: key('1', 'write', 'write'), read: key('2', 'read', 'read'), expired: key('3', 'expired', 'read') },
    backup: {
      email: 'pharos@acme.example',
      password: secret('backup'),
      tenants: {
        acme: noiseUuid(seed, 'tenant', 'acme'),
        initech: noiseUuid(seed, 'tenant', 'initech'),
        globex: noiseUuid(seed, 'tenant', 'globex'),
      },
    },
    journeysToken: secret('journeys'),
    payrollToken: secret('payroll'),
    terraformToken: secret('terraform'),
    pagePassword: `partners-${noiseHex(6, seed, 'page password')}`,
    operatorToken: secret('operator'),
  };
}
