import { describe, expect, it } from 'vitest';
import { SITE_FILES } from '../../../src/model/slugs.ts';
import { createAddressBook, resolveAddress, type SiteAddresses } from '../../../src/server/address.ts';

const SITE: SiteAddresses = {
  siteHost: 'status.example.com',
  basePath: '/',
  home: 'acme',
  customDomains: new Map([['status.acme.test', 'acme']]),
  publicFiles: new Set<string>(),
};
const at = (target: string, host: string | undefined = 'status.example.com', site = SITE) =>
  resolveAddress(host, target, site);

describe('an address', () => {
  it('names a file of a page, of the site, or of the server itself', () => {
    expect(at('/acme/')).toEqual({
      kind: 'page',
      slug: 'acme',
      path: 'index.html',
      base: '/acme/',
      form: null,
      badge: null,
    });
    expect(at('/acme/history/2026-11/?x=1')).toMatchObject({ slug: 'acme', path: 'history/2026-11/index.html' });
    expect(at('/acme/api/v2/summary.json')).toMatchObject({ path: 'api/v2/summary.json' });
    expect(at('/', undefined, { ...SITE, home: null })).toEqual({ kind: 'site', path: 'index.html' });
    expect(at('/robots.txt')).toEqual({ kind: 'site', path: 'robots.txt' });
    expect(at('/-/health')).toEqual({ kind: 'own', path: 'health', isSite: true });
    expect(at('/-/health', 'status.acme.test')).toMatchObject({ kind: 'own', isSite: false });
    expect(at('/acme')).toEqual({ kind: 'redirect', location: '/acme/' });
  });

  it('at the root is one of the home page, but for what the site has of its own and what other pages are called', () => {
    for (const [target, path] of [
      ['/', 'index.html'],
      ['/api/v2/summary.json', 'api/v2/summary.json'],
      ['/history/', 'history/index.html'],
      ['/history/2026-11/', 'history/2026-11/index.html'],
      ['/components/api/feed.atom', 'components/api/feed.atom'],
      ['/badges/status.svg', 'badges/status.svg'],
      ['/feed.atom', 'feed.atom'],
      ['/favicon.svg', 'favicon.svg'],
      ['/login/', 'login/index.html'],
      ['/logout', 'logout'],
    ] as const)
      expect(at(target)).toMatchObject({ kind: 'page', slug: 'acme', path, base: '/' });
    for (const path of SITE_FILES) expect(at(`/${path}`)).toEqual({ kind: 'site', path });
    expect(at('/.well-known/security.txt', 'status.acme.test')).toMatchObject({ kind: 'site' });
    expect(at('/robots.txt', 'status.acme.test')).toMatchObject({ kind: 'page' });
    expect(at('/staff/')).toMatchObject({ kind: 'page', slug: 'staff', base: '/staff/' });
    expect(at('/feed.atom', undefined, { ...SITE, home: null })).toEqual({ kind: 'site', path: 'feed.atom' });
    expect(at('/history/', undefined, { ...SITE, home: null })).toMatchObject({ slug: 'history' });
  });

  it('of a form is told from those of files', () => {
    for (const path of ['login', 'login/', 'login/link/', 'logout', 'logout/'])
      expect(at(`/acme/${path}`)).toMatchObject({ form: 'gate' });
    for (const path of ['subscribe', 'subscribe/', 'subscribe/leave/'])
      expect(at(`/acme/${path}`)).toMatchObject({ form: 'subscribe' });
    for (const path of ['', 'loginx', 'logout/x', 'components/login/', 'subscribed/', 'api/v2/subscribe'])
      expect(at(`/acme/${path}`)).toMatchObject({ form: null });
  });

  it('of a file that the operator serves at the root is the site’s, whatever the home page is', () => {
    const site = { ...SITE, publicFiles: new Set(['ads.txt', 'assets/x.svg', '.well-known/security.txt']) };
    for (const path of site.publicFiles) expect(at(`/${path}`, undefined, site)).toEqual({ kind: 'site', path });
    expect(at('/assets/y.svg', undefined, site)).toMatchObject({ kind: 'page', slug: 'assets' });
    expect(at('/ads.txt', 'status.acme.test', site)).toMatchObject({ kind: 'page', slug: 'acme' });
  });

  it('of the site is nobody’s domain, whatever a page claims', () => {
    const claimed = {
      ...SITE,
      customDomains: new Map([
        ['status.example.com', 'evil'],
        ['127.0.0.1', 'evil'],
      ]),
    };
    expect(at('/x/', 'status.example.com', claimed)).toMatchObject({ slug: 'x' });
    expect(at('/x/', '127.0.0.1:4321', claimed)).toMatchObject({ slug: 'x' });
    expect(at('/-/ops', 'status.example.com', claimed)).toMatchObject({ kind: 'own', isSite: true });
  });

  it('is answered for the site, its custom domains and this machine only, whatever their case, port or last dot', () => {
    for (const host of [
      'status.example.com',
      'STATUS.example.com:8443',
      'status.example.com.',
      'localhost:4321',
      '127.0.0.1',
      '[::1]:4321',
    ]) {
      expect(at('/acme/', host).kind).toBe('page');
    }
    expect(at('/history/', 'Status.Acme.Test')).toEqual({
      kind: 'page',
      slug: 'acme',
      path: 'history/index.html',
      base: '/',
      form: null,
      badge: null,
    });
    for (const host of ['evil.test', 'status.example.com.evil.test', '169.254.169.254', 'status.example.co']) {
      expect(at('/acme/', host)).toEqual({ kind: 'refused', status: 421 });
    }
    for (const host of ['', ' ', 'a b', 'status.example.com/x', 'status.example.com:port', undefined]) {
      expect(resolveAddress(host, '/acme/', SITE)).toEqual({ kind: 'refused', status: 400 });
    }
  });

  it('is decoded once; what is not plain path text afterwards means nothing', () => {
    expect(at('/%61cme/')).toMatchObject({ kind: 'page', slug: 'acme' });
    for (const target of [
      '/%2561cme/',
      '/acme/%2e%2e/partners/',
      '/acme/../partners/',
      '/acme/./',
      '//-/health',
      '/-//health',
      '/%2f-/health',
      '/\\evil.test/',
      '/acme%5c..%5cpartners/',
      '/acme%2f..%2fpartners/',
      '/acme/%00',
      '/acme/.env',
      '/.git/config',
      '/acme/%ff',
      '/acme/index.html%0d%0aX: y',
      '/acme/<script>',
      '/acme/;x',
      'http://evil.test/acme/',
      '*',
      `/${'a'.repeat(3_000)}/`,
    ]) {
      expect([target, at(target).kind]).toEqual([target, 'refused']);
    }
  });

  it('takes slashes in a row for one, since clients add /api/… to a base that ends in a slash', () => {
    for (const [target, host, expected] of [
      ['/acme//api/v2/summary.json', undefined, { slug: 'acme', path: 'api/v2/summary.json', base: '/acme/' }],
      ['//api///v2/summary.json', undefined, { slug: 'acme', path: 'api/v2/summary.json', base: '/' }],
      ['//api/v2/summary.json', 'status.acme.test', { slug: 'acme', path: 'api/v2/summary.json', base: '/' }],
      ['/acme%2f/history//', undefined, { slug: 'acme', path: 'history/index.html', base: '/acme/' }],
      ['//robots.txt', undefined, { kind: 'site', path: 'robots.txt' }],
    ] as const)
      expect(at(target, host)).toMatchObject(expected);
  });

  it('never leaves the origin by a redirect', () => {
    for (const target of ['/evil.test', '/@evil.test', '/a:b@c', '//evil', '///evil', '/%2f/evil']) {
      const address = at(target);
      expect(address.kind).toMatch(/^(redirect|page|site)$/);
      if (address.kind === 'redirect') expect(address.location).toMatch(/^\/[^/\\]/);
    }
  });

  it('knows the root of a site below a path without its slash, and where identity providers send people back', () => {
    const below = { ...SITE, basePath: '/status/' };
    const redirect = { kind: 'redirect', location: '/status/' };
    expect(at('/status', 'status.example.com', below)).toEqual(redirect);
    expect(at('/status', 'status.example.com', { ...below, home: null })).toEqual(redirect);
    const callback = { kind: 'own', path: 'oidc/callback', isSite: true };
    for (const path of ['/status/-/oidc/callback', '/-/oidc/callback'])
      expect(at(path, 'status.example.com', below)).toEqual(callback);
    expect(at('/status/-/ops', 'status.example.com', below)).toMatchObject({ kind: 'page' });
  });

  it('keeps the path of a site below a path, also behind a proxy that strips it', () => {
    const below = { ...SITE, basePath: '/status/' };
    expect(at('/status/acme/', 'status.example.com', below)).toEqual({
      kind: 'page',
      slug: 'acme',
      path: 'index.html',
      base: '/status/acme/',
      form: null,
      badge: null,
    });
    expect(at('/acme/', 'status.example.com', below)).toEqual({
      kind: 'page',
      slug: 'acme',
      path: 'index.html',
      base: '/status/acme/',
      form: null,
      badge: null,
    });
    expect(at('/status/', 'status.example.com', below)).toEqual({
      kind: 'page',
      slug: 'acme',
      path: 'index.html',
      base: '/status/',
      form: null,
      badge: null,
    });
  });
});

describe('an address book', () => {
  it('gives what resolving gives, also when it is asked again, and anew for another site', () => {
    const look = createAddressBook();
    const hosts = ['status.example.com', 'STATUS.example.com:80', 'status.acme.test', 'elsewhere.test', undefined];
    const targets = [
      '/',
      '/acme/',
      '/acme/login/',
      '/acme',
      '/-/health',
      '/%2e%2e/',
      '/acme/?a=b',
      `/acme/${'x'.repeat(600)}`,
    ];
    for (const site of [SITE, { ...SITE, home: null }, SITE])
      for (const host of [...hosts, ...hosts])
        for (const target of targets) expect(look(host, target, site)).toEqual(resolveAddress(host, target, site));
  });

  it('keeps a bounded number', () => {
    const look = createAddressBook();
    const first = look('status.example.com', '/acme/', SITE);
    expect(look('status.example.com', '/acme/', SITE)).toBe(first);
    for (let index = 0; index < 5_000; index += 1) look('status.example.com', `/acme/${index}`, SITE);
    expect(look('status.example.com', '/acme/', SITE)).not.toBe(first);
  });
});
