import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { parseFeed } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, type PageModel } from '../../../src/model/index.ts';
import { atomText, jsonFeedText, rssText } from '../../../src/publish/files/feed-text.ts';
import { feedInputs, feedView } from '../../../src/views/feeds/feeds.ts';
import { findWords } from '../../../src/views/words/index.ts';
import { ago, componentModel, incident, maintenance, pageModel } from '../../helpers/page-model.ts';
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

const feedsOf = (model: PageModel) => {
  const { of, history } = feedInputs(model);
  return {
    inputs: of,
    view: (...component: Parameters<typeof of>) => feedView(of(...component)),
    history: () => feedView(history()),
  };
};
const viewOf = (model: PageModel) => feedsOf(model).view();
/** What is typed as HTML comes with its attributes. */
const textOf = (value: string | { readonly '#text': string }) => (typeof value === 'string' ? value : value['#text']);

function atomEntries(model: PageModel): AtomEntry[] {
  return parseXml(atomText(viewOf(model))).feed.entry ?? [];
}

describe('Atom', () => {
  it('has an entry for each update, newest first, as an independent parser reads it', () => {
    const { feed } = parseXml(atomText(viewOf(outage())));
    expect(feed['@xmlns']).toBe('http://www.w3.org/2005/Atom');
    expect(feed.title).toBe('Acme');
    expect(feed.author.name).toBe('Acme');
    const titles = feed.entry.map((entry: AtomEntry) => textOf(entry.title));
    expect(titles.filter((title: string) => title.endsWith('The API and the web application do not answer'))).toEqual([
      'Identified: The API and the web application do not answer',
      'Investigating: The API and the web application do not answer',
    ]);
    expect(titles).toContain('Scheduled: Database upgrade');
    const changes = feed.entry.map(({ updated }: AtomEntry) => Date.parse(updated));
    expect(changes).toEqual(changes.toSorted((a: number, b: number) => b - a));
    expect(feed.updated).toBe(feed.entry[0].updated);
    for (const entry of feed.entry) expect(entry.published).toBe(entry.updated);
  });

  it('links to itself and to the page, and each entry to its own page', () => {
    const { feed } = parseXml(atomText(viewOf(calm())));
    expect(feed.link.map((link: Record<string, string>) => [link['@rel'], link['@href']])).toEqual([
      ['alternate', 'https://status.acme.example/acme/'],
      ['self', 'https://status.acme.example/acme/feed.atom'],
    ]);
    expect(feed.entry.at(-1).link['@href']).toBe('https://status.acme.example/acme/incidents/payments-october/');
  });

  it('carries the words of each update, with its status and Markdown drawn', () => {
    const [newest, first] = atomEntries(outage()).filter(({ title }) => textOf(title).includes('The API and'));
    expect(textOf(newest?.content ?? '')).toContain('<strong>Identified</strong>');
    expect(textOf(first?.content ?? '')).toContain('<strong>Investigating</strong>');
    expect(textOf(newest?.content ?? '') + textOf(first?.content ?? '')).toContain('<strong>No data is lost.</strong>');
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
    expect(Date.parse(channel.item[0].pubDate)).toBe(Date.parse(atomEntries(model)[0]?.updated ?? ''));
  });

  it('shows an update to readers that know items by id and date, with its words as HTML', () => {
    const before = pageModel({ incidents: [incident({ updateBodies: ['We **look**.'] })] });
    const after = pageModel({ incidents: [incident({ updateBodies: ['We **look**.', 'A _bad_ deploy.'] })] });
    const itemsOf = (model: PageModel) =>
      parseXml(rssText(viewOf(model))).rss.channel.item.map(
        (item: { guid: { '#text': string }; pubDate: string; description: string }) => item,
      );
    const [old] = itemsOf(before);
    const [update, same] = itemsOf(after);
    expect([same.guid['#text'], same.pubDate]).toEqual([old.guid['#text'], old.pubDate]);
    expect(update.guid['#text']).not.toBe(old.guid['#text']);
    expect(Date.parse(update.pubDate)).toBeGreaterThan(Date.parse(old.pubDate));
    expect(update.description).toContain('A <em>bad</em> deploy.');
    expect(update.description).not.toContain('_bad_');
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
      title: 'Investigating: R&D <b>down</b>',
      summary: 'Investigating: We are looking into it.',
      tags: ['incident', 'investigating', 'major'],
    });
  });

  it('is valid and empty when nothing ever happened', () => {
    expect(JSON.parse(jsonFeedText(viewOf(empty()))).items).toEqual([]);
    const young = { ...empty(), knownSince: ago(DAY_MS) };
    expect(parseXml(atomText(viewOf(young))).feed.updated).toBe(new Date(ago(DAY_MS)).toISOString());
  });
});

describe('the ids of entries', () => {
  it('stay when the page moves, its title changes and the incident goes on', () => {
    const before = incident({ updateBodies: ['one'] });
    const after = incident({ updateBodies: ['one', 'two'], title: 'Another title', status: 'identified' });
    const moved = pageModel({ incidents: [after], settings: { url: 'https://elsewhere.example/' } });
    const [first] = atomEntries(pageModel({ incidents: [before] }));
    const same = atomEntries(moved).at(-1);
    expect(same?.id).toBe(first?.id);
    expect(same?.id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(same?.published).toBe(first?.published);
  });

  it('are the same in the feed of the page and in that of each component', () => {
    const model = outage();
    const feeds = feedsOf(model);
    const ofPage = new Map(feeds.view().items.map(({ id, title, updatedAt }) => [title + updatedAt, id]));
    const api = model.components.find(({ definition }) => definition.id === 'api');
    const { items, title, atomUrl } = feeds.view(api);
    expect(title).toBe('Acme: API');
    expect(atomUrl).toBe('https://status.acme.example/acme/components/api/feed.atom');
    expect(items.map((item) => item.title)).toEqual([
      'Identified: The API and the web application do not answer',
      'Investigating: The API and the web application do not answer',
      'Scheduled: Database upgrade',
    ]);
    for (const item of items) expect(ofPage.get(item.title + item.updatedAt)).toBe(item.id);
  });
});

describe('how much a feed carries', () => {
  it('is the newest 50 stories of a page and 25 of a component, twice as many updates', () => {
    const model = longHistory(200, 2);
    const feeds = feedsOf(model);
    const storiesIn = (view: ReturnType<typeof viewOf>) => new Set(view.items.map(({ url }) => url)).size;
    expect([feeds.view().items.length, storiesIn(feeds.view())]).toEqual([100, 50]);
    const ofComponent = feeds.view(model.components[0]);
    expect([ofComponent.items.length, storiesIn(ofComponent)]).toEqual([50, 25]);
    expect(feeds.view().items[0]?.title).toContain('Incident number 0');
  });

  it('has what is open however old it is, and what is planned beside what happened', () => {
    const old = incident({ slug: 'old', title: 'Old and open', startedAt: ago(300 * DAY_MS), updateBodies: ['a'] });
    const over = Array.from({ length: 60 }, (_, index) =>
      incident({
        slug: `over-${index}`,
        startedAt: ago((index + 1) * DAY_MS),
        endedAt: ago((index + 1) * DAY_MS - HOUR_MS),
      }),
    );
    const plans = Array.from({ length: 30 }, (_, index) =>
      maintenance({ slug: `plan-${index}`, startsAt: ago(-(30 - index) * DAY_MS) }),
    );
    const { items } = feedsOf(pageModel({ incidents: [...over, old], maintenances: plans })).view();
    expect(items.map(({ title }) => title)).toContain('Investigating: Old and open');
    expect(new Set(items.filter(({ kind }) => kind === 'incident').map(({ url }) => url)).size).toBe(51);
    const planned = items.filter(({ kind }) => kind === 'maintenance');
    expect(planned.map(({ url }) => Number(/plan-(\d+)/.exec(url)?.[1])).toSorted((a, b) => a - b)).toEqual([
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
    ]);
  });

  it('never leaves out the newest word of a story', () => {
    const talkative = incident({
      slug: 'long',
      updateBodies: Array.from({ length: 300 }, (_, index) => `update ${index}`),
    });
    const quiet = incident({ slug: 'quiet', title: 'Quiet', startedAt: ago(90 * DAY_MS), endedAt: ago(89 * DAY_MS) });
    const { items } = feedsOf(pageModel({ incidents: [talkative, quiet] })).view();
    expect(items).toHaveLength(100);
    expect(items[0]?.updates[0]?.body).toBe('update 299');
    expect(items.at(-1)?.title).toContain('Quiet');
  });

  it('changes only the feeds of the components that an incident is about', () => {
    const components = [componentModel({ id: 'a' }), componentModel({ id: 'b' })];
    const over = incident({ slug: 'over', componentIds: ['b'], endedAt: ago(HOUR_MS) });
    const quiet = pageModel({ components, incidents: [over] });
    const loud = pageModel({ components, incidents: [incident({ componentIds: ['a'] }), over] });
    const inputs = (model: PageModel, index: number) => JSON.stringify(feedsOf(model).inputs(model.components[index]));
    expect(inputs(loud, 0)).not.toBe(inputs(quiet, 0));
    expect(inputs(loud, 1)).toBe(inputs(quiet, 1));
  });
});

describe('the history feeds', () => {
  it('have one entry for each story with all of its updates, newest first, as Statuspage has them', () => {
    const view = feedsOf(outage()).history();
    const { feed } = parseXml(atomText(view));
    expect(feed.entry.map((entry: AtomEntry) => textOf(entry.title))).toEqual([
      'The API and the web application do not answer',
      'Export workers move to new machines',
      'Database upgrade',
      'Search answered slowly',
      'Webhooks: connection refused',
      'Card payments declined',
    ]);
    expect(feed.link.map((link: Record<string, string>) => link['@href'])).toContain(
      'https://status.acme.example/acme/history.atom',
    );
    const content = textOf(feed.entry[0].content);
    expect(content.indexOf('Identified')).toBeGreaterThan(-1);
    expect(content.indexOf('Identified')).toBeLessThan(content.indexOf('Investigating'));
    const { channel } = parseXml(rssText(view)).rss;
    expect(channel.item).toHaveLength(6);
    expect(channel['atom:link']['@href']).toBe('https://status.acme.example/acme/history.rss');
  });

  it('keep the id of an entry while its story goes on, and move its date', () => {
    const idAndDate = (model: PageModel) =>
      feedsOf(model)
        .history()
        .items.map(({ id, updatedAt }) => [id, updatedAt]);
    const [before] = idAndDate(pageModel({ incidents: [incident({ updateBodies: ['one'] })] }));
    const [after] = idAndDate(pageModel({ incidents: [incident({ updateBodies: ['one', 'two'] })] }));
    expect(after?.[0]).toBe(before?.[0]);
    expect(Date.parse(after?.[1] ?? '')).toBeGreaterThan(Date.parse(before?.[1] ?? ''));
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
      expect(json.items).toHaveLength(4);
      for (const feed of [atomText(view), rssText(view), jsonFeedText(view)])
        for (const secret of SECRETS) expect(feed).not.toContain(secret);
    });

  it('reaches a reader as the text it was, with no markup of its own', () => {
    const text = ']]>]]><script>alert(1)</script>]]> & "quoted"';
    const model = hostilePage(text);
    const [entry] = atomEntries(model);
    expect(entry?.title).toBe(`Investigating: ${text}`);
    const { channel } = parseXml(rssText(viewOf(model))).rss;
    expect(channel.item[0].title).toBe(`Investigating: ${text}`);
    expect(atomText(viewOf(model)) + rssText(viewOf(model))).not.toContain('<script');
    expect(textOf(entry?.content ?? '')).not.toContain('<script');
  });

  it('never becomes a link that runs or a picture that calls out', () => {
    const attack =
      '[x](javascript:alert(1)) ![y](https://evil.example/p.png) <img src=x onerror=alert(1)> <a href="data:text/html,x">z</a>';
    const content = textOf(atomEntries(hostilePage(attack))[0]?.content ?? '');
    expect(content).not.toMatch(/<(?:img|script|iframe|svg)|<[^>]*href="(?!https?:|mailto:)/i);
  });
});

describe('titles', () => {
  const title = `Search & billing: R&D's <b>"new"</b> &amp; ]]> api`;
  const model = pageModel({ incidents: [incident({ title })] });

  it('reach a reader that shows them as they stand', () => {
    for (const feed of [atomText(viewOf(model)), rssText(viewOf(model))]) {
      expect(parseFeed(feed)?.items.map((item) => item.title)).toEqual([`Investigating: ${title}`]);
      expect(feed).not.toMatch(/<title[^>]*type="html"|<title[^>]*><!\[CDATA/);
    }
  });

  it('tell components of one name apart', () => {
    const components = ['Frankfurt', 'Oslo'].map((place) => ({
      ...componentModel({ id: `queue-${place}`, name: 'Queue' }),
      name: `Queue, ${place}`,
    }));
    const oslo = pageModel({ components, incidents: [incident({ componentIds: ['queue-Oslo'] })] });
    const feeds = feedsOf(oslo);
    expect(oslo.components.map((component) => feeds.view(component).title)).toEqual([
      'Acme: Queue, Frankfurt',
      'Acme: Queue, Oslo',
    ]);
    expect(feeds.view().items.flatMap((item) => item.components)).toEqual(['Queue, Oslo']);
  });
});

describe('what happened in one instant', () => {
  const at = ago(HOUR_MS);
  const incidents = ['a', 'b', 'c'].map((slug) =>
    incident({ id: slug, slug, title: slug, startedAt: at, updateBodies: ['one'] }),
  );
  const talked = incident({ id: 'd', slug: 'd', startedAt: ago(2 * HOUR_MS), updateBodies: ['one', 'two', 'three'] });
  const together = { ...talked, updates: talked.updates.map((update) => ({ ...update, at })) };
  const model = pageModel({ incidents: [...incidents, together] });

  it('has a date of its own in every entry, within the second, and keeps its order', () => {
    const feeds = feedsOf(model);
    for (const view of [feeds.view(), feeds.history()]) {
      const entries: AtomEntry[] = parseXml(atomText(view)).feed.entry;
      const dates = entries.map(({ updated }) => Date.parse(updated));
      expect(new Set(dates).size).toBe(entries.length);
      expect(dates).toEqual(dates.toSorted((a, b) => b - a));
    }
    const { items } = feeds.view();
    expect(items).toHaveLength(6);
    for (const { publishedAt, updatedAt } of items) {
      expect(Date.parse(publishedAt)).toBe(at);
      expect(at - Date.parse(updatedAt)).toBeLessThan(1_000);
    }
    const words = items.filter(({ url }) => url.endsWith('/d/')).map(({ updates }) => updates[0]?.body);
    expect(words).toEqual(['three', 'two', 'one']);
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
  expect(content).toContain(`<strong>${findWords('de').statusInvestigating}</strong>`);
  expect(content).toContain('<time datetime="2026-11-21T06:31:00.000Z">21. Nov. 2026, 07:31 MEZ</time>');
});
