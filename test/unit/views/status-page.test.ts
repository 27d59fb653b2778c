import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, STATES, type State, toEpochMs } from '../../../src/model/index.ts';
import { componentView } from '../../../src/views/component/component.ts';
import { calendarView } from '../../../src/views/feeds/feeds.ts';
import { uptimeCalendarView } from '../../../src/views/history/uptime-calendar.ts';
import { statusPageView } from '../../../src/views/page/status-page.ts';
import { llmsView } from '../../../src/views/site/crawlers.ts';
import { CATALOGUES } from '../../../src/views/words/index.ts';
import { pagesOf } from '../../helpers/every-page.ts';
import {
  AS_OF,
  ago,
  announcement,
  componentModel,
  incident,
  maintenance,
  pageModel,
} from '../../helpers/page-model.ts';
import { calm, empty, manyComponents, outage, stale } from '../../helpers/page-scenes.ts';

const stateOf = (states: readonly State[]) =>
  pageModel({
    components: states.map((state, index) => componentModel({ id: `c${index}`, name: `C${index}`, state })),
  });

const plain = (details: ReturnType<typeof statusPageView>['banner']['details']) =>
  details.map((parts) => parts.map((part) => (typeof part === 'string' ? part : part.text)).join(''));

describe('updates in a list', () => {
  const told = (updates: number, endedAgoMs: number | null = null) => {
    const one = incident({
      updateBodies: Array.from({ length: updates }, (_, index) => `Word ${index + 1}.`),
      startedAt: ago(11 * HOUR_MS),
      endedAt: endedAgoMs === null ? null : ago(endedAgoMs),
    });
    const { openIncidents, past } = statusPageView(pageModel({ incidents: [one] }));
    return [...openIncidents, ...past.incidents].map((event) => [event.updates.length, event.olderText, event.allText]);
  };

  it('are the newest six of what is open, with how many there are before and the way to all of them', () => {
    expect(told(1)).toEqual([[1, '', '']]);
    expect(told(2)).toEqual([[2, '1 earlier update', '']]);
    expect(told(6)).toEqual([[6, '5 earlier updates', '']]);
    expect(told(7)).toEqual([[6, '6 earlier updates', 'All updates (7)']]);
    expect(told(30)).toEqual([[6, '29 earlier updates', 'All updates (30)']]);
  });

  it('are the last one of what is over, with the way to the others', () => {
    expect(told(1, HOUR_MS)).toEqual([[1, '', '']]);
    expect(told(30, HOUR_MS)).toEqual([[1, '', 'All updates (30)']]);
  });
});

it('shows the description of a page as Markdown, harmless, and says it in plain text elsewhere', () => {
  const model = pageModel({
    definition: { description: 'How **we** do, [in short](https://www.acme.example/). <img src=x onerror=alert(1)>' },
  });
  expect(statusPageView(model).descriptionHtml).toMatch(
    /^<p>How <strong>we<\/strong> do, <a href="https:[^>]*>in short<\/a>\. &lt;img/,
  );
  const text = 'How we do, in short (https://www.acme.example/). <img src=x onerror=alert(1)>';
  expect(calendarView(model).description).toBe(text);
  expect(llmsView(model).summary).toContain(text);
});

describe('the description of every page', () => {
  it.each(Object.keys(CATALOGUES))('ends each sentence once, in %s', (locale) => {
    const scenes = [calm, outage, stale].flatMap((scene) => pagesOf(scene({ settings: { locale } })));
    const descriptions = scenes.map(({ view }) => view.shell.description);
    expect(descriptions.length).toBeGreaterThan(60);
    expect(descriptions.filter((text) => /[.。!?]\s*[.。]/.test(text))).toEqual([]);
  });

  it.each(['ja', 'zh-Hans'])('ends sentences with the full stop of %s', (locale) => {
    const { description } = statusPageView(outage({ settings: { locale } })).shell;
    expect(description.match(/。/g)?.length).toBeGreaterThan(1);
    expect(description).not.toMatch(/\.(?: |$)/);
  });
});

describe('the sentence at the top', () => {
  it('says in words what the state is', () => {
    expect(statusPageView(stateOf(['operational', 'operational'])).banner).toEqual({
      state: 'operational',
      sentence: 'All systems operational',
      details: [],
    });
    expect(statusPageView(empty()).banner.sentence).toBe('Current status unknown');
  });

  it('names what is affected, worst first, and counts what is well', () => {
    const { banner } = statusPageView(
      stateOf(['degraded', 'major_outage', 'operational', 'major_outage', 'operational']),
    );
    expect(banner.sentence).toBe('Partial outage');
    expect(plain(banner.details)).toEqual([
      'Down: C1 and C3.',
      'Degraded: C0.',
      'All other components are operational.',
    ]);
  });

  it('names the only component that is in trouble', () => {
    expect(statusPageView(stateOf(['major_outage', 'operational'])).banner.sentence).toBe('C0 is down');
    expect(statusPageView(stateOf(['degraded', 'operational'])).banner.sentence).toBe('C0 is degraded');
    expect(statusPageView(stateOf(['major_outage', 'degraded'])).banner.sentence).toBe('Partial outage');
  });

  it('is in the title of the document while something is wrong, so that a tab shows it', () => {
    const titleOf = (...states: State[]) => statusPageView(stateOf(states)).shell.title;
    expect(titleOf('major_outage', 'operational')).toBe('C0 is down · Acme');
    expect(titleOf('operational', 'paused')).toBe('Acme');
    expect(titleOf('unknown')).toBe('Acme');
  });

  it('lists a few names and counts the rest', () => {
    const { details } = statusPageView(stateOf(Array.from({ length: 30 }, () => 'major_outage'))).banner;
    expect(plain(details)).toEqual(['Down: C0, C1, C2, C3, C4, and 25 others.']);
  });

  it('links each name to its row, and the row is there', () => {
    const view = statusPageView(outage());
    const links = view.banner.details.flat().flatMap((part) => (typeof part === 'string' ? [] : [part.href.slice(1)]));
    const anchors = view.sections.flatMap(({ components }) => components.map(({ anchor }) => anchor));
    expect(links.length).toBe(4);
    for (const link of links) expect(anchors).toContain(link);
  });
});

describe('never wrong-green', () => {
  it('says that everything is working only when every component is operational or paused', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATES), { maxLength: 6 }), (states) => {
        const { banner } = statusPageView(stateOf(states));
        const isAllWell =
          states.includes('operational') && states.every((one) => one === 'operational' || one === 'paused');
        expect(banner.sentence === 'All systems operational').toBe(isAllWell);
      }),
      { numRuns: 60 },
    );
  });

  it('warns on stale data and shows its components as unknown', () => {
    const { shell, sections, banner } = statusPageView(stale());
    expect(shell.freshness?.isStale).toBe(true);
    expect(shell.freshness?.dataFrom?.text).toContain('Nov 21, 2026, 07:31');
    expect(banner.state).toBe('unknown');
    expect(new Set(sections.flatMap(({ components }) => components.map(({ stateWord }) => stateWord)))).toEqual(
      new Set(['No data']),
    );
  });

  it('says so when nothing was ever heard', () => {
    const { shell } = statusPageView(pageModel({ dataFrom: null, isStale: true }));
    expect(shell.freshness?.dataFrom).toBeNull();
  });

  it('shows no uptime where nothing was observed', () => {
    const view = statusPageView(pageModel({ components: [componentModel({ knownDays: 0, state: 'unknown' })] }));
    expect(view.sections[0]?.components[0]?.uptime).toBe('–');
  });
});

describe('what is on the page', () => {
  it('has open incidents with their updates, newest first, and not those that are over', () => {
    const view = statusPageView(outage());
    expect(view.openIncidents.map((one) => one.slug)).toEqual(['api-down']);
    expect(view.openIncidents[0]?.updates.map((one) => one.status)).toEqual(['Identified', 'Investigating']);
    expect(view.openIncidents[0]?.affects).toBe('Affects Web application, API, and Webhooks');
    expect(view.past.incidents.map((one) => one.slug)).toEqual(['slow-search', 'edge-77']);
  });

  it('has an incident that is over among the past ones', () => {
    const model = pageModel({ incidents: [incident({ endedAt: ago(HOUR_MS) })] });
    expect(statusPageView(model).openIncidents).toEqual([]);
    expect(statusPageView(model).past.incidents).toHaveLength(1);
  });

  it('has running maintenance apart from coming maintenance, soonest first', () => {
    const coming = (days: number) =>
      maintenance({ slug: `m${days}`, startsAt: ago(-days * DAY_MS), endsAt: ago(-days * DAY_MS - HOUR_MS) });
    const running = maintenance({ slug: 'now', status: 'in_progress', startsAt: ago(HOUR_MS), endsAt: ago(-HOUR_MS) });
    const view = statusPageView(pageModel({ maintenances: [coming(9), coming(2), running] }));
    expect(view.comingMaintenance.map((one) => one.slug)).toEqual(['m2', 'm9']);
    expect(view.runningMaintenance.map((one) => one.slug)).toEqual(['now']);
  });

  it('shows since when a component has been in trouble', () => {
    const trouble = { state: 'major_outage', startedAgoMs: 47 * MINUTE_MS } as const;
    const [section] = statusPageView(pageModel({ components: [componentModel({ troubles: [trouble] })] })).sections;
    expect(section?.components[0]?.since?.text).toBe('08:44 GMT+1');
  });

  it('shows groups with their worst state and the uptime of all their components', () => {
    const view = statusPageView(outage());
    expect(view.sections.map(({ group }) => [group?.name, group?.state])).toEqual([
      ['Core', 'partial_outage'],
      ['Messages and delivery', 'degraded'],
      ['Everything else', 'maintenance'],
    ]);
    expect(view.sections[0]?.group?.uptime).toMatch(/^99\.\d\d%$/);
  });

  it('folds the groups of many components to one bar, and puts first what does not work', () => {
    const model = manyComponents(200);
    const { sections, longList, banner } = statusPageView(model);
    const failing = model.components.filter(({ state }) => state === 'major_outage').map(({ name }) => name);
    expect(failing).toHaveLength(5);
    expect(longList).toMatchObject({ count: 200, failingMore: '' });
    expect(longList?.failing.map(({ name }) => name)).toEqual(failing);
    for (const { group, components } of sections) {
      expect(group?.isOpen).toBe(false);
      expect(group?.letters).toHaveLength(90);
      expect(
        components.every(({ anchor }) => anchor === null),
        'anchors are of the rows on top',
      ).toBe(true);
    }
    const anchors = longList?.failing.map(({ anchor }) => `#${anchor}`);
    for (const part of banner.details.flat()) if (typeof part !== 'string') expect(anchors).toContain(part.href);
  });

  it('lists a screen of those that do not work, and counts the others', () => {
    const model = manyComponents(60);
    const components = model.components.map((one) => ({ ...one, state: 'unknown' as const }));
    const { longList, sections } = statusPageView({ ...model, components });
    expect(longList?.failing).toHaveLength(25);
    expect(longList?.failingMore).toBe('35 more below');
    expect(sections.flatMap((one) => one.components).filter(({ anchor }) => anchor !== null)).toHaveLength(35);
  });

  it('opens the groups of few components, and one in trouble whatever it says', () => {
    const model = manyComponents(25);
    const groups = model.definition.groups.map((group) => ({ ...group, defaultOpen: false }));
    const { sections, longList } = statusPageView({ ...model, definition: { ...model.definition, groups }, groups });
    expect(longList).toBeNull();
    for (const { group } of sections) expect(group?.isOpen).toBe(group?.state !== 'operational');
    expect(statusPageView(model).sections.every(({ group }) => group?.isOpen)).toBe(true);
  });

  it('carries the address, the theme, the links and the look of its definition', () => {
    const { shell } = statusPageView(
      calm({
        definition: {
          theme: 'dark',
          contactUrl: 'javascript:alert(1)',
          icon: '/logo.png',
          homepageUrl: 'https://www.acme.example',
        },
        settings: { accentColor: '#aa0000' },
      }),
    );
    expect(shell).toMatchObject({
      canonical: 'https://status.acme.example/acme/',
      socialImage: 'https://status.acme.example/acme/og.png',
      theme: 'dark',
      contact: null,
      icon: 'https://status.acme.example/logo.png',
      homepage: { href: 'https://www.acme.example/', text: 'Go to acme.example' },
      themeCss: expect.stringContaining('--brand:#aa0000;'),
      isIndexed: true,
    });
  });

  it('keeps a gated page out of indexes and social images', () => {
    const { shell } = statusPageView(calm({ definition: { access: 'password' } }));
    expect([shell.isIndexed, shell.socialImage, shell.isGated]).toEqual([false, null, true]);
  });
});

describe('a view', () => {
  it('is plain data and the same for the same model', () => {
    const view = statusPageView(outage());
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    expect(statusPageView(structuredClone(outage()))).toEqual(view);
  });

  it('leads everywhere from where it is', () => {
    const model = calm();
    const view = statusPageView(model);
    expect(view.historyHref).toBe('history/');
    expect(view.sections[0]?.components[0]?.href).toBe('components/web-application/');
    expect(view.past.incidents[0]?.href).toBe('incidents/slow-search/');
    const [, , , search = componentModel()] = model.components;
    const page = componentView(model, search, { badges: [] });
    expect(page.historyHref).toBe('../../history/');
    expect(page.incidents[0]?.href).toBe('../../incidents/slow-search/');
  });

  it.each(Object.keys(CATALOGUES))('speaks %s without a hole', (locale) => {
    const text = JSON.stringify(statusPageView(outage({ settings: { locale } })));
    expect(text).not.toMatch(/\{\w+\}|undefined|NaN/);
  });

  it('writes times in the zone of the page', () => {
    const view = statusPageView(calm({ settings: { timezone: 'Pacific/Auckland' } }));
    expect(view.shell.freshness?.goodUntil.text).toContain('21:48');
    expect(view.shell.timesIn).toBe('All times are in Pacific/Auckland.');
  });

  it('says until when a copy may be believed', () => {
    const view = statusPageView(pageModel({ staleAfter: toEpochMs(AS_OF + 17 * MINUTE_MS) }));
    expect(view.shell.freshness?.staleAfter).toBe(AS_OF + 17 * MINUTE_MS);
    expect(view.shell.freshness?.goodUntil.iso).toBe('2026-11-21T08:48:00.000Z');
    expect(view.shell.freshness?.checkedEvery).toBe('Checked every minute.');
    const quick = pageModel().sources.map((source) => ({ ...source, intervalMs: 5_000 }));
    expect(statusPageView(pageModel({ sources: quick })).shell.freshness?.checkedEvery).toBe('Checked every 5 s.');
  });

  it('draws announcements as sanitised Markdown', () => {
    const [shown] = statusPageView(
      pageModel({ announcements: [announcement({ body: '**x** <script>alert(1)</script>' })] }),
    ).announcements;
    expect(shown?.body).toBe('<p><strong>x</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>\n');
  });
});

describe('a component without a monitor', () => {
  const monitored = componentModel();
  const desk = {
    ...componentModel({ id: 'desk', name: 'Support desk', state: 'operational', knownDays: 0 }),
    definition: { ...monitored.definition, id: 'desk', type: 'static', monitor: null } as const,
  };

  it('has a line of days like any other', () => {
    const [row] = statusPageView(pageModel({ components: [desk] })).sections[0]?.components ?? [];
    expect([row?.stateWord, row?.bar.letters.length, row?.uptime]).toEqual(['Operational', 90, '–']);
  });
});

describe('an outage that began a second ago', () => {
  const startedAt = ago(SECOND_MS);
  const { timeline, ...others } = componentModel({
    state: 'major_outage',
    troubles: [{ state: 'major_outage', startedAgoMs: SECOND_MS }],
  });
  // As a time line is drawn of what goes on: with the present in it.
  const component = {
    ...others,
    timeline: timeline.map((span, at) => ({ ...span, to: toEpochMs(span.to + (at === timeline.length - 1 ? 1 : 0)) })),
  };
  const model = pageModel({
    components: [component],
    since: startedAt,
    incidents: [incident({ startedAt, endedAt: null })],
  });

  it('is the same in the row, the bar, its details, the calendar, the banner and the list of days', () => {
    const { sections, shell, openIncidents } = statusPageView(model);
    const [row] = sections[0]?.components ?? [];
    expect([row?.stateWord, row?.since?.text, row?.bar.letters.at(-1)]).toEqual(['Major outage', '09:30 GMT+1', 'm']);
    expect(shell.freshness?.since?.iso).toBe(row?.since?.iso);
    expect(openIncidents[0]?.from.iso).toBe(row?.since?.iso);
    expect(row?.bar.runs.at(-1)).toMatchObject({ letter: 'm', spans: 'm570' });
    const page = componentView(model, component, { badges: [] });
    expect(page.dayRows[0]).toMatchObject({ stateWord: 'Major outage', text: '09:30 – ongoing' });
    const [all] = uptimeCalendarView(model).calendar.subjects;
    expect(all.letters.at(-1)).toBe('m');
  });
});

it('names what fails on a long page so that it cannot be mistaken, and in its group without that', () => {
  const { components, ...others } = manyComponents(30);
  const model = {
    ...others,
    components: components.map((one) => ({ ...one, name: `${one.name}, Region`, plainName: 'Queue' })),
  };
  const { longList, sections } = statusPageView(model);
  expect(longList?.failing.map(({ name }) => name)).toEqual(['Exports 2, Region']);
  expect(new Set(sections.flatMap((section) => section.components.map(({ name }) => name)))).toEqual(
    new Set(['Queue']),
  );
});
