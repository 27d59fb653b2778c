import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { llmsText, robotsText, sitemapText } from '../../../src/publish/files/kinds.ts';
import { siteIndexFiles } from '../../../src/publish/files/site-files.ts';
import { llmsView, robotsView, type SitePage, sitemapView } from '../../../src/views/site/crawlers.ts';
import { type PageInit, pageModel } from '../../helpers/page-model.ts';
import { calm, longHistory, outage } from '../../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage, SECRETS } from './hostile.ts';

const SITE = { url: 'https://status.example.com/', name: 'Example' };
const noHtml = { render: () => Promise.reject(new Error('no HTML here')) };

function page(slug: string, init: PageInit = {}): SitePage {
  return pageModel({
    ...init,
    definition: { slug, title: `Title of ${slug}`, description: `About ${slug}`, ...init.definition },
    settings: { url: `https://status.example.com/${slug}/`, ...init.settings },
  });
}

const PAGES: readonly SitePage[] = [
  page('open'),
  page('canary-password', { definition: { access: 'password' } }),
  page('canary-domain', { definition: { access: 'email-domain' } }),
  page('canary-closed', { definition: { access: 'closed' } }),
  page('canary-draft', { definition: { published: false } }),
  page('canary-unlisted', { settings: { allowIndex: false } }),
  page('other', { settings: { url: 'https://status.other.example/' } }),
];

async function siteTexts(): Promise<Record<string, string>> {
  const entries = siteIndexFiles(SITE, PAGES).map(async (entry) => [
    entry.path,
    String((await entry.draw(noHtml)).body),
  ]);
  return Object.fromEntries(await Promise.all(entries));
}

function locationsOf(text: string): string[] {
  expect(XMLValidator.validate(text)).toBe(true);
  const parsed = new XMLParser({ isArray: (name) => name === 'url' || name === 'sitemap' }).parse(text);
  const entries = parsed.urlset?.url ?? parsed.sitemapindex?.sitemap ?? [];
  return entries.map(({ loc }: { loc: string }) => loc);
}

describe('the files of a whole site', () => {
  it('name public, published, listed pages and leave no trace of any other', async () => {
    const texts = await siteTexts();
    expect(Object.keys(texts)).toEqual(['robots.txt', 'sitemap.xml', 'llms.txt']);
    for (const text of Object.values(texts)) expect(text).not.toContain('canary');
    expect(texts['llms.txt']).toContain('[Title of open](https://status.example.com/open/llms.txt): About open');
  });

  it('point at the sitemap of each page on the host of the site, and at no other host', async () => {
    const texts = await siteTexts();
    expect(locationsOf(texts['sitemap.xml'] ?? '')).toEqual(['https://status.example.com/open/sitemap.xml']);
    expect(texts['robots.txt']).toContain('Sitemap: https://status.example.com/sitemap.xml\n');
    expect(texts['llms.txt']).toContain('https://status.other.example/llms.txt');
  });
});

describe('the index of sitemaps', () => {
  it('is there only where it names a sitemap, and robots.txt names only what is there', async () => {
    const own = PAGES.filter(({ definition }) => definition.slug !== 'open');
    const texts = Object.fromEntries(
      await Promise.all(
        siteIndexFiles(SITE, own).map(async (entry) => [entry.path, String((await entry.draw(noHtml)).body)]),
      ),
    );
    expect(Object.keys(texts)).toEqual(['robots.txt', 'llms.txt']);
    expect(texts['robots.txt']).toBe('User-agent: *\nAllow: /\n');
  });
});

describe('the sitemap of a page', () => {
  it('lists its own pages with the instant each last changed', () => {
    const text = sitemapText(sitemapView(calm()));
    const locations = locationsOf(text);
    expect(locations[0]).toBe('https://status.acme.example/acme/');
    expect(locations).toContain('https://status.acme.example/acme/incidents/slow-search/');
    expect(locations).toContain('https://status.acme.example/acme/components/api/');
    expect(locations).toContain('https://status.acme.example/acme/history/2026-10/');
    expect(new Set(locations).size).toBe(locations.length);
    expect(text).toContain('incidents/slow-search/</loc><lastmod>2026-11-18T08:31:00.000Z</lastmod>');
  });

  it('stays within the limit of the protocol', () => {
    expect(sitemapView(longHistory(50_100, 1)).urls).toHaveLength(50_000);
  });
});

describe('robots.txt of a page', () => {
  it('keeps robots out of whatever is not public and listed', () => {
    for (const one of PAGES) {
      const isListed = one.definition.slug === 'open' || one.definition.slug === 'other';
      expect(robotsText(robotsView(one))).toContain(isListed ? 'Allow: /\n' : 'Disallow: /\n');
      expect(robotsText(robotsView(one)).includes('Sitemap')).toBe(isListed);
    }
  });
});

describe('llms.txt of a page', () => {
  it('says state, components and where the data is', () => {
    const text = llmsText(llmsView(outage()));
    expect(text.split('\n')[0]).toBe('# Acme');
    expect(text).toContain('Current state: Partial System Outage.');
    expect(text).toContain('- [Core: API](https://status.acme.example/acme/components/api/): major\\_outage');
    expect(text).toContain('https://status.acme.example/acme/api/v2/summary.json');
  });

  it('is text in which no upstream can place a link, a heading or a line of its own', () => {
    const lines = (text: string) => llmsText(llmsView(hostilePage(text))).split('\n').length;
    for (const text of HOSTILE_TEXTS) {
      const drawn = llmsText(llmsView(hostilePage(text)));
      expect(lines(text)).toBe(lines('plain'));
      expect(drawn.match(/(?<!\\)\]\((?!https:\/\/status\.acme\.example\/)/g)).toBeNull();
      for (const secret of SECRETS) expect(drawn).not.toContain(secret);
    }
  });
});
