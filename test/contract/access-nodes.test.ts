import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canView } from '../../src/access/access.ts';
import { createBadgeTokens } from '../../src/access/gate/badge-tokens.ts';
import { StatusError } from '../../src/errors.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { type PageClaim, settlePages } from '../../src/store/pages.ts';
import {
  emailPage,
  PAGES,
  PASSWORD,
  page,
  passwordPage,
  type Site,
  type SiteFolder,
  siteFolder,
  storeCheapHash,
  T0,
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
    await storeCheapHash(ahead.database);
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

  it('keep what they have for a page that the other doesn’t define, and end it when all know that it is gone', async () => {
    const { database } = ahead;
    const kept = async () =>
      (await database.all('SELECT page FROM access_gate UNION ALL SELECT page FROM access_grant')).map(
        ({ page }) => page,
      );
    const own = { slug: 'vault', origin: 'config/vault', access: 'password' } as const;
    const claims = (pages: PageClaim[]) => ({ pages, held: new Set<string>(), isComplete: true });
    await settlePages(database, claims([own]), { mine: null, now: T0 });
    await ahead.access.setPages(PAGES);
    const visitor = new Visitor(ahead);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    const { token } = await createBadgeTokens(database).create(toPageKey('vault', 1), T0);
    const others = PAGES.filter(({ slug }) => slug !== 'vault');
    for (const pages of [others, [...others, page('vault')]]) await behind.access.setPages(pages);
    expect([await visitor.sees('vault'), await ahead.access.allowsBadge('vault', token)]).toEqual([true, true]);
    expect(await kept()).toContain('vault~1');
    // It was removed, and no node took it back.
    await settlePages(database, claims([]), { mine: null, now: T0 });
    await behind.access.setPages(others);
    behind.now = toEpochMs(T0 + 60_000);
    await behind.access.tend();
    expect(await kept()).toContain('vault~1');
    behind.now = toEpochMs(T0 + 60_001);
    await behind.access.tend();
    expect(await kept()).not.toContain('vault~1');
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

  it('sign nobody in without effect when the other has another password, and say why', async () => {
    await behind.access.setPages([passwordPage('vault', 'another')]);
    const visitor = new Visitor(ahead);
    const answer = await visitor.post('vault', 'login/', { password: 'another' });
    expect([answer.status, answer.body]).toEqual([503, expect.stringContaining('Sign-in is temporarily unavailable.')]);
    expect((await visitor.post('vault', 'login/', { password: PASSWORD })).status).toBe(403);
    expect(ahead.errors.map(String)).toEqual([
      'Error: Nobody can sign in to vault: its password or email domains differ from those in the database, which another node wrote. Give all nodes the same configuration.',
    ]);
  });

  it('let visitors sign in while a node that was started again still compares its gates with the stored ones', async () => {
    await behind.access.setPages(PAGES);
    const again = await folder.open();
    const settled = again.access.setPages(PAGES);
    const visitor = new Visitor(again);
    const answer = await visitor.post('vault', 'login/', { password: PASSWORD });
    await settled;
    expect([answer.status, await visitor.sees('vault'), again.errors]).toEqual([303, true, []]);
    await again.close();
  });

  it('end a session at once where its visitor signs out, and on the other node within a quarter of a second', async () => {
    await behind.access.setPages(PAGES);
    const visitor = new Visitor(ahead);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    const kept = [...visitor.cookies];
    const there = new Visitor(behind);
    for (const [name, value] of kept) there.cookies.set(name, value);
    expect([await visitor.sees('vault'), await there.sees('vault')]).toEqual([true, true]);
    await visitor.post('vault', 'logout', {});
    for (const [name, value] of kept) visitor.cookies.set(name, value);
    expect(await visitor.sees('vault')).toBe(false);
    behind.now = toEpochMs(behind.now + 250);
    expect(await there.sees('vault')).toBe(false);
  });
});

describe('a session that was looked up a moment ago', () => {
  it('is not looked up again, and opens nothing that it no longer should', async () => {
    const folder = siteFolder();
    let reads = 0;
    const site = await folder.open({}, undefined, (database) => ({
      ...database,
      all: (sql, params) => {
        reads += Number(sql.includes('access_session'));
        return database.all(sql, params);
      },
    }));
    await storeCheapHash(site.database);
    await site.access.setPages(PAGES);
    const visitor = new Visitor(site);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    await visitor.sees('vault');
    reads = 0;
    const request = { slug: 'vault', cookie: visitor.cookie, clientAddress: '192.0.2.1', now: site.now };
    expect(site.access.principalOf(request)).not.toBeInstanceOf(Promise);
    expect([await visitor.sees('vault'), await visitor.sees('open'), await visitor.sees('team')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(reads).toBe(0);
    // A session of the other name of the cookie is another session.
    const secure = { ...request, cookie: `__Host-${visitor.cookie}` };
    expect(canView(await site.access.principalOf(secure), site.access.pageOf('vault'))).toBe(false);
    await site.access.setPages([passwordPage('vault', 'another')]);
    expect(await visitor.sees('vault')).toBe(false);
    await site.close();
    folder.remove();
  });
});

describe('a page whose database doesn’t answer', () => {
  it('is kept from strangers, and open to who was seen before, within two seconds, and then at once', async () => {
    const folder = siteFolder();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    let isCut = false;
    const site = await folder.open({}, undefined, (database) => ({
      ...database,
      all: (...query) => (isCut ? ended.promise : database.all(...query)),
    }));
    await site.access.setPages(PAGES);
    const visitor = new Visitor(site);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    const cookies = [...visitor.cookies];
    expect(await visitor.sees('vault')).toBe(true);
    const stranger = new Visitor(site);
    for (const [name, value] of cookies)
      stranger.cookies.set(
        name,
        value.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')),
      );
    isCut = true;
    site.now = toEpochMs(site.now + 1_000);
    for (const withinMs of [4_000, 400, 400]) {
      const begun = performance.now();
      expect([await visitor.sees('vault'), await stranger.sees('vault')]).toEqual([true, false]);
      expect(performance.now() - begun).toBeLessThan(withinMs);
    }
    isCut = false;
    ended.reject(new StatusError({ code: 'STORE_UNAVAILABLE', message: 'cut off' }));
    await ended.promise.catch(() => undefined);
    const again = new Visitor(site);
    expect((await again.post('vault', 'login/', { password: PASSWORD })).status).toBe(303);
    await site.close();
    folder.remove();
  });
});
