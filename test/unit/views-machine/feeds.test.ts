import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, type PageModel } from '../../../src/model/index.ts';
import { atomText, jsonFeedText, rssText } from '../../../src/publish/files/feed-text.ts';
import { feedInputs, feedView } from '../../../src/views/feeds/feeds.ts';
import { wordsOf } from '../../../src/views/words/index.ts';
import { ago, componentModel, incident, pageModel } from '../../helpers/page-model.ts';
import { calm, empty, longHistory, outage, rightToLeft } from '../../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage, SECRETS } from './hostile.ts';

interface AtomEntry {
  readonly id: string;
  readonly title: string;
  readonly link: { readonly '@href': string };
  readonly updated: string;
  readonly published: string;
  readonly content: string;
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => name === 'entry' || name === 'item' || name === 'category',
});

function parseXml(text: string) {
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) throw new Error(`not well-formed: ${JSON.stringify(verdict.err)}`);
  return parser.parse(text);
}

const viewOf = (model: PageModel) => feedView(feedInputs(model)());
/** Titles are typed as HTML, so a reader decodes what XML gives it once more. */
const textOf = (value: string | { readonly '#text': string }) => (typeof value === 'string' ? value : value['#text']);

function atomEntries(model: PageModel): AtomEntry[] {
  return parseXml(atomText(viewOf(model))).feed.entry ?? [];
}

describe('Atom', () => {
  it('has incidents and maintenance, latest change first, as an independent parser reads it', () => {
    const { feed } = parseXml(atomText(viewOf(outage())));
    expect(feed['@xmlns']).toBe('http://www.w3.org/2005/Atom');
    expect(feed.title).toBe('Acme');
    expect(feed.author.name).toBe('Acme');
    expect(feed.entry.map((entry: AtomEntry) => textOf(entry.title))).toEqual([
      'The API and the web application do not answer',
      'Export workers move to new machines',
      'Database upgrade',
      'Search answered slowly',
      'Webhooks: connection refused',
      'Card payments declined',
    ]);
    const changes = feed.entry.map(({ updated }: AtomEntry) => Date.parse(updated));
    expect(changes).toEqual(changes.toSorted((a: number, b: number) => b - a));
    expect(feed.updated).toBe(feed.entry[0].updated);
  });

  it('links to itself and to the page, and each entry to its own page', () => {
    const { feed } = parseXml(atomText(viewOf(calm())));
    expect(feed.link.map((link: Record<string, string>) => [link['@rel'], link['@href']])).toEqual([
      ['alternate', 'https://status.acme.example/acme/'],
      ['self', 'https://status.acme.example/acme/feed.atom'],
    ]);
    expect(feed.entry.at(-1).link['@href']).toBe('https://status.acme.example/acme/incidents/payments-october/');
  });

  it('carries every update, newest first, with its status and Markdown drawn', () => {
    const [entry] = atomEntries(outage());
    const content = textOf(entry?.content ?? '');
    expect(content).toContain('<strong>No data is lost.</strong>');
    expect(content.indexOf('Identified')).toBeGreaterThan(-1);
    expect(content.indexOf('Identified')).toBeLessThan(content.indexOf('Investigating'));
  });
});

describe('RSS', () => {
  it('has the same items as Atom with ids that are not addresses', () => {
    const model = outage();
    const { channel } = parseXml(rssText(viewOf(model))).rss;
    expect(channel.item.map((item: { guid: { '#text': string } }) => item.guid['#text'])).toEqual(
      atomEntries(model).map(({ id }) => id),
    );
    expect(channel.item[0].guid['@isPermaLink']).toBe('false');
    expect(channel['atom:link']['@href']).toBe('https://status.acme.example/acme/feed.rss');
    expect(Date.parse(channel.item[0].pubDate)).toBe(ago(47 * MINUTE_MS));
  });
});

describe('JSON Feed', () => {
  it('is version 1.1 with the same items, titles as plain text', () => {
    const model = pageModel({ incidents: [incident({ title: 'R&D <b>down</b>' })] });
    const feed = JSON.parse(jsonFeedText(viewOf(model)));
    expect(feed).toMatchObject({
      version: 'https://jsonfeed.org/version/1.1',
      home_page_url: 'https://status.acme.example/acme/',
      feed_url: 'https://status.acme.example/acme/feed.json',
      language: 'en',
      authors: [{ name: 'Acme' }],
    });
    expect(feed.items).toHaveLength(1);
    expect(feed.items[0]).toMatchObject({
      id: atomEntries(model)[0]?.id,
      title: 'R&D <b>down</b>',
      tags: ['incident', 'investigating', 'major'],
    });
  });

  it('is valid and empty when nothing ever happened', () => {
    expect(JSON.parse(jsonFeedText(viewOf(empty()))).items).toEqual([]);
    expect(parseXml(atomText(viewOf(empty()))).feed.updated).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('the ids of entries', () => {
  it('stay when the page moves, its title changes and the incident goes on', () => {
    const before = incident({ updateBodies: ['one'] });
    const after = incident({ updateBodies: ['one', 'two'], title: 'Another title', status: 'identified' });
    const moved = pageModel({ incidents: [after], settings: { url: 'https://elsewhere.example/' } });
    const [first] = atomEntries(pageModel({ incidents: [before] }));
    const [second] = atomEntries(moved);
    expect(second?.id).toBe(first?.id);
    expect(second?.id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Date.parse(second?.updated ?? '')).toBeGreaterThan(Date.parse(first?.updated ?? ''));
    expect(second?.published).toBe(first?.published);
  });

  it('are the same in the feed of the page and in that of each component', () => {
    const model = outage();
    const inputs = feedInputs(model);
    const ofPage = new Map(feedView(inputs()).items.map(({ id, title }) => [title, id]));
    const api = model.components.find(({ definition }) => definition.id === 'api');
    const { items, title, atomUrl } = feedView(inputs(api));
    expect(title).toBe('Acme: API');
    expect(atomUrl).toBe('https://status.acme.example/acme/components/api/feed.atom');
    expect(items.map((item) => item.title)).toEqual([
      'The API and the web application do not answer',
      'Database upgrade',
    ]);
    for (const item of items) expect(ofPage.get(item.title)).toBe(item.id);
  });
});

describe('how much a feed carries', () => {
  it('is 50 items for a page and 25 for a component', () => {
    const model = longHistory(200, 2);
    const inputs = feedInputs(model);
    expect(feedView(inputs()).items).toHaveLength(50);
    expect(feedView(inputs(model.components[0])).items).toHaveLength(25);
    expect(feedView(inputs()).items[0]?.title).toBe('Incident number 0');
  });

  it('changes only the feeds of the components that an incident is about', () => {
    const components = [componentModel({ id: 'a' }), componentModel({ id: 'b' })];
    const over = incident({ slug: 'over', componentIds: ['b'], endedAt: ago(HOUR_MS) });
    const quiet = pageModel({ components, incidents: [over] });
    const loud = pageModel({ components, incidents: [incident({ componentIds: ['a'] }), over] });
    const inputs = (model: PageModel, index: number) => JSON.stringify(feedInputs(model)(model.components[index]));
    expect(inputs(loud, 0)).not.toBe(inputs(quiet, 0));
    expect(inputs(loud, 1)).toBe(inputs(quiet, 1));
  });
});

describe('hostile text', () => {
  for (const [index, text] of HOSTILE_TEXTS.entries())
    it(`number ${index} leaves every feed well-formed and says nothing that is not public`, () => {
      const view = viewOf(hostilePage(text));
      for (const feed of [atomText(view), rssText(view)]) {
        parseXml(feed);
        expect(feed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/);
        expect(feed.isWellFormed()).toBe(true);
      }
      const json = JSON.parse(jsonFeedText(view));
      expect(json.items).toHaveLength(3);
      for (const feed of [atomText(view), rssText(view), jsonFeedText(view)])
        for (const secret of SECRETS) expect(feed).not.toContain(secret);
    });

  it('reaches a reader as the text it was, with no markup of its own', () => {
    const text = ']]>]]><script>alert(1)</script>]]> & "quoted"';
    const model = hostilePage(text);
    const [entry] = atomEntries(model);
    const title = textOf(entry?.title ?? '');
    expect(title).not.toContain('<script');
    expect(
      title
        .replace(/&lt;/g, '<')
        .replace(/&gt;/g, '>')
        .replace(/&quot;/g, '"')
        .replace(/&amp;/g, '&'),
    ).toBe(text);
    expect(textOf(entry?.content ?? '')).not.toContain('<script');
  });

  it('never becomes a link that runs or a picture that calls out', () => {
    const attack =
      '[x](javascript:alert(1)) ![y](https://evil.example/p.png) <img src=x onerror=alert(1)> <a href="data:text/html,x">z</a>';
    const content = textOf(atomEntries(hostilePage(attack))[0]?.content ?? '');
    expect(content).not.toMatch(/<(?:img|script|iframe|svg)|<[^>]*href="(?!https?:|mailto:)/i);
  });
});

it('the same model gives the same bytes, and the present leaves them alone', () => {
  const texts = [outage(), outage(), { ...outage(), asOf: ago(-5 * MINUTE_MS), staleAfter: ago(-DAY_MS) }].map(
    (model) => {
      const view = viewOf(model);
      return [atomText(view), rssText(view), jsonFeedText(view)];
    },
  );
  expect(texts[1]).toEqual(texts[0]);
  expect(texts[2]).toEqual(texts[0]);
});

it('the feed of a page speaks its language and tells the time of its zone', () => {
  expect(viewOf(rightToLeft()).language).toBe('ar');
  const german = pageModel({ incidents: [incident()], settings: { locale: 'de' } });
  const content = textOf(atomEntries(german)[0]?.content ?? '');
  expect(content).toContain(`<strong>${wordsOf('de').statusInvestigating}</strong>`);
  expect(content).toContain('<time datetime="2026-11-21T06:31:00.000Z">21. Nov. 2026, 07:31 MEZ</time>');
});
