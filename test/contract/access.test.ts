import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PAGES, PASSWORD, type Site, type SiteFolder, siteFolder, tokenIn, until, Visitor } from './access-fixture.ts';

describe('the gates', () => {
  let folder: SiteFolder;
  let site: Site;

  beforeEach(async () => {
    folder = siteFolder();
    site = await folder.open();
    await site.access.setPages(PAGES);
  });
  afterEach(async () => {
    await site.close();
    folder.remove();
  });

  it('open to the right password, to nobody before it, and close again by signing out', async () => {
    const visitor = new Visitor(site);
    expect(await visitor.sees('vault')).toBe(false);
    const wrong = await visitor.post('vault', 'login/', { password: 'wrong' });
    expect(wrong.status).toBe(403);
    const right = await visitor.post('vault', 'login/', { password: PASSWORD, to: 'history/2026-05/' });
    expect(right).toMatchObject({ status: 303, headers: { location: '/vault/history/2026-05/' } });
    expect(await visitor.sees('vault')).toBe(true);
    expect(await visitor.sees('team')).toBe(false);
    const old = new Map(visitor.cookies);
    await visitor.post('vault', 'logout', {});
    expect(await visitor.sees('vault')).toBe(false);
    for (const [name, value] of old) visitor.cookies.set(name, value);
    expect(await visitor.sees('vault')).toBe(false);
  });

  it('open by a mailed link', async () => {
    const visitor = new Visitor(site);
    const asked = await visitor.post('team', 'login/', { email: 'a@corp.example' });
    expect(asked.status).toBe(303);
    await until(() => site.mails.length === 1);
    const token = tokenIn(site.mails[0]);
    expect(await visitor.post('team', 'login/link/', { token })).toMatchObject({ status: 303 });
    expect(await visitor.sees('team')).toBe(true);
    expect(site.errors).toEqual([]);
  });
});
