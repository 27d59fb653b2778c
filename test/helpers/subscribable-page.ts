/** A public page that may be subscribed to, whatever its slug. */

import { toPageKey } from '../../src/model/slugs.ts';
import type { SubscribablePage } from '../../src/notify/subscribers.ts';

export function subscribablePage(slug: string): SubscribablePage {
  const key = toPageKey(slug, 1);
  return {
    identity: { key, gate: 1 },
    page: {
      key,
      slug,
      title: 'Acme',
      locale: 'en',
      url: 'https://status.example/acme/',
      access: 'public',
      password: null,
      emailDomains: [],
    },
    gated: { key, gate: { kind: 'public' } },
    timezone: 'UTC',
  };
}
