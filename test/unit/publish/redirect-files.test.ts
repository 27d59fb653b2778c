import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { pageFiles } from '../../../src/publish/files/files.ts';
import { faultOfBody } from '../../../src/publish/releases/write.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { eventful } from '../../helpers/page-scenes.ts';

const model = eventful();
const [incident] = model.incidents;
const slug = incident?.slug ?? '';

function redirects(given: Record<string, string>) {
  return pageFiles(model, { redirects: given }).filter(({ kind }) => kind.name === 'redirect');
}

async function drawn(given: Record<string, string>) {
  return Promise.all(
    redirects(given).map(async (entry) => {
      const { body, location } = await entry.draw({ render: () => Promise.reject(new Error('no page of Astro')) });
      expect(faultOfBody(entry.kind.contentType, Buffer.from(body))).toBeNull();
      return [entry.path, location, /url=([^"]*)"/.exec(String(body))?.[1]];
    }),
  );
}

describe('redirects of a page', () => {
  it('are files at their old addresses that lead to the new one', async () => {
    const given = {
      '/issues/old/': `/incidents/${slug}/`,
      '/incident/12': `/incidents/${slug}`,
      '/index.xml': '/feed.rss',
      '/status/default/': '/',
    };
    expect(await drawn(given)).toEqual([
      ['issues/old/index.html', `incidents/${slug}/`, `../../incidents/${slug}/`],
      ['incident/12/index.html', `incidents/${slug}/`, `../../incidents/${slug}/`],
      ['index.xml', 'feed.rss', 'feed.rss'],
      ['status/default/index.html', '', '../../'],
    ]);
  });

  it('never take the place of what the page has, nor lead to what it has not', () => {
    const paths = pageFiles(model).map(({ path }) => path);
    const given = {
      [`/incidents/${slug}/`]: '/',
      '/history/': '/',
      '/feed.rss/x/': '/',
      '/feed.atom': '/',
      '/gone/': '/incidents/never-was/',
      '/twice': '/',
      '/twice/': '/history/',
    };
    expect(redirects(given).map(({ path }) => path)).toEqual(['twice/index.html']);
    const all = pageFiles(model, { redirects: given }).map(({ path }) => path);
    expect(all).toEqual([...paths, 'twice/index.html']);
  });

  it('are below the page, and not where the server answers by itself', () => {
    const faultOf = (from: string, to = '/'): string => {
      const text = `site: { url: "https://s.example" }\npages: [{ slug: acme, redirects: { ${JSON.stringify(from)}: ${JSON.stringify(to)} } }]`;
      try {
        parseConfig({ text, file: null, folder: '.' }, CONNECTORS, {});
        return '';
      } catch (error) {
        return String((error as Error).message);
      }
    };
    for (const fine of ['/issues/2024-a.b/', '/incident/12', '/index.xml', '/loginfo/', '/a~b/c@d'])
      expect(faultOf(fine)).toBe('');
    for (const bad of [
      'issues/x',
      '//evil.test/',
      '/../x/',
      '/a/./b',
      '/a//b',
      'https://evil.test/',
      '/a b/',
      '/"><b>',
    ])
      expect([bad, faultOf(bad)]).toEqual([bad, expect.stringContaining('expected a path below the page')]);
    for (const own of ['/-/ops/', '/login/', '/logout', '/'])
      expect([own, faultOf(own)]).toEqual([own, expect.stringContaining('the server uses this address itself')]);
    expect(faultOf('/x/', '//evil.test/')).toContain('expected a path below the page');
  });
});
