import { describe, expect, it } from 'vitest';
import { type GatedPage, NOBODY } from '../../../src/access/access.ts';
import type { Access } from '../../../src/access/create-access.ts';
import { toPageKey } from '../../../src/model/slugs.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { badgeAddressOf } from '../../../src/server/address.ts';
import { readHead } from '../../../src/server/answer.ts';
import { createBadgeService } from '../../../src/server/visitors/badge-service.ts';
import { pageAnswer, siteAnswer } from '../../../src/server/visitors/page-answer.ts';
import type { OpenRelease } from '../../../src/server/visitors/release-reader.ts';

const PUBLIC: GatedPage = { key: toPageKey('acme', 1), gate: { kind: 'public' } };
const GATED: GatedPage = { key: toPageKey('acme', 1), gate: { kind: 'password', version: 'v1', addresses: null } };

/** A release of one file, as published for `access`. */
function release(access: 'public' | 'password'): OpenRelease {
  const record = { key: '', sha256: 'x'.repeat(64), bytes: 6, contentType: 'text/html', csp: null, variants: [] };
  return {
    slug: 'acme',
    digest: 'd',
    manifest: { slug: 'acme', number: 1, access, files: { 'index.html': record, 'favicon.svg': { ...record } } },
    read: (path: string) => Buffer.from(path === 'favicon.svg' ? 'ICON' : 'CANARY'),
    data: () => ({ onDemand: { staleAfter: Number.POSITIVE_INFINITY } }),
  } as unknown as OpenRelease;
}

interface World {
  page: GatedPage | null;
  released: 'public' | 'password';
  ensure?: () => Promise<void>;
}

async function ask(world: World, path = 'index.html') {
  const access = {
    pageOf: () => world.page,
    principalOf: async () => NOBODY,
    knowsPages: () => true,
    allowsBadge: async () => false,
    denied: async () => ({ status: 404, headers: {}, body: 'Sign in' }),
  } as unknown as Access;
  const answer = await pageAnswer(
    {
      access,
      reader: { open: (slug) => (slug === 'acme' ? release(world.released) : null) },
      badges: createBadgeService(),
      ensure: world.ensure,
      sources: () => [],
      locale: () => 'en',
      now: () => toEpochMs(0),
    },
    {
      address: { kind: 'page', slug: 'acme', path, base: '/acme/', form: null, badge: badgeAddressOf(path) },
      query: new URLSearchParams(),
      head: readHead({ headers: {}, rawHeaders: [] }),
      clientAddress: () => '',
    },
  );
  return [answer.status, String(answer.body)];
}

describe('a file of a page', () => {
  it('is given to everybody while gate and release are public', async () => {
    expect(await ask({ page: PUBLIC, released: 'public' })).toEqual([200, 'CANARY']);
  });

  it('is given to nobody when another process released it behind a gate that this one has not heard of', async () => {
    expect(await ask({ page: PUBLIC, released: 'password' })).toEqual([404, 'Sign in']);
    const [status, badge] = await ask({ page: PUBLIC, released: 'password' }, 'badges/status.svg');
    expect([status, badge]).toEqual([404, expect.not.stringContaining('CANARY')]);
  });

  it('is given to nobody who is not signed in, and of a page that is not there', async () => {
    expect(await ask({ page: GATED, released: 'public' })).toEqual([404, 'Sign in']);
    expect(await ask({ page: null, released: 'public' })).toEqual([404, 'Sign in']);
  });

  it('is given to nobody if the page closed while its files were fetched', async () => {
    const world: World = { page: PUBLIC, released: 'public' };
    world.ensure = async () => {
      world.page = GATED;
    };
    expect(await ask(world)).toEqual([404, 'Sign in']);
  });
});

describe('the icon that browsers ask for by themselves', () => {
  const site = (path: string) =>
    siteAnswer(
      {
        access: {} as Access,
        reader: { open: () => release('public') },
        badges: createBadgeService(),
        sources: () => [],
        locale: () => 'en',
        now: () => toEpochMs(0),
      },
      { kind: 'site', path },
      readHead({ headers: {}, rawHeaders: [] }),
    );

  it('is none of the site, without a fault', async () => {
    expect(await site('favicon.ico')).toMatchObject({ status: 204, body: null });
    expect(await site('nothing.ico')).toMatchObject({ status: 404 });
  });

  it('is that of a page, and not of one that is gated', async () => {
    expect(await ask({ page: PUBLIC, released: 'public' }, 'favicon.ico')).toEqual([200, 'ICON']);
    expect(await ask({ page: GATED, released: 'public' }, 'favicon.ico')).toEqual([404, 'Sign in']);
  });
});
