import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  emailPage,
  PAGES,
  PASSWORD,
  passwordPage,
  type Site,
  type SiteFolder,
  siteFolder,
  tokenIn,
  until,
  Visitor,
} from './access-fixture.ts';

/** Two nodes over one store, of which one reads its configuration later than the other. */
describe('gates of two nodes', () => {
  let folder: SiteFolder;
  let ahead: Site;
  let behind: Site;

  beforeEach(async () => {
    folder = siteFolder();
    ahead = await folder.open();
    behind = await folder.open();
    await ahead.access.setPages(PAGES);
    // It has no gated pages yet, and forgets the gates of the other.
    await behind.access.setPages([PAGES[0] ?? passwordPage('open')]);
  });
  afterEach(async () => {
    await ahead.close();
    await behind.close();
    folder.remove();
  });

  it('open to the password although the other node forgot the gate', async () => {
    const visitor = new Visitor(ahead);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    expect(await visitor.sees('vault')).toBe(true);
  });

  it('open to who signed in on the other node, once that has the gate too', async () => {
    await behind.access.setPages(PAGES);
    const there = new Visitor(behind);
    await there.post('vault', 'login/', { password: PASSWORD });
    expect(await there.sees('vault')).toBe(true);
    const here = new Visitor(ahead);
    for (const [name, value] of there.cookies) here.cookies.set(name, value);
    expect(await here.sees('vault')).toBe(true);
  });

  it('mail a link that opens although the other node forgot the gate', async () => {
    const visitor = new Visitor(ahead);
    await visitor.post('team', 'login/', { email: 'a@corp.example' });
    await until(() => ahead.mails.length === 1);
    await visitor.post('team', 'login/link/', { token: tokenIn(ahead.mails[0]) });
    expect(await visitor.sees('team')).toBe(true);
  });

  it('stay closed to sessions of another password and of other domains', async () => {
    await behind.access.setPages([passwordPage('vault', 'another'), emailPage('team', ['other.example'])]);
    const there = new Visitor(behind);
    await there.post('vault', 'login/', { password: 'another' });
    await there.post('team', 'login/', { email: 'a@other.example' });
    await until(() => behind.mails.length === 1);
    await there.post('team', 'login/link/', { token: tokenIn(behind.mails[0]) });
    expect([await there.sees('vault'), await there.sees('team')]).toEqual([true, true]);
    const here = new Visitor(ahead);
    for (const [name, value] of there.cookies) here.cookies.set(name, value);
    expect([await here.sees('vault'), await here.sees('team')]).toEqual([false, false]);
    // Asked again, it is remembered that they are others.
    expect([await here.sees('vault'), await here.sees('team')]).toEqual([false, false]);
    await ahead.access.setPages([passwordPage('vault', 'another'), emailPage('team', ['other.example'])]);
    expect([await here.sees('vault'), await here.sees('team')]).toEqual([true, true]);
  });
});
