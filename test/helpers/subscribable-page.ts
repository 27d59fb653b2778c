/** A public page that may be subscribed to, whatever its slug. */

import type { SubscribablePage } from '../../src/notify/subscribers.ts';

export function subscribablePage(slug: string): SubscribablePage & { readonly timezone: string } {
  return {
    page: {
      slug,
      title: 'Acme',
      locale: 'en',
      url: 'https://status.example/acme/',
      access: 'public',
      password: null,
      emailDomains: [],
    },
    gated: { slug, gate: { kind: 'public' } },
    timezone: 'UTC',
  };
}
