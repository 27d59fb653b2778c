import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OidcClient } from '../../src/access/oidc/provider.ts';
import { providerFindings } from '../../src/cli/doctor/identity-provider.ts';
import { parseConfig } from '../../src/config/load.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { NO_PROXY } from '../../src/network/proxy.ts';
import type { ResolvedPage } from '../../src/publish/definitions/definitions.ts';
import { CLIENT, startProvider, type TestProvider } from '../helpers/identity-provider.ts';
import { ORIGIN, type Site, type SiteFolder, siteFolder } from './access-fixture.ts';
import { CALLBACK, clientOf, OidcBrowser, oidcPage } from './access-oidc-fixture.ts';

let provider: TestProvider;
let folder: SiteFolder;
let site: Site | null = null;
beforeAll(async () => {
  provider = await startProvider([CALLBACK]);
  provider.accounts.set('ada', { groups: ['sre'] });
});
afterAll(() => provider.close());
beforeEach(() => {
  folder = siteFolder();
  provider.change(null);
  provider.break(null);
});
afterEach(async () => {
  await site?.close();
  site = null;
  folder.remove();
});

interface Asked {
  readonly siteUrl?: string;
  readonly aheadMs?: number;
  readonly pages?: readonly ResolvedPage[];
}

/** What `check` and `doctor` say of a client, by what was looked at. */
async function findings(over: Readonly<Record<string, string>>, { siteUrl = ORIGIN, aheadMs = 0, pages = [] }: Asked) {
  const { client_secret: secret, ...known } = { issuer: provider.issuer, ...CLIENT, ...over };
  const oidc = { ...known, client_secret: '${SECRET}' };
  const pharos = { site: { url: siteUrl, name: 'S' }, upstreams: [], pages: [], access: { oidc } };
  const config = parseConfig({ text: JSON.stringify(pharos), file: null, folder: '/nowhere' }, [], { SECRET: secret });
  const now = () => toEpochMs(Date.now() + aheadMs);
  const found = await providerFindings(config, { now, proxy: NO_PROXY, pages });
  return found.map(({ name, result, message }) => `${result} ${name}: ${message}`);
}

/** Whether somebody who may see the page gets in with such a client. */
async function getsIn(over: Partial<OidcClient>): Promise<boolean> {
  const opened = await folder.open({}, { ...clientOf(provider), ...over });
  site = opened;
  await opened.access.setPages([oidcPage('staff', { groups: ['sre'] })]);
  const browser = new OidcBrowser(
    () => opened,
    () => provider,
  );
  await browser.signIn('ada').catch(() => undefined);
  return browser.sees('staff');
}

const RIGHT = [
  'ok access.oidc.issuer: answers, and tells when sessions end',
  'ok clock against access.oidc: in sync',
  `ok access.oidc redirect address: the provider sends browsers back to ${CALLBACK}`,
  'ok access.oidc.client_secret: accepted',
];

describe('the settings of an identity provider', () => {
  it('are found right, and let in', async () => {
    expect(await findings({}, {})).toEqual(RIGHT);
    expect(await getsIn({})).toBe(true);
  });

  it.each([
    ['an issuer that is another', { issuer: '/other' }, /^fault access\.oidc\.issuer: can’t be asked/],
    ['an issuer by another name', { host: 'localhost' }, /^fault access\.oidc\.issuer: can’t be asked/],
    [
      'an unknown client',
      { client_id: 'nobody' },
      /^fault access\.oidc redirect address: the provider refuses .* \(400\)/,
    ],
    ['an unknown client', { client_id: 'nobody' }, /^fault access\.oidc\.client_secret: .*invalid_client/],
    ['a wrong secret', { client_secret: 'wrong' }, /^fault access\.oidc\.client_secret: .*invalid_client/],
  ])('with %s are found wrong, and let nobody in', async (_name, over: Record<string, string>, expected) => {
    const { issuer, host, client_secret: secret, ...others } = over;
    const named = `${provider.issuer}${issuer ?? ''}`.replace('127.0.0.1', host ?? '127.0.0.1');
    const text = { ...others, issuer: named };
    const found = await findings({ ...text, ...(secret === undefined ? {} : { client_secret: secret }) }, {});
    expect(found).toContainEqual(expect.stringMatching(expected));
    expect(
      await getsIn({ ...text, ...(secret === undefined ? {} : { client_secret: { reveal: () => secret } }) }),
    ).toBe(false);
  });

  it('with an address that is not registered are found wrong, for the domain of a page too', async () => {
    const refused = (root: string) =>
      `fault access.oidc redirect address: the provider refuses ${root}/-/oidc/callback (400)`;
    expect(await findings({}, { siteUrl: 'https://status.example' })).toContain(refused('https://status.example'));
    const page = {
      definition: { access: 'oidc', customDomain: 'own.example' },
      settings: { url: 'https://own.example/' },
    } as unknown as ResolvedPage;
    const found = await findings({}, { pages: [page] });
    expect(found).toEqual([...RIGHT.slice(0, 3), refused('https://own.example'), ...RIGHT.slice(3)]);
  });

  it.each([
    [-60_000, 'fault clock against access.oidc: its clock is 60 s ahead of ours'],
    [10_000, 'warning clock against access.oidc: its clock is 10 s behind ours'],
  ])('are found wrong with a clock that is %i ms ahead', async (aheadMs, expected) => {
    // The answer has its time in whole seconds.
    const found = (await findings({}, { aheadMs })).map((line) =>
      line.replace(/\b(?:59|61)\b/, '60').replace(/\b(?:9|11) s/, '10 s'),
    );
    expect(found).toContainEqual(expect.stringContaining(expected));
  });

  it('say so when the provider is away or has no keys', async () => {
    provider.change(async ({ path }) => (path === '/jwks' ? { body: '{"keys":[]}' } : null));
    expect(await findings({}, {})).toContainEqual(expect.stringMatching(/^fault .*publishes no keys/));
    provider.change(null);
    provider.break('/auth');
    expect(await findings({}, {})).toContainEqual(
      expect.stringMatching(/^skipped .*redirect address: can’t be tested now/),
    );
    provider.break('/');
    expect(await findings({}, {})).toEqual([expect.stringMatching(/^fault access\.oidc\.issuer: can’t be asked/)]);
  });

  it('signs nobody in and leaves no session', async () => {
    provider.requests.length = 0;
    await findings({}, {});
    expect(provider.requests.filter((line) => /interaction|\/me$/.test(line))).toEqual([]);
  });

  const OIDC = { issuer: 'https://id.example', client_id: 'pharos', client_secret: '${SECRET}' };
  const GROUPS = { groups: ['sre'] };
  const asPage = (page: object, access: object = { oidc: OIDC }) => ({ access, pages: [{ slug: 'staff', ...page }] });
  const operators = (over: object) => ({ operators: { oidc: OIDC, roles: { admin: GROUPS }, ...over } });
  it.each([
    ['a page without a provider', asPage({ oidc: { allow: GROUPS } }, {}), 'pages[0].oidc'],
    ['a page without a list', asPage({ oidc: { allow: {} } }), 'pages[0].oidc.allow'],
    ['a page with empty lists', asPage({ oidc: { allow: { groups: [], domains: [] } } }), 'pages[0].oidc.allow'],
    ['the type without a list', asPage({ access_type: 'oidc' }), 'pages[0].oidc'],
    ['plain http to elsewhere', asPage({}, { oidc: { ...OIDC, issuer: 'http://id.example' } }), 'access.oidc.issuer'],
    [
      'everybody with an account of Microsoft',
      asPage({}, { oidc: { ...OIDC, issuer: 'https://login.microsoftonline.com/common/v2.0' } }),
      'access.oidc.issuer',
    ],
    ['a secret in clear', asPage({}, { oidc: { ...OIDC, client_secret: 'secret' } }), 'access.oidc.client_secret'],
    ['no openid', asPage({}, { oidc: { ...OIDC, scopes: ['email'] } }), 'access.oidc.scopes'],
    ['operators without roles', operators({ roles: {} }), 'operators.oidc'],
    ['roles without a provider', operators({ oidc: undefined }), 'operators.roles'],
    ['a role of nobody', operators({ roles: { admin: {} } }), 'operators.roles.admin'],
    ['a writer without pages', operators({ roles: { writer: GROUPS } }), 'operators.roles.writer'],
  ])('are refused by the configuration: %s', (_name, rest, place) => {
    const text = JSON.stringify({ site: { url: ORIGIN, name: 'S' }, ...rest });
    expect(() => parseConfig({ text, file: null, folder: '/nowhere' }, [], { SECRET: CLIENT.client_secret })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(place) }),
    );
  });
});
