import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBadgeTokens } from '../../src/access/gate/badge-tokens.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { toEpochMs } from '../../src/model/time.ts';
import {
  PAGES,
  page,
  passwordPage,
  type Site,
  type SiteFolder,
  siteFolder,
  storeCheapHash,
  T0,
} from './access-fixture.ts';

const VAULT = toPageKey('vault', 1);
const TEAM = toPageKey('team', 1);

describe('a badge token', () => {
  let folder: SiteFolder;
  let site: Site;

  beforeEach(async () => {
    folder = siteFolder();
    site = await folder.open();
    await storeCheapHash(site.database);
    await site.access.setPages(PAGES);
  });
  afterEach(async () => {
    await site.close();
    folder.remove();
  });

  it('opens the badges of its page, of no other, and never the page', async () => {
    const tokens = createBadgeTokens(site.database);
    const { token } = await tokens.create(VAULT, T0);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(await site.access.allowsBadge('vault', token)).toBe(true);
    expect(await site.access.allowsBadge('team', token)).toBe(false);
    for (const other of ['', token.slice(1), `${token}x`, token.toLowerCase(), "' OR 1=1 --"])
      expect(await site.access.allowsBadge('vault', other), other).toBe(false);
    expect(
      (await site.access.principalOf({ slug: 'vault', cookie: `pharos=${token}`, clientAddress: '', now: T0 })).sessions
        .size,
    ).toBe(0);
  });

  it('opens the badges of a page behind an identity provider or addresses, from anywhere', async () => {
    const oidc = { emails: [], domains: [], groups: ['sre'] };
    const addresses = { ranges: ['192.0.2.0/24'], isEnough: false };
    const pages = [page('staff', { access: 'oidc', oidc }), page('office', { access: 'ip', addresses })];
    await site.access.setPages(pages);
    const tokens = createBadgeTokens(site.database);
    const [staff, office] = [
      await tokens.create(toPageKey('staff', 1), T0),
      await tokens.create(toPageKey('office', 1), T0),
    ];
    expect(await site.access.allowsBadge('staff', staff.token)).toBe(true);
    expect(await site.access.allowsBadge('office', office.token)).toBe(true);
    expect(await site.access.allowsBadge('office', staff.token)).toBe(false);
    await site.access.setPages([
      page('staff', { access: 'oidc', oidc: { ...oidc, groups: ['ops'] } }),
      page('office', { access: 'ip', addresses: { ...addresses, ranges: ['198.51.100.0/24'] } }),
    ]);
    expect(await site.access.allowsBadge('staff', staff.token)).toBe(false);
    expect(await site.access.allowsBadge('office', office.token)).toBe(false);
  });

  it('is listed by its id, without what opens anything, and works until it is revoked', async () => {
    const tokens = createBadgeTokens(site.database);
    const first = await tokens.create(VAULT, T0);
    const second = await tokens.create(VAULT, toEpochMs(T0 + 1));
    const other = await tokens.create(TEAM, T0);
    const listed = await tokens.list(VAULT);
    expect(listed).toEqual([
      { id: first.id, page: VAULT, createdAt: T0 },
      { id: second.id, page: VAULT, createdAt: T0 + 1 },
    ]);
    expect(await tokens.list()).toHaveLength(3);
    expect(JSON.stringify(await site.database.all('SELECT * FROM access_badge_token'))).not.toContain(first.token);
    expect(await tokens.revoke(TEAM, first.id)).toBe(0);
    expect(await tokens.revoke(VAULT, first.id)).toBe(1);
    expect(await site.access.allowsBadge('vault', first.token)).toBe(false);
    expect(await site.access.allowsBadge('vault', second.token)).toBe(true);
    expect(await tokens.revoke(VAULT, second.token)).toBe(1);
    expect(await site.access.allowsBadge('vault', second.token)).toBe(false);
    await tokens.create(VAULT, T0);
    expect(await tokens.revoke(VAULT)).toBe(1);
    expect(await site.access.allowsBadge('team', other.token)).toBe(true);
  });

  it('ends with the password, the domains or the gate it was made for', async () => {
    const tokens = createBadgeTokens(site.database);
    const before = await tokens.create(VAULT, T0);
    await site.access.setPages(PAGES);
    expect(await site.access.allowsBadge('vault', before.token)).toBe(true);
    await site.access.setPages(
      PAGES.map((page) => (page.slug === 'vault' ? passwordPage('vault', 'another password') : page)),
    );
    expect(await site.access.allowsBadge('vault', before.token)).toBe(false);
    const after = await tokens.create(VAULT, T0);
    await site.access.setPages(PAGES.filter(({ slug }) => slug !== 'vault'));
    await site.access.setPages(PAGES);
    expect(await site.access.allowsBadge('vault', after.token)).toBe(false);
  });

  it('that was made before the gate was ever recorded waits for it', async () => {
    await site.access.setPages([]);
    const { token } = await createBadgeTokens(site.database).create(VAULT, T0);
    await site.access.setPages(PAGES);
    expect(await site.access.allowsBadge('vault', token)).toBe(true);
  });
});
