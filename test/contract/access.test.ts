import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBadgeTokens } from '../../src/access/gate/badge-tokens.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { copySqlite } from '../../src/store/sqlite/sqlite.ts';
import {
  ORIGIN,
  PAGES,
  PASSWORD,
  page,
  passwordPage,
  type Site,
  type SiteFolder,
  setCookies,
  siteFolder,
  storeCheapHash,
  T0,
  Visitor,
} from './access-fixture.ts';

describe('a page behind a password', () => {
  let folder: SiteFolder;
  let site: Site;
  let visitor: Visitor;
  const signIn = (who: Visitor = visitor, slug = 'vault', password = PASSWORD) =>
    who.post(slug, 'login/', { password });

  beforeEach(async () => {
    folder = siteFolder();
    site = await folder.open();
    await storeCheapHash(site.database);
    await site.access.setPages(PAGES);
    visitor = new Visitor(() => site);
  });
  afterEach(async () => {
    await site.close();
    folder.remove();
  });

  it('opens to its password, to the address that was asked for, and to nobody before', async () => {
    expect(await visitor.sees('vault')).toBe(false);
    expect((await signIn(visitor, 'vault', 'wrong')).status).toBe(403);
    expect(visitor.cookies.size).toBe(0);
    const right = await visitor.post('vault', 'login/', { password: PASSWORD, to: 'history/2026-05/' });
    expect(right).toMatchObject({ status: 303, headers: { location: '/vault/history/2026-05/' } });
    expect(await visitor.sees('vault')).toBe(true);
    expect(await visitor.sees('team')).toBe(false);
    expect(await visitor.sees('nothing-here')).toBe(false);
    expect((await visitor.get('vault', 'login/')).status).toBe(303);
  });

  it('sets one cookie with every flag, and the __Host- name on https', async () => {
    const [plain] = setCookies(await signIn());
    expect(plain).toMatch(/^pharos=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const secure = new Visitor(site, { isSecure: true });
    const [flagged] = setCookies(await signIn(secure));
    expect(flagged).toMatch(/^__Host-pharos=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  });

  it('takes a session of https under its __Host- name only', async () => {
    const secure = new Visitor(site, { isSecure: true });
    await signIn(secure);
    expect(await secure.sees('vault')).toBe(true);
    const id = secure.cookies.get('__Host-pharos') ?? '';
    secure.cookies.clear();
    secure.cookies.set('pharos', id);
    expect(await secure.sees('vault')).toBe(false);
  });

  it('gives a new id at every sign-in and ends the old one, with what it could see', async () => {
    await site.access.setPages([...PAGES, passwordPage('second', 'other')]);
    visitor.cookies.set('pharos', 'A'.repeat(43));
    await signIn();
    const first = visitor.cookies.get('pharos');
    expect(first).not.toBe('A'.repeat(43));
    await signIn(visitor, 'second', 'other');
    const second = visitor.cookies.get('pharos') ?? '';
    expect(second).not.toBe(first);
    expect(await visitor.sees('vault')).toBe(true);
    expect(await visitor.sees('second')).toBe(true);
    visitor.cookies.set('pharos', first ?? '');
    expect(await visitor.sees('vault')).toBe(false);
    expect(await visitor.sees('second')).toBe(false);
  });

  it('ends the session everywhere when its visitor signs out, by POST only', async () => {
    await signIn();
    const copy = new Visitor(site);
    for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
    const asked = await visitor.get('vault', 'logout');
    expect(asked.body).toContain('action="/vault/logout"');
    expect(await visitor.sees('vault')).toBe(true);
    const left = await visitor.post('vault', 'logout', {});
    expect(left).toMatchObject({ status: 303, headers: { location: '/vault/' } });
    expect(setCookies(left)[0]).toContain('Max-Age=0');
    expect(visitor.cookies.size).toBe(0);
    expect(await copy.sees('vault')).toBe(false);
  });

  it('ends sessions at once when its password or the kind of its gate changes, and only then', async () => {
    await signIn();
    await site.access.setPages(PAGES.map((one) => ({ ...one, title: 'renamed' })));
    expect(await visitor.sees('vault')).toBe(true);
    const changed = site.access.setPages([passwordPage('vault', 'changed')]);
    expect(await visitor.sees('vault')).toBe(false);
    await changed;
    expect(await visitor.sees('vault')).toBe(false);
    expect((await signIn()).status).toBe(403);
    expect((await signIn(visitor, 'vault', 'changed')).status).toBe(303);
    expect(await visitor.sees('vault')).toBe(true);
    await site.access.setPages([page('vault', { access: 'email-domain', emailDomains: ['corp.example'] })]);
    expect(await visitor.sees('vault')).toBe(false);
    await site.access.setPages([passwordPage('vault', 'changed')]);
    expect(await visitor.sees('vault')).toBe(false);
  });

  it('that was public, or gone, for a while knows none of the old sessions', async () => {
    for (const between of [[page('vault'), passwordPage('other')], [passwordPage('other')]]) {
      await site.access.setPages(PAGES);
      await signIn();
      await site.access.setPages(between);
      await site.access.setPages(PAGES);
      expect(await visitor.sees('vault')).toBe(false);
    }
  });

  it('that waits for an upstream to list its pages is shown to nobody, and knows its sessions afterwards', async () => {
    const visitor = new Visitor(site);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    const { token } = await createBadgeTokens(site.database).create(toPageKey('vault', 1), T0);
    const others = PAGES.filter(({ slug }) => slug !== 'vault');
    await site.access.setPages(others, ['vault']);
    expect([await visitor.sees('vault'), await site.access.allowsBadge('vault', token)]).toEqual([false, false]);
    await site.access.setPages(PAGES);
    expect([await visitor.sees('vault'), await site.access.allowsBadge('vault', token)]).toEqual([true, true]);
    await site.access.setPages(others, ['vault']);
    await site.access.setPages(PAGES.map((one) => (one.slug === 'vault' ? passwordPage('vault', 'another') : one)));
    expect([await visitor.sees('vault'), await site.access.allowsBadge('vault', token)]).toEqual([false, false]);
  });

  it('is closed from the moment a public page turns private', async () => {
    const stranger = new Visitor(site);
    expect(await stranger.sees('open')).toBe(true);
    const turning = site.access.setPages([passwordPage('open')]);
    expect(await stranger.sees('open')).toBe(false);
    await turning;
    expect(await stranger.sees('open')).toBe(false);
  });

  it('stays open to its visitors over a restart, and closed to those whose password changed meanwhile', async () => {
    await signIn();
    const restart = async (password: string): Promise<void> => {
      await site.close();
      site = await folder.open();
      expect(await visitor.sees('vault')).toBe(false);
      await site.access.setPages([passwordPage('vault', password)]);
    };
    await restart(PASSWORD);
    expect(await visitor.sees('vault')).toBe(true);
    await restart('changed');
    expect(await visitor.sees('vault')).toBe(false);
    await restart(PASSWORD);
    expect(await visitor.sees('vault')).toBe(false);
  });

  it('is closed by a change that another process learns of first', async () => {
    await signIn();
    const other = await folder.open();
    await other.access.setPages([passwordPage('vault', 'changed')]);
    expect(await visitor.sees('vault')).toBe(false);
    await other.close();
  });

  it('ends a session that idles for longer than sessionHours, and a busy one after seven days', async () => {
    await signIn();
    site.now = toEpochMs(T0 + 12 * HOUR_MS - 1);
    expect(await visitor.sees('vault')).toBe(true);
    await settled(site);
    site.now = toEpochMs(T0 + 24 * HOUR_MS - 2);
    expect(await visitor.sees('vault')).toBe(true);
    await settled(site);
    site.now = toEpochMs(T0 + 36 * HOUR_MS);
    expect(await visitor.sees('vault')).toBe(false);

    site.now = T0;
    await signIn();
    for (let at = T0 + HOUR_MS; at < T0 + 7 * DAY_MS; at += 6 * HOUR_MS) {
      site.now = toEpochMs(at);
      expect(await visitor.sees('vault')).toBe(true);
      await settled(site);
    }
    site.now = toEpochMs(T0 + 7 * DAY_MS);
    expect(await visitor.sees('vault')).toBe(false);
  });

  it('does not prolong one page by signing in to another', async () => {
    await site.access.setPages([...PAGES, passwordPage('second', 'other')]);
    await signIn();
    for (let at: number = T0; at < T0 + 6 * DAY_MS; at += 6 * HOUR_MS) {
      site.now = toEpochMs(at);
      await visitor.sees('vault');
      await settled(site);
    }
    await signIn(visitor, 'second', 'other');
    site.now = toEpochMs(T0 + 7 * DAY_MS + MINUTE_MS);
    await visitor.sees('second');
    expect(await visitor.sees('vault')).toBe(false);
  });

  it('keeps no password, session id or address of a client in the database', async () => {
    await signIn(visitor, 'vault', 'CANARY-typed');
    await signIn();
    await visitor.sees('vault');
    await site.access.tend();
    await copySqlite(folder.file, `${folder.file}.copy`);
    const bytes = ['', '-wal', '.copy'].map((suffix) => readFileSync(folder.file + suffix).toString('latin1')).join();
    for (const secret of [PASSWORD, 'CANARY-typed', visitor.cookies.get('pharos') ?? '', '192.0.2.1'])
      expect(bytes.includes(secret), secret).toBe(false);
    expect(bytes).toContain('$argon2id$');
  });

  it('reads the gate once before a password is compared, and once more where the session begins', async () => {
    const asked: string[] = [];
    const { database } = site;
    const noted = async (sql: string, task: () => Promise<never>): Promise<never> => {
      if (/\bFROM access_gate\b/.test(sql)) asked.push(sql);
      return task();
    };
    const counting = await folder.open({
      database: { ...database, all: (sql, params) => noted(sql, () => database.all(sql, params) as Promise<never>) },
    });
    await counting.access.setPages(PAGES);
    asked.length = 0;
    expect((await signIn(new Visitor(counting), 'vault', 'wrong')).status).toBe(403);
    expect((await signIn(new Visitor(counting), 'nothing-here', 'wrong')).status).toBe(403);
    expect((await signIn(new Visitor(counting))).status).toBe(303);
    expect(asked).toHaveLength(3);
    await counting.close();
  });

  it('forgets sessions that are over', async () => {
    await signIn();
    site.now = toEpochMs(T0 + 8 * DAY_MS);
    await site.access.tend();
    for (const table of ['access_session', 'access_grant', 'access_attempt'])
      expect(await site.database.all(`SELECT * FROM ${table}`), table).toEqual([]);
  });

  it('lets in nobody new while the store fails, and keeps who was in', async () => {
    await signIn();
    expect(await visitor.sees('vault')).toBe(true);
    const { access } = site;
    await site.database.close();
    expect(await visitor.sees('vault')).toBe(true);
    expect(await new Visitor(site).sees('vault')).toBe(false);
    const other = new Visitor(site);
    other.cookies.set('pharos', 'B'.repeat(43));
    expect(await other.sees('vault')).toBe(false);
    for (const slug of ['vault', 'nowhere'])
      expect((await new Visitor(site).post(slug, 'login/', { password: PASSWORD })).status).toBe(503);
    await access.close();
    site = await folder.open();
  });

  it('refuses forms of other sites, and of none', async () => {
    const attempts = [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: 'https://evil.test', fetchSite: 'cross-site' },
      { origin: null, fetchSite: 'same-site' },
      { origin: `${ORIGIN}.evil.test` },
    ];
    for (const from of attempts) {
      expect((await visitor.post('vault', 'login/', { password: PASSWORD }, from)).status).toBe(403);
      expect((await visitor.post('team', 'login/', { email: 'a@corp.example' }, from)).status).toBe(403);
      expect(visitor.cookies.size).toBe(0);
    }
    await signIn();
    for (const from of attempts) expect((await visitor.post('vault', 'logout', {}, from)).status).toBe(403);
    expect(await visitor.sees('vault')).toBe(true);
    expect((await visitor.post('vault', 'logout', {}, { origin: null })).status).toBe(303);
  });

  it('has no addresses of gates on a site without gates', async () => {
    await site.access.setPages([page('open')]);
    expect(await site.access.denied({ base: '/x/', path: '' })).toBeNull();
    await expect(visitor.get('open', 'login/')).rejects.toThrow('no gates');
  });
});

/** Work that no answer waits for (noting when a session was used last) queues before this. */
async function settled(site: Site): Promise<void> {
  await site.database.transaction(async () => undefined);
}
