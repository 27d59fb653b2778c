/** API keys of the uptime service, their scopes and the life of a key. */

export interface UptimeKey {
  readonly id: string;
  readonly token: string;
  readonly scope: 'read' | 'write';
  readonly isExpired: boolean;
}

export type KeyCheck =
  | { readonly kind: 'valid'; readonly key: UptimeKey }
  | { readonly kind: 'missing' | 'invalid' | 'expired' };

export interface KeyRing {
  check(token: string | null): KeyCheck;
  /** Whether there was such a key. */
  revoke(id: string): boolean;
}

export function createKeyRing(keys: readonly UptimeKey[]): KeyRing {
  const revoked = new Set<string>();
  const valid = (): readonly UptimeKey[] => keys.filter(({ id }) => !revoked.has(id));
  return {
    check(token) {
      if (token === null) return { kind: 'missing' };
      const key = valid().find((one) => one.token === token);
      if (key === undefined) return { kind: 'invalid' };
      return key.isExpired ? { kind: 'expired' } : { kind: 'valid', key };
    },
    revoke(id) {
      const isKnown = valid().some((key) => key.id === id);
      revoked.add(id);
      return isKnown;
    },
  };
}

/** What a refused caller reads. */
export function keyRefusal(kind: Exclude<KeyCheck['kind'], 'valid'>, header: string): string {
  return {
    missing: `Missing '${header}' header`,
    invalid: 'Invalid API Key',
    expired: 'API Key expired',
  }[kind];
}

/** The answer of `GET /v1/whoami`. */
export function whoami(key: UptimeKey): Record<string, unknown> {
  const actor = { type: 'apiKey', keyId: key.id, scopes: [key.scope] };
  return { name: 'Acme Ops', slug: 'acme-ops', plan: 'scale', actor };
}
