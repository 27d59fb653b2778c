import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdentities } from '../../src/access/oidc/identities.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { newSigningKey, startProvider, type TestProvider } from '../helpers/identity-provider.ts';
import { PROVIDER_FETCH, page, type Site, type SiteFolder, siteFolder } from './access-fixture.ts';
import { AWAY, CALLBACK, clientOf, FAILED, OidcBrowser, oidcPage, shown } from './access-oidc-fixture.ts';

const HOUR = 3_600_000;
const STAFF = oidcPage('staff', { groups: ['sre'] });

let provider: TestProvider;
let folder: SiteFolder;
let site: Site;
const client = () => clientOf(provider);
beforeAll(async () => {
  provider = await startProvider([CALLBACK]);
});
afterAll(() => provider.close());
beforeEach(async () => {
  provider.accounts.clear();
  provider.accounts.set('ada', { email: 'ada@corp.example', email_verified: true, groups: ['sre', 'all'] });
  provider.accounts.set('bob', { email: 'bob@else.example', email_verified: true, groups: ['sales'] });
  provider.accounts.set('eve', { email: 'eve@corp.example', email_verified: false, groups: [] });
  provider.forge(null);
  provider.change(null);
  provider.break(null);
  folder = siteFolder();
  site = await folder.open({}, client());
  await site.access.setPages([STAFF, page('open')]);
});
afterEach(async () => {
  await site.close();
  folder.remove();
});

class Browser extends OidcBrowser {
  constructor() {
    super(
      () => site,
      () => provider,
    );
  }
}

const NOT_ALLOWED = '403 This account doesn’t have access to this page.';

describe('signing in by a provider', () => {
  it('lets in who is in the group, to where they wanted to go, with one session cookie', async () => {
    const browser = new Browser();
    const begun = await browser.begin('staff', 'history/');
    const url = new URL(String(begun.headers['location']));
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      redirect_uri: CALLBACK,
      response_type: 'code',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/./),
      nonce: expect.stringMatching(/./),
    });
    const answer = await browser.back(await provider.signIn(url.href, 'ada'));
    expect([answer.status, answer.headers['location']]).toEqual([303, '/staff/history/']);
    expect([...browser.cookies.keys()]).toEqual(['pharos']);
    expect(await browser.sees('staff')).toBe(true);
    expect(await new Browser().sees('staff')).toBe(false);
  });

  it.each([
    ['groups', { groups: ['sre'] }, { ada: true, bob: false, eve: false }],
    ['domains, of verified addresses', { domains: ['corp.example'] }, { ada: true, bob: false, eve: false }],
    ['emails', { emails: ['Bob@else.example', 'eve@corp.example'] }, { ada: false, bob: true, eve: false }],
  ] as const)('goes by %s', async (_name, allow, expected) => {
    await site.access.setPages([oidcPage('staff', allow)]);
    for (const [account, isIn] of Object.entries(expected)) {
      const browser = new Browser();
      expect([account, shown(await browser.signIn(account))]).toEqual([account, isIn ? '303' : NOT_ALLOWED]);
      expect([account, await browser.sees('staff')]).toEqual([account, isIn]);
    }
  });

  it('asks for the email domains of the page too', async () => {
    await site.access.setPages([oidcPage('staff', { groups: ['sre', 'sales'] }, { emailDomains: ['else.example'] })]);
    expect(shown(await new Browser().signIn('ada'))).toBe(NOT_ALLOWED);
    expect(shown(await new Browser().signIn('bob'))).toBe('303');
  });

  it('believes no address whose verification is not said with it', async () => {
    await site.access.setPages([oidcPage('staff', { domains: ['corp.example'] })]);
    for (const verified of ['true', 1, undefined, null, [true]]) {
      provider.accounts.set('mal', { email: 'mal@corp.example', email_verified: verified });
      expect([verified, shown(await new Browser().signIn('mal'))]).toEqual([verified, NOT_ALLOWED]);
    }
    // Verified in one answer, another address in the other.
    provider.accounts.set('mal', { email: 'mal@corp.example' });
    provider.forge({ email: 'mal@else.example', email_verified: true });
    expect(shown(await new Browser().signIn('mal'))).toBe(NOT_ALLOWED);
  });

  it('answers alike for pages that are not there', async () => {
    const [there, nowhere] = [new Browser(), new Browser()];
    const [one, other] = [await there.begin(), await nowhere.begin('nothing')];
    expect(other.status).toBe(one.status);
    expect(Object.keys(other.headers)).toEqual(Object.keys(one.headers));
    const answers = await Promise.all([there.signIn('bob'), nowhere.signIn('bob', 'nothing')]);
    expect(answers[1]?.body.replaceAll('nothing', 'staff')).toBe(answers[0]?.body);
  });

  it('leads nowhere else, whatever is asked for', async () => {
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '../..//evil.example',
      'login/oidc/',
    ]) {
      const answer = await new Browser().signIn('ada', 'staff', to);
      expect([to, answer.headers['location']]).toEqual([to, '/staff/']);
    }
  });

  it('offers no link where no page asks for it', async () => {
    await site.access.setPages([page('open')]);
    expect(await site.access.denied({ base: '/staff/', path: '' })).toBeNull();
    await site.access.setPages([STAFF]);
    expect((await site.access.denied({ base: '/staff/', path: 'history/' }))?.body).toContain(
      'href="/staff/login/oidc/?to=history/"',
    );
  });
});

describe('a forged sign-in', () => {
  const other = newSigningKey('first');
  const seconds = () => Math.floor(Date.now() / 1_000);
  it.each([
    ['nonce', async () => provider.forge({ nonce: 'another' })],
    ['issuer', async () => provider.forge({ iss: 'https://evil.example' })],
    ['audience', async () => provider.forge({ aud: 'another client' })],
    ['signature', async () => provider.forge({}, await other)],
    ['time of expiry', async () => provider.forge({ exp: seconds() - 60 })],
    ['time of issue, in the future', async () => provider.forge({ nbf: seconds() + 3_600, iat: seconds() + 3_600 })],
    ['subject', async () => provider.forge({ sub: 'bob' })],
    ['authorised party', async () => provider.forge({ aud: ['pharos', 'another'], azp: 'another' })],
    [
      'algorithm',
      async () =>
        provider.change(async ({ path, body }) => {
          if (path !== '/token') return null;
          const { id_token: token, ...tokens } = JSON.parse(body) as { id_token: string };
          const head = Buffer.from('{"alg":"none"}').toString('base64url');
          return { body: JSON.stringify({ ...tokens, id_token: `${head}.${token.split('.')[1]}.` }) };
        }),
    ],
  ])('with a wrong %s lets nobody in', async (_name, forge) => {
    const browser = new Browser();
    const begun = await browser.begin();
    await forge();
    const answer = await browser.back(await provider.signIn(String(begun.headers['location']), 'ada'));
    expect(shown(answer)).toBe(FAILED);
    expect(await browser.sees('staff')).toBe(false);
    provider.forge(null);
    provider.change(null);
    expect(shown(await new Browser().signIn('ada'))).toBe('303');
  });

  it('with another state, without the cookie, or with that of another browser lets nobody in', async () => {
    const [ada, mal] = [new Browser(), new Browser()];
    const back = await provider.signIn(String((await ada.begin()).headers['location']), 'ada');
    await mal.begin();
    expect(shown(await mal.back(back))).toBe(FAILED);
    expect(shown(await new Browser().back(back))).toBe(FAILED);
    const changed = new URL(back);
    changed.searchParams.set('state', 'another');
    expect(shown(await ada.back(changed))).toBe(FAILED);
    expect(await mal.sees('staff')).toBe(false);
  });

  it('with the answer of another provider lets nobody in', async () => {
    const evil = await startProvider([CALLBACK]);
    evil.accounts.set('ada', { groups: ['sre'] });
    const browser = new Browser();
    const begun = new URL(String((await browser.begin()).headers['location']));
    const back = await evil.signIn(`${evil.issuer}${begun.pathname}${begun.search}`, 'ada');
    expect(back.searchParams.get('iss')).toBe(evil.issuer);
    expect(shown(await browser.back(back))).toBe(FAILED);
    back.searchParams.set('iss', provider.issuer);
    expect(shown(await browser.back(back))).toBe(FAILED);
    await evil.close();
  });

  it('with a code that was used lets nobody in', async () => {
    const browser = new Browser();
    const back = await provider.signIn(String((await browser.begin()).headers['location']), 'ada');
    const { cookie } = browser;
    expect(shown(await browser.back(back))).toBe('303');
    const mal = new Browser();
    expect(shown(await mal.back(back, { cookie }))).toBe(FAILED);
    expect(await mal.sees('staff')).toBe(false);
  });

  it('that comes too late lets nobody in', async () => {
    const browser = new Browser();
    const back = await provider.signIn(String((await browser.begin()).headers['location']), 'ada');
    site.now = toEpochMs(site.now + 16 * 60_000);
    expect(shown(await browser.back(back))).toBe(FAILED);
  });

  it('is tried ten times in fifteen minutes, and right ones are not counted', async () => {
    for (let times = 0; times < 12; times += 1) expect(shown(await new Browser().signIn('ada'))).toBe('303');
    const before = provider.requests.filter((line) => line === 'POST /token').length;
    for (let times = 0; times < 12; times += 1) {
      const browser = new Browser();
      await browser.begin();
      await browser.back(new URL(`${CALLBACK}?code=made-up&state=made-up`));
    }
    const begun = new Browser();
    await begun.begin();
    expect(shown(await begun.signIn('ada'))).toBe(FAILED);
    expect(provider.requests.filter((line) => line === 'POST /token').length).toBe(before);
  });
});

describe('an office behind one address', () => {
  it('signs in at once, beside nine forged sign-ins, and nobody has guessed', async () => {
    for (let times = 0; times < 9; times += 1) {
      const forger = new Browser();
      await forger.begin();
      await forger.back(new URL(`${CALLBACK}?code=made-up&state=made-up`));
    }
    const browsers = Array.from({ length: 20 }, () => new Browser());
    const backs: [Browser, URL][] = [];
    for (const browser of browsers)
      backs.push([browser, await provider.signIn(String((await browser.begin()).headers['location']), 'ada')]);
    const answers = await Promise.all(backs.map(([browser, url]) => browser.back(url)));
    expect(answers.map(shown)).toEqual(answers.map(() => '303'));
  });

  it('has not guessed while the provider is away', async () => {
    for (let times = 0; times < 12; times += 1) {
      const browser = new Browser();
      const back = await provider.signIn(String((await browser.begin()).headers['location']), 'ada');
      provider.break('/token');
      expect(shown(await browser.back(back))).toBe(AWAY);
      provider.break(null);
    }
    expect(shown(await new Browser().signIn('ada'))).toBe('303');
  });
});

describe('a provider', () => {
  it('is asked once who it is, however many want to sign in at once', async () => {
    provider.requests.length = 0;
    const begun = await Promise.all(Array.from({ length: 20 }, () => new Browser().begin()));
    expect(new Set(begun.map(({ headers }) => headers['location'])).size).toBe(20);
    expect(provider.requests).toHaveLength(1);
  });

  it('that has new keys is believed at once', async () => {
    expect(shown(await new Browser().signIn('ada'))).toBe('303');
    await provider.rotate();
    expect(shown(await new Browser().signIn('ada'))).toBe('303');
  });

  it.each(['/.well-known', '/token', '/jwks', '/me'])(
    'that is away at %s says so, and lets nobody in',
    async (path) => {
      for (const how of ['status', 'silence'] as const) {
        const browser = new Browser();
        const begun = await browser.begin();
        const back = await provider.signIn(String(begun.headers['location']), 'ada');
        provider.break(path, how);
        expect([how, shown(await browser.back(back))]).toEqual([how, AWAY]);
        expect(await browser.sees('staff')).toBe(false);
        if (path === '/.well-known') expect(shown(await new Browser().begin())).toBe(AWAY);
        provider.break(null);
      }
    },
  );

  it('that says no is told as a sign-in that did not work', async () => {
    const browser = new Browser();
    const begun = new URL(String((await browser.begin()).headers['location']));
    const state = begun.searchParams.get('state') ?? '';
    const back = new URL(`${CALLBACK}?${new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer })}`);
    expect(shown(await browser.back(back))).toBe(FAILED);
  });
});

describe('a session by a provider', () => {
  const signedIn = async (account = 'ada'): Promise<Browser> => {
    const browser = new Browser();
    await browser.signIn(account);
    expect(await browser.sees('staff')).toBe(true);
    return browser;
  };
  const later = (ms: number): void => {
    site.now = toEpochMs(site.now + ms);
  };

  it('ends within the hour when a group goes, and not before the provider is asked', async () => {
    const browser = await signedIn();
    provider.accounts.set('ada', { groups: ['all'] });
    later(HOUR - 1_000);
    expect(await browser.sees('staff')).toBe(true);
    later(1_000);
    expect(await browser.sees('staff')).toBe(false);
  });

  it('ends within the hour when the account goes, and goes on when nothing changed', async () => {
    const [gone, stays] = [await signedIn(), await signedIn()];
    for (let hours = 0; hours < 3; hours += 1) {
      later(HOUR);
      expect(await stays.sees('staff')).toBe(true);
    }
    provider.accounts.delete('ada');
    later(HOUR);
    expect([await gone.sees('staff'), await stays.sees('staff')]).toEqual([false, false]);
    provider.accounts.set('ada', { groups: ['sre'] });
    expect(await stays.sees('staff')).toBe(false);
  });

  it('goes on while the provider is away, until its own end', async () => {
    const browser = await signedIn();
    provider.break('/');
    for (let hours = 0; hours < 5; hours += 1) {
      later(2 * HOUR);
      expect(await browser.sees('staff')).toBe(true);
    }
    later(12 * HOUR);
    expect(await browser.sees('staff')).toBe(false);
  });

  it.each(['/.well-known', '/token', '/jwks', '/me'])(
    'goes on while %s is away, and ends once it is not',
    async (path) => {
      for (const how of ['status', 'silence'] as const) {
        const browser = await signedIn();
        provider.accounts.set('ada', { groups: ['all'] });
        provider.break(path, how);
        later(HOUR);
        expect([how, await browser.sees('staff')]).toEqual([how, true]);
        provider.break(null);
        later(60_000);
        expect([how, await browser.sees('staff')]).toEqual([how, false]);
        provider.accounts.set('ada', { groups: ['sre'] });
      }
    },
  );

  it.each([
    ['an address that is verified no more', { email: 'ada@corp.example', email_verified: false }],
    ['another address', { email: 'ada@else.example', email_verified: true }],
  ])('ends within the hour with %s', async (_name, account) => {
    await site.access.setPages([oidcPage('staff', { domains: ['corp.example'] })]);
    const browser = await signedIn();
    provider.accounts.set('ada', account);
    later(HOUR);
    expect(await browser.sees('staff')).toBe(false);
  });

  it('goes on while the provider refuses Pharos itself, and nobody else gets in', async () => {
    const browser = await signedIn();
    await site.close();
    site = await folder.open({}, { ...client(), client_secret: { reveal: () => 'one that expired' } });
    await site.access.setPages([STAFF]);
    later(HOUR);
    expect(await browser.sees('staff')).toBe(true);
    expect(shown(await new Browser().signIn('ada'))).toBe(AWAY);
  });

  it('asks the provider once, however many look at once, and at most once a minute while it is away', async () => {
    const browser = await signedIn();
    later(HOUR);
    provider.requests.length = 0;
    expect(await Promise.all(Array.from({ length: 20 }, () => browser.sees('staff')))).not.toContain(false);
    expect(provider.requests.filter((line) => line === 'POST /token')).toHaveLength(1);
    later(HOUR);
    provider.break('/');
    provider.requests.length = 0;
    for (let times = 0; times < 5; times += 1) expect(await browser.sees('staff')).toBe(true);
    expect(provider.requests).toHaveLength(1);
  });

  it('without a way to ask again ends after an hour', async () => {
    provider.change(async ({ path, body }) => {
      if (path !== '/token') return null;
      const { refresh_token: _, ...tokens } = JSON.parse(body) as Record<string, unknown>;
      return { body: JSON.stringify(tokens) };
    });
    const browser = await signedIn();
    later(HOUR - 1);
    expect(await browser.sees('staff')).toBe(true);
    later(1);
    expect(await browser.sees('staff')).toBe(false);
  });

  it('ends when the lists of the page change, or the site has another provider', async () => {
    const browser = await signedIn();
    await site.access.setPages([oidcPage('staff', { groups: ['sre', 'more'] })]);
    expect(await browser.sees('staff')).toBe(false);
    await browser.signIn('ada');
    expect(await browser.sees('staff')).toBe(true);
    await site.close();
    site = await folder.open({}, { ...client(), issuer: 'https://another.example' });
    await site.access.setPages([oidcPage('staff', { groups: ['sre', 'more'] })]);
    expect(await browser.sees('staff')).toBe(false);
  });

  it('is signed out here and at the provider', async () => {
    const browser = await signedIn();
    const answer = await browser.post('staff', 'logout', {});
    expect(await browser.sees('staff')).toBe(false);
    const url = new URL(String(answer.headers['refresh']).replace('0; url=', ''));
    expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/session/end`);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(CALLBACK);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^ey/);
    expect(answer.body).toContain(`href="${url.href.replaceAll('&', '&amp;')}"`);
    const rows = await site.database.all('SELECT id FROM access_identity');
    expect(rows).toEqual([]);
  });

  it('is signed out here if the provider is away', async () => {
    const browser = await signedIn();
    provider.break('/');
    expect((await browser.post('staff', 'logout', {})).status).toBe(303);
    expect(await browser.sees('staff')).toBe(false);
  });

  it('leaves nothing readable in the database', async () => {
    await signedIn();
    const rows = await site.database.all('SELECT * FROM access_identity');
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/ada@|"ada"|corp\.example|"sre"|eyJhbG/);
    expect(JSON.stringify(site.errors.map(String))).not.toMatch(/ada@|secret of pharos/);
  });
});

describe('a logout token', () => {
  const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = (over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
    iss: provider.issuer,
    aud: 'pharos',
    iat: Math.floor(Date.now() / 1_000),
    jti: 'one',
    sub: 'ada',
    events: EVENTS,
    ...over,
  });
  const identities = () =>
    createIdentities({
      ...{ database: site.database, random: (count: number) => crypto.getRandomValues(new Uint8Array(count)) },
      ...{ key: { reveal: () => 'a key of hashes of addresses, of tests' }, fetch: PROVIDER_FETCH as never },
      onError: () => undefined,
    });

  it('ends every session of the account at once, and no other', async () => {
    const [one, two] = [new Browser(), new Browser()];
    await one.signIn('ada');
    await two.signIn('ada');
    expect(await identities().endByToken(client(), await provider.sign(claims({ sub: 'bob' })))).toBe(true);
    expect([await one.sees('staff'), await two.sees('staff')]).toEqual([true, true]);
    expect(await identities().endByToken(client(), await provider.sign(claims()))).toBe(true);
    expect([await one.sees('staff'), await two.sees('staff')]).toEqual([false, false]);
  });

  it('ends the one session that it names', async () => {
    const [one, two] = [new Browser(), new Browser()];
    provider.forge({ sid: 'session one' });
    await one.signIn('ada');
    provider.forge({ sid: 'session two' });
    await two.signIn('ada');
    await identities().endByToken(client(), await provider.sign(claims({ sid: 'session one' })));
    expect([await one.sees('staff'), await two.sees('staff')]).toEqual([false, true]);
  });

  it('ends the session that it names also by a clock that is behind, as far as it is tolerated', async () => {
    site.now = toEpochMs(Date.now());
    const [one, two] = [new Browser(), new Browser()];
    provider.forge({ sid: 'session one' });
    await one.signIn('ada');
    provider.forge({ sid: 'session two' });
    await two.signIn('ada');
    const late = claims({ sid: 'session one', iat: Math.floor(Date.now() / 1_000) - 25 });
    expect(await identities().endByToken(client(), await provider.sign(late))).toBe(true);
    expect([await one.sees('staff'), await two.sees('staff')]).toEqual([false, true]);
  });

  it('that is forged, old, for somebody else or something else ends nothing', async () => {
    const browser = new Browser();
    await browser.signIn('ada');
    const tokens = [
      '',
      'nothing',
      await provider.sign(claims(), await newSigningKey('first')),
      await provider.sign(claims({ iss: 'https://evil.example' })),
      await provider.sign(claims({ aud: 'another' })),
      await provider.sign(claims({ iat: Math.floor(Date.now() / 1_000) - 600 })),
      await provider.sign(claims({ nonce: 'as of an ID token' })),
      await provider.sign(claims({ events: {} })),
      await provider.sign(claims({ events: undefined })),
      await provider.sign(claims({ sub: undefined })),
    ];
    for (const token of tokens) expect(await identities().endByToken(client(), token)).toBe(false);
    expect(await browser.sees('staff')).toBe(true);
  });
});
