import { describe, expect, it } from 'vitest';
import { BADGE_HEADERS } from '../../../src/badges/files.ts';
import { isOwnRootFile, PAGE_SCRIPTS, SITE_FILES } from '../../../src/model/slugs.ts';
import { listSiteFiles } from '../../../src/publish/files/site-files.ts';
import { headersFile, redirectsFile } from '../../../src/publish/targets/host-files.ts';
import { fileAnswer } from '../../../src/server/visitors/file-answer.ts';
import type { OpenRelease } from '../../../src/server/visitors/release-reader.ts';
import { filesWithBadges } from '../../helpers/page-files.ts';
import { outage } from '../../helpers/page-scenes.ts';

const POLICY = "default-src 'none';script-src 'sha256-x'";

type Rule = readonly [pattern: string, headers: Readonly<Record<string, string>>];

function parse(text: string): Rule[] {
  const rules: [string, Record<string, string>][] = [];
  for (const line of text.trimEnd().split('\n')) {
    if (!line.startsWith(' ')) {
      rules.push([line, {}]);
      continue;
    }
    const [, name = '', value = ''] = /^ {2}([\w-]+): (.+)$/.exec(line) ?? [];
    const headers = rules.at(-1)?.[1];
    if (headers !== undefined) headers[name.toLowerCase()] = value;
  }
  return rules;
}

/** As its documentation says: a splat is anything, a placeholder anything but a slash, and values of a name are joined. */
function onCloudflare(rules: readonly Rule[], address: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [pattern, own] of rules) {
    const expression = pattern.replace(/[.]/g, '\\.').replace(/\*/g, '.*').replace(/:\w+/g, '[^/]+');
    if (!new RegExp(`^${expression}$`).test(address)) continue;
    for (const [name, value] of Object.entries(own))
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** As its own tool for development does: a slash at the end makes no difference, and the last rule that matches counts. */
function onNetlify(rules: readonly Rule[], address: string): Record<string, string> {
  const matching = rules.filter(([pattern]) => {
    const parts = pattern.split('/').filter((part) => part !== '');
    const body = parts
      .map((part, index) => {
        if (part.startsWith(':')) return '/([^/]+)';
        if (part === '*') return index === parts.length - 1 ? '(/?|/.*)' : '/(.*)';
        return `/${part.replaceAll('.', '\\.')}`;
      })
      .join('');
    return new RegExp(parts.length === 0 ? '^/$' : `^${body}/?$`).test(address);
  });
  return Object.assign({}, ...matching.map(([, headers]) => headers)) as Record<string, string>;
}

function served(path: string, contentType: string): Record<string, string> {
  const csp = contentType.startsWith('text/html') ? POLICY : null;
  const record = { key: '', sha256: 'x'.repeat(64), bytes: 1, contentType, csp, variants: [] };
  const release = { manifest: { files: { [path]: record } }, read: () => Buffer.from('x') } as unknown as OpenRelease;
  const answer = fileAnswer(release, { path, isPublic: true, head: {} });
  return answer?.headers as Record<string, string>;
}

function expected(path: string, contentType: string): Record<string, string | undefined> {
  const isBadge = /(^|\/)badges\/[^/]+$/.test(path) && !path.endsWith('.html');
  const headers = isBadge
    ? Object.fromEntries(Object.entries(BADGE_HEADERS).map(([name, value]) => [name.toLowerCase(), value]))
    : served(path, contentType);
  // Rules are few, and without one both hosts have browsers ask again.
  if (PAGE_SCRIPTS.some((name) => name === path)) return { 'x-content-type-options': 'nosniff' };
  return {
    'cache-control': headers['cache-control'],
    'access-control-allow-origin': headers['access-control-allow-origin'],
    // What documents may do, they say themselves.
    'content-security-policy': headers['content-security-policy']?.replace(`${POLICY}; `, ''),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'cross-origin',
    'strict-transport-security': 'max-age=31536000',
  };
}

const FILES_OF_SITE: readonly string[] = SITE_FILES;
const LOCALES = ['ar', 'de', 'es', 'fr', 'ja', 'pt-BR', 'zh-Hans'];

describe('_headers', () => {
  const text = headersFile(true, true);
  const rules = parse(text);
  const page = outage();
  const files = filesWithBadges(page);
  const site = {
    url: 'https://status.example',
    name: 'Example',
    home: null,
    timezone: 'UTC',
    locale: 'en',
    historyDays: 400,
  };
  const siteFiles = listSiteFiles({ site, pages: [] });
  const addresses = [
    ...files.map(({ path, kind: { contentType } }) => ({ path, contentType, address: `/acme/${path}` })),
    ...siteFiles.map(({ path, kind: { contentType } }) => ({ path, contentType, address: `/${path}` })),
    // The copy of the home page; it is framed by the page's own address.
    ...files
      .filter(({ path }) => !FILES_OF_SITE.includes(path) && !path.startsWith('embed/') && path !== 'index.html')
      .map(({ path, kind: { contentType } }) => ({ path, contentType, address: `/${path}` })),
  ].flatMap((file) => {
    const folder = { ...file, address: file.address.replace(/index\.html$/, '') };
    // Where the gallery is, a rule for every file of the folder is meant for badges.
    return file.path === 'badges/index.html' || folder.address === file.address ? [folder] : [folder, file];
  });

  it.each([
    ['Cloudflare Pages', onCloudflare],
    ['Netlify', onNetlify],
  ])('give every file on %s the headers that our own server gives it', (_host, headersOn) => {
    expect(addresses.length).toBeGreaterThan(200);
    const wrong = addresses.flatMap(({ path, contentType, address }) => {
      const headers = headersOn(rules, address);
      const want = expected(path, contentType);
      return Object.keys(want)
        .filter((name) => headers[name] !== want[name])
        .map((name) => `${address} ${name}: ${headers[name]} instead of ${want[name]}`);
    });
    expect(wrong).toEqual([]);
  });

  it.each(['/acme/api/now.json', '/api/now.json'])('let nobody keep %s for longer than ten seconds', (address) => {
    for (const headersOn of [onCloudflare, onNetlify])
      expect(headersOn(rules, address)).toMatchObject({
        'cache-control': 'public, max-age=10',
        'access-control-allow-origin': '*',
      });
  });

  it('and what pages have at their root is nothing that an operator may serve in its place', () => {
    const own = filesWithBadges(outage(), { icon: { png: '' } }).map(({ path }) => path);
    const atRoot = [...own, ...listSiteFiles({ site, pages: [] }).map(({ path }) => path)].filter(
      (path) => !path.includes('/'),
    );
    expect(atRoot.length).toBeGreaterThan(15);
    expect(atRoot.filter((path) => !isOwnRootFile(path))).toEqual([]);
  });

  it('stay below the limits of Cloudflare Pages, however many pages there are', () => {
    expect(rules.length).toBeLessThanOrEqual(100);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(2_000);
    expect(rules.filter(([pattern]) => pattern.split('*').length > 2)).toEqual([]);
  });

  it('let nobody frame anything but embed pages', () => {
    for (const headersOn of [onCloudflare, onNetlify]) {
      expect(headersOn(rules, '/acme/embed/')['content-security-policy']).toBe('frame-ancestors *');
      expect(headersOn(rules, '/acme/')['content-security-policy']).toBe("frame-ancestors 'none'");
    }
  });

  it.each([
    [false, LOCALES.length],
    [true, 0],
  ])('frame no document in another language either, within the limits (home page: %s)', (hasHome, most) => {
    const spoken = parse(headersFile(true, hasHome, LOCALES));
    expect(parse(headersFile(true, hasHome, LOCALES.slice(0, most))).length).toBeLessThanOrEqual(100);
    const folders = files.filter(({ path }) => path.endsWith('.html')).map(({ path }) => path);
    expect(folders.length).toBeGreaterThan(20);
    for (const headersOn of [onCloudflare, onNetlify])
      for (const path of folders.flatMap((one) => [one, one.replace(/index\.html$/, '')])) {
        // What is taken for a badge, as in the default language.
        if (path === 'badges/index.html') continue;
        const headers = headersOn(spoken, `/acme/de/${path}`);
        const want = path.startsWith('embed/') ? 'frame-ancestors *' : "frame-ancestors 'none'";
        expect([path, headers['content-security-policy'], headers['content-language']]).toEqual([path, want, 'de']);
      }
    // At the root, lists of `api/v2/` are in folders that are called as those of documents, and get both policies.
    for (const { path, contentType, address } of addresses.filter((one) => one.address.startsWith('/acme/')))
      for (const headersOn of [onCloudflare, onNetlify])
        expect([address, headersOn(spoken, address)['content-security-policy']]).toEqual([
          address,
          expected(path, contentType)['content-security-policy'],
        ]);
  });

  it('tell browsers to stay with https only where the site is there', () => {
    expect(headersFile(false, false)).not.toContain('Strict-Transport-Security');
  });
});

describe('_redirects', () => {
  it('map domains of pages to their folders, and are not there without any', () => {
    expect(redirectsFile([])).toBeNull();
    const page = { slug: 'acme', domain: null, redirects: [], isHome: false };
    expect(redirectsFile([page])).toBeNull();
    expect(redirectsFile([{ ...page, domain: 'status.acme.example' }])).toBe(
      'https://status.acme.example/* /acme/:splat 200!\n',
    );
  });

  it('lead on from old addresses of pages, at the root too where the page is there', () => {
    const redirects = [
      ['issues/x/index.html', 'incidents/x/'],
      ['index.xml', 'feed.rss'],
    ] as const;
    const page = { slug: 'acme', domain: null, redirects, isHome: false };
    const own = '/acme/issues/x/ /acme/incidents/x/ 301\n/acme/index.xml /acme/feed.rss 301\n';
    expect(redirectsFile([page])).toBe(own);
    expect(redirectsFile([{ ...page, isHome: true }])).toBe(
      `${own}/issues/x/ /incidents/x/ 301\n/index.xml /feed.rss 301\n`,
    );
  });
});
