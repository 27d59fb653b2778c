import { describe, expect, it } from 'vitest';
import {
  type ComponentDefinition,
  DAY_MS,
  dayOf,
  type EpochMs,
  HOUR_MS,
  type Incident,
  type Maintenance,
  MINUTE_MS,
  type MonitorObservation,
  type PageDefinition,
  type PageModel,
  type PageSettings,
  type SourceFreshness,
  type Span,
  type State,
  toEpochMs,
  toMonitorId,
  uptimeOf,
  windowOf,
} from '../../../src/model/index.ts';
import { barCells } from '../../../src/views/days/day-bar.ts';
import type { SeenIncident } from '../../../src/views/model/known-incidents.ts';
import { type PageInputs, pageModel } from '../../../src/views/model/page-model.ts';
import { listSections } from '../../../src/views/model/sections.ts';

/** Noon. */
const NOW = toEpochMs(Date.UTC(2026, 10, 21, 12));
const minutesBefore = (minutes: number): EpochMs => toEpochMs(NOW - minutes * MINUTE_MS);
const agoOf = (at: EpochMs | null | undefined): number | null => (at == null ? null : (NOW - at) / MINUTE_MS);

const SETTINGS: PageSettings = {
  url: 'https://status.example.com/acme/',
  timezone: 'UTC',
  locale: 'en',
  showTargets: false,
  blipFloorMs: MINUTE_MS,
  uptimeDecimals: 2,
  accentColor: null,
  cssVariables: {},
  allowIndex: true,
  showUptime: true,
  subscriptions: false,
  historyDays: 400,
  entriesAfterMs: 3 * MINUTE_MS,
};

const NAMES: Readonly<Record<string, string>> = { api: 'Public API', web: 'Website', db: 'Database' };

function component(id: string, over: Partial<ComponentDefinition> = {}): ComponentDefinition {
  return {
    id,
    type: 'monitor',
    monitor: toMonitorId('edge', id),
    name: NAMES[id] ?? id,
    description: null,
    groupId: null,
    order: 0,
    groupOrder: 0,
    ...over,
  };
}

function definitionOf(components: readonly ComponentDefinition[], over: Partial<PageDefinition> = {}): PageDefinition {
  return {
    id: 'config/acme',
    slug: 'acme',
    title: 'Acme',
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components,
    ...over,
  };
}

function monitorOf(id: string): MonitorObservation {
  return {
    id: toMonitorId('edge', id),
    name: `internal-${id}.example`,
    description: `runs on 10.0.0.${id.length}`,
    kind: 'http',
    target: `http://10.0.0.1/${id}`,
    state: 'operational',
    isPublic: null,
    createdAt: null,
  };
}

/** States from so many minutes ago, each until the next; before the first, operational for ninety days. */
function seen(...changes: readonly (readonly [state: State, minutesAgo: number])[]): Span[] {
  const all = [['operational', 90 * 24 * 60] as const, ...changes];
  return all.map(([state, minutesAgo], index) => ({
    state,
    from: minutesBefore(minutesAgo),
    to: minutesBefore(all[index + 1]?.[1] ?? 0.5),
  }));
}

function source(upstreamId: string, over: Partial<SourceFreshness> = {}): SourceFreshness {
  return {
    upstreamId,
    monitorsAt: minutesBefore(0.5),
    incidentsAt: minutesBefore(0.5),
    intervalMs: MINUTE_MS,
    isMonitorsStale: false,
    isIncidentsStale: false,
    ...over,
  };
}

interface Scene extends Partial<Omit<PageInputs, 'pasts'>> {
  readonly pasts?: Readonly<Record<string, readonly Span[]>>;
  readonly components?: readonly ComponentDefinition[];
}

function page({ pasts = {}, components, ...over }: Scene = {}): PageModel {
  const ids = Object.keys(pasts);
  return pageModel({
    definition: definitionOf(components ?? ids.map((id) => component(id))),
    settings: SETTINGS,
    monitors: new Map(ids.map((id) => [toMonitorId('edge', id), monitorOf(id)])),
    pasts: new Map(
      ids.map((id) => [
        toMonitorId('edge', id),
        { observed: pasts[id] ?? [], reported: [], reportedDays: [], responseTimes: [], uptime: null },
      ]),
    ),
    incidents: [],
    maintenances: [],
    announcements: [],
    sources: [source('edge')],
    asOf: NOW,
    ...over,
  });
}

function post(over: Partial<SeenIncident> = {}): SeenIncident {
  return {
    id: 'posts/api-errors',
    title: 'API errors',
    status: 'investigating',
    impact: 'major',
    startedAt: minutesBefore(60),
    endedAt: null,
    monitors: [],
    components: [{ id: 'config/acme/api', state: 'partial_outage' }],
    pages: ['config/acme'],
    affectedState: null,
    isOutage: false,
    updates: [{ id: 'opening', at: minutesBefore(60), status: 'investigating', body: 'We look.' }],
    ...over,
  };
}

function recorded(id: string, from: number, to: number | null, over: Partial<Incident> = {}): SeenIncident {
  return post({
    id: `edge/${id}`,
    title: 'internal-db.example: connection refused',
    status: to === null ? 'investigating' : 'resolved',
    startedAt: minutesBefore(from),
    endedAt: to === null ? null : minutesBefore(to),
    monitors: [toMonitorId('edge', 'db')],
    components: [],
    pages: null,
    affectedState: 'major_outage',
    isOutage: true,
    updates: [{ id: 'start', at: minutesBefore(from), status: 'investigating', body: '10.0.0.7:5432 refused' }],
    ...over,
  });
}

const only = (model: PageModel) => {
  const [component_] = model.components;
  if (component_ === undefined) throw new Error('no component');
  return component_;
};
const linesOf = (model: PageModel) =>
  only(model).timeline.map(({ state, counted, from, provenance }) => [
    counted === undefined ? state : `${state} (${counted})`,
    agoOf(from),
    provenance,
  ]);

describe('what people declare', () => {
  it('is what the component is, since then, in the days and in uptime', () => {
    const model = page({ pasts: { api: seen() }, incidents: [post()] });
    const api = only(model);
    expect([api.state, agoOf(api.since)]).toEqual(['partial_outage', 60]);
    expect([model.state, agoOf(model.since)]).toEqual(['partial_outage', 60]);
    const [today] = barCells(api, [dayOf(NOW, 'UTC')], model);
    expect([today?.state, today?.msByState.partial_outage]).toEqual(['partial_outage', HOUR_MS]);
    expect(uptimeOf(api.timeline, windowOf('24h', NOW)).downMs).toBe((HOUR_MS * 3) / 10);
  });

  it('holds update by update, each until the next', () => {
    const impact = (state: State) => [{ id: 'config/acme/api', state }];
    const told = post({
      components: [{ id: 'config/acme/api', state: 'degraded' }],
      updates: [
        { id: '1', at: minutesBefore(60), status: 'investigating', body: '', impacts: impact('degraded') },
        { id: '2', at: minutesBefore(40), status: 'identified', body: '', impacts: impact('major_outage') },
        { id: '3', at: minutesBefore(30), status: 'identified', body: 'still the same' },
        { id: '4', at: minutesBefore(20), status: 'monitoring', body: '', impacts: impact('operational') },
        { id: '5', at: minutesBefore(10), status: 'monitoring', body: '', impacts: impact('degraded') },
      ],
    });
    expect(linesOf(page({ pasts: { api: seen() }, incidents: [told] }))).toEqual([
      ['operational', 90 * 24 * 60, 'observed'],
      ['degraded', 60, 'declared'],
      ['major_outage', 40, 'declared'],
      ['operational', 20, 'observed'],
      ['degraded', 10, 'declared'],
    ]);
  });

  it('is about a component from the update on that first names it', () => {
    const model = page({
      pasts: { api: seen(), web: seen() },
      incidents: [
        post({
          components: [
            { id: 'config/acme/api', state: 'degraded' },
            { id: 'config/acme/web', state: 'degraded' },
          ],
          updates: [
            {
              id: '1',
              at: minutesBefore(60),
              status: 'investigating',
              body: '',
              impacts: [{ id: 'config/acme/api', state: 'degraded' }],
            },
            {
              id: '2',
              at: minutesBefore(20),
              status: 'identified',
              body: '',
              impacts: [{ id: 'config/acme/web', state: 'degraded' }],
            },
          ],
        }),
      ],
    });
    expect(model.components.map(({ state, since }) => [state, agoOf(since)])).toEqual([
      ['degraded', 60],
      ['degraded', 20],
    ]);
  });

  it('holds over all of an incident whose updates name no component', () => {
    const told = post({ components: [{ id: 'config/acme/api', state: 'degraded' }] });
    expect(linesOf(page({ pasts: { api: seen() }, incidents: [told] })).at(-1)).toEqual(['degraded', 60, 'declared']);
  });

  it('shows and does not count where it says so', () => {
    const model = page({ pasts: { api: seen() }, incidents: [post({ affectsUptime: false })] });
    const api = only(model);
    expect(linesOf(model).at(-1)).toEqual(['partial_outage (operational)', 60, 'declared']);
    expect(barCells(api, [dayOf(NOW, 'UTC')], model)[0]?.state).toBe('partial_outage');
    expect(uptimeOf(api.timeline, windowOf('24h', NOW)).ratio).toBe(1);
  });

  it('is known from its own start on, and never from the future', () => {
    const told = post({
      updates: [
        { id: '1', at: minutesBefore(60), status: 'investigating', body: 'now' },
        { id: '2', at: minutesBefore(-30), status: 'resolved', body: 'later' },
      ],
    });
    const model = page({
      pasts: { api: seen() },
      incidents: [told, post({ id: 'posts/planned', startedAt: minutesBefore(-5) })],
    });
    expect(model.incidents.map(({ updates }) => updates.map(({ body }) => body))).toEqual([['now']]);
  });

  it('is over when its status says so, at the latest now, and its last update says so too', () => {
    const resolved = post({ status: 'resolved', endedAt: minutesBefore(-10) });
    const [told] = page({ pasts: { api: seen() }, incidents: [resolved] }).incidents;
    expect([told?.status, agoOf(told?.endedAt)]).toEqual(['resolved', 0]);
    expect(told?.updates.map(({ status }) => status)).toEqual(['investigating', 'resolved']);
    const ended = post({ endedAt: minutesBefore(10) });
    const [over] = page({ pasts: { api: seen() }, incidents: [ended] }).incidents;
    expect([over?.status, over?.updates.at(-1)?.status, agoOf(over?.updates.at(-1)?.at)]).toEqual([
      'resolved',
      'resolved',
      10,
    ]);
  });

  it('makes its teller a source of the page for as long as it is open', () => {
    const stale = source('posts', { isIncidentsStale: true, incidentsAt: minutesBefore(30) });
    const sources = [source('edge'), stale];
    const open = page({ pasts: { api: seen() }, incidents: [post()], sources });
    expect([open.isStale, only(open).state]).toEqual([true, 'partial_outage']);
    const over = page({
      pasts: { api: seen() },
      incidents: [post({ status: 'resolved', endedAt: minutesBefore(10) })],
      sources,
    });
    expect(over.isStale).toBe(false);
  });
});

describe('a component without a monitor', () => {
  const desk = component('desk', { type: 'static', monitor: null, name: 'Support desk' });
  const firstSeenAt = new Map([['desk', minutesBefore(120)]]);

  it('works while it is watched, but for what is declared of it', () => {
    const told = post({
      components: [{ id: 'config/acme/desk', state: 'degraded' }],
      startedAt: minutesBefore(30),
      endedAt: minutesBefore(10),
      status: 'resolved',
    });
    const model = page({ components: [desk], incidents: [told], firstSeenAt });
    expect(linesOf(model)).toEqual([
      ['operational', 120, 'declared'],
      ['degraded', 30, 'declared'],
      ['operational', 10, 'declared'],
    ]);
    expect(agoOf(only(model).knownSince)).toBe(120);
    // First seen before a clock was set back.
    const ahead = page({
      components: [desk],
      firstSeenAt: new Map([
        ['', minutesBefore(-5)],
        ['desk', minutesBefore(-5)],
      ]),
    });
    expect([ahead, only(ahead)].map(({ knownSince }) => agoOf(knownSince))).toEqual([0, 0]);
  });

  it('is unknown from the last word of an upstream on that is silent', () => {
    const sources = [source('edge', { isIncidentsStale: true, incidentsAt: minutesBefore(20) })];
    const definition = definitionOf([desk, component('api')]);
    const [, shown] = page({ definition, sources, firstSeenAt }).components.toReversed();
    expect([shown?.state, agoOf(shown?.since)]).toEqual(['unknown', 20]);
  });

  it('is known from now on where it was never seen before', () => {
    const shown = only(page({ components: [desk] }));
    expect([shown.state, agoOf(shown.since), agoOf(shown.knownSince)]).toEqual(['operational', 0, 0]);
  });
});

describe('an outage that only monitors saw', () => {
  const down = { db: seen(['major_outage', 10]) };

  it('is an incident of its own after a while, named after the component', () => {
    const model = page({ pasts: down });
    expect(model.incidents).toMatchObject([
      {
        id: 'auto/db-20261121-1150',
        slug: 'auto-db-20261121-1150',
        title: 'Outage: Database',
        status: 'investigating',
        isAutomatic: true,
        impact: 'critical',
      },
    ]);
    const [entry] = model.incidents;
    expect([agoOf(entry?.startedAt), entry?.endedAt]).toEqual([10, null]);
    expect(entry?.updates).toMatchObject([
      { status: 'investigating', body: 'Our monitoring detected an outage of Database.' },
    ]);
    expect(agoOf(entry?.updates[0]?.at)).toBe(7);
    expect(entry?.components).toEqual([{ id: 'db', state: 'major_outage' }]);
    expect(model.newEntries).toEqual([{ id: 'auto/db-20261121-1150', componentId: 'db', fellAt: minutesBefore(10) }]);
    expect(page({ pasts: { db: seen(['major_outage', 2]) } }).incidents).toEqual([]);
    expect(agoOf(page({ pasts: { db: seen(['major_outage', 2]) } }).nextEntryAt)).toBe(-1);
  });

  it('is none where the page wants none, and later where it says so', () => {
    expect(page({ pasts: down, settings: { ...SETTINGS, entriesAfterMs: null } }).incidents).toEqual([]);
    expect(page({ pasts: down, settings: { ...SETTINGS, entriesAfterMs: 11 * MINUTE_MS } }).incidents).toEqual([]);
  });

  it('closes when the component is seen well, and opens again when it falls soon after', () => {
    const healed = { db: seen(['major_outage', 30], ['operational', 20]) };
    const [over] = page({ pasts: healed }).incidents;
    expect([over?.status, agoOf(over?.endedAt)]).toEqual(['resolved', 20]);
    expect(over?.updates.map(({ status, body }) => [status, body])).toEqual([
      ['investigating', 'Our monitoring detected an outage of Database.'],
      ['resolved', 'Working again after 10 min.'],
    ]);
    const again = { db: seen(['major_outage', 30], ['operational', 20], ['major_outage', 12], ['operational', 10]) };
    const [one, ...others] = page({ pasts: again }).incidents;
    expect(others).toEqual([]);
    expect(one?.updates.map(({ body }) => body)).toEqual([
      'Our monitoring detected an outage of Database.',
      'Working again after 10 min.',
      'Down again: Database.',
      'Working again after 2 min.',
    ]);
    expect(one?.components).toEqual([{ id: 'db', state: 'major_outage' }]);
  });

  it('is one with what fell together, and names it', () => {
    const both = { api: seen(['major_outage', 10]), web: seen(['major_outage', 9]), db: seen() };
    const [entry, ...others] = page({ pasts: both }).incidents;
    expect(others).toEqual([]);
    expect(entry?.title).toBe('Outage: Public API and Website');
    expect(entry?.updates.map(({ body }) => body)).toEqual([
      'Our monitoring detected an outage of Public API.',
      'Also affected: Website.',
    ]);
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const many = Object.fromEntries(ids.map((id) => [id, seen(['major_outage', 10])]));
    expect(page({ pasts: many }).incidents[0]?.title).toBe('Outage: a, b, c, and 3 others');
  });

  it('says nothing that is internal, unless its component says so', () => {
    const pasts = { db: seen() };
    const quiet = page({ pasts, incidents: [recorded('5', 10, null)] });
    expect(quiet.incidents).toMatchObject([{ title: 'Outage: Database' }]);
    expect(JSON.stringify([quiet.incidents, only(quiet).name, only(quiet).description])).not.toMatch(
      /internal|10\.0\.0/,
    );
    const open = page({
      components: [component('db', { showsDetails: true })],
      pasts,
      incidents: [recorded('5', 10, null)],
    });
    expect(open.incidents[0]?.updates.map(({ body }) => body)).toEqual([
      'internal-db.example: connection refused: 10.0.0.7:5432 refused',
      'Our monitoring detected an outage of Database.',
    ]);
    expect(only(open).description).toBe('runs on 10.0.0.2');
  });

  it('is expected inside a maintenance window', () => {
    const window: Maintenance = {
      id: 'edge/m',
      title: 'Disks',
      startsAt: minutesBefore(12),
      endsAt: minutesBefore(-60),
      monitors: [toMonitorId('edge', 'db')],
      components: [],
      pages: null,
      updates: [],
    };
    const model = page({ pasts: down, maintenances: [window] });
    expect([model.incidents, only(model).state, agoOf(only(model).since)]).toEqual([[], 'maintenance', 12]);
  });

  it('never becomes a part of the time line', () => {
    const healed = { db: seen(['major_outage', 30], ['operational', 20], ['major_outage', 12], ['operational', 10]) };
    const off = { ...SETTINGS, entriesAfterMs: null };
    expect(only(page({ pasts: healed })).timeline).toEqual(only(page({ pasts: healed, settings: off })).timeline);
  });
});

describe('an outage that people write about', () => {
  const pasts = { api: seen(['major_outage', 30]) };
  const published = {
    id: 'auto/api-20261121-1130',
    componentId: 'api',
    fellAt: minutesBefore(30),
    firstSeenAt: minutesBefore(27),
  };
  const posted = post({
    startedAt: minutesBefore(20),
    firstSeenAt: minutesBefore(20),
    updates: [{ id: 'o', at: minutesBefore(20), status: 'identified', body: 'A bad deploy.' }],
  });

  it('is one story with what they write, under the id and the address that it had', () => {
    const model = page({ pasts, incidents: [posted], knownEntries: [published] });
    expect(model.incidents).toMatchObject([
      {
        id: published.id,
        slug: 'auto-api-20261121-1130',
        aliases: ['posts-api-errors'],
        title: 'API errors',
        impact: 'major',
        isAutomatic: false,
      },
    ]);
    const [story] = model.incidents;
    expect(agoOf(story?.startedAt)).toBe(30);
    expect(story?.updates.map(({ body }) => body)).toEqual([
      'Our monitoring detected an outage of Public API.',
      'A bad deploy.',
    ]);
    expect(model.newEntries).toEqual([]);
  });

  it('keeps them when what was written began before the fall, or is about more', () => {
    const backdated = {
      ...posted,
      startedAt: minutesBefore(35),
      updates: [{ id: 'o', at: minutesBefore(35), status: 'identified', body: 'A bad deploy.' }],
    };
    const [story, ...others] = page({ pasts, incidents: [backdated], knownEntries: [published] }).incidents;
    expect([story?.id, story?.updates.map(({ body }) => body), others]).toEqual([published.id, ['A bad deploy.'], []]);
  });

  it('is told under its own address by what was written before it was seen, and the other one leads there', () => {
    const long = post({ startedAt: minutesBefore(300), firstSeenAt: minutesBefore(300) });
    const [story, ...others] = page({ pasts, incidents: [long], knownEntries: [published] }).incidents;
    expect([story?.id, story?.slug, story?.aliases, others]).toEqual([
      'posts/api-errors',
      'posts-api-errors',
      ['auto-api-20261121-1130'],
      [],
    ]);
  });

  it('stands by itself again when what was written is taken back', () => {
    const [story] = page({ pasts, knownEntries: [published] }).incidents;
    expect([story?.id, story?.isAutomatic]).toEqual([published.id, true]);
  });

  it('is never told twice, whatever the post names besides', () => {
    const both = { api: seen(['major_outage', 30]), web: seen(['major_outage', 29]) };
    const { incidents } = page({ pasts: both, incidents: [posted], knownEntries: [published] });
    expect(incidents.map(({ id, componentIds }) => [id, componentIds])).toEqual([[published.id, ['api', 'web']]]);
  });

  it('opens again under another name when the post is closed and the component is still down', () => {
    const closed = { ...posted, status: 'resolved', endedAt: minutesBefore(10) } as const;
    const { incidents } = page({ pasts, incidents: [closed], knownEntries: [published] });
    expect(incidents.map(({ id, status, startedAt }) => [id, status, agoOf(startedAt)])).toEqual([
      ['auto/api-20261121-1150', 'investigating', 10],
      [published.id, 'resolved', 30],
    ]);
  });
});

describe('the identity of an entry', () => {
  const known = (id: string, fellAgo: number, firstSeenAgo: number) => ({
    id: `auto/${id}`,
    componentId: 'db',
    fellAt: minutesBefore(fellAgo),
    firstSeenAt: minutesBefore(firstSeenAgo),
  });

  it('stays when the upstream records later that the outage began earlier, or later', () => {
    for (const from of [35, 25]) {
      const pasts = { db: from > 30 ? seen(['major_outage', 30]) : seen() };
      const model = page({ pasts, incidents: [recorded('5', from, null)], knownEntries: [known('x', 30, 27)] });
      expect(
        model.incidents.map(({ id, startedAt }) => [id, agoOf(startedAt)]),
        `${from}`,
      ).toEqual([['auto/x', from]]);
    }
  });

  it('is that of the one that was published first when two turn out to be one, and the other address leads there', () => {
    const pasts = { db: seen() };
    const knownEntries = [known('second', 20, 15), known('first', 30, 27)];
    const { incidents } = page({ pasts, incidents: [recorded('5', 31, 10)], knownEntries });
    expect(incidents.map(({ id, aliases }) => [id, aliases])).toEqual([['auto/first', ['auto-second']]]);
  });

  it('is never given to another outage of the same minute', () => {
    const pasts = { db: seen(['major_outage', 30]) };
    const other = { ...known('db-20261121-1130', 400, 390), componentId: 'db' };
    const [entry] = page({ pasts, knownEntries: [other] }).incidents;
    expect(entry?.id).not.toBe(other.id);
  });
});

describe('a maintenance', () => {
  const planned = (over: Partial<Maintenance & { firstSeenAt: EpochMs; changedAt: EpochMs }> = {}) => ({
    id: 'posts/disks',
    title: 'Disks',
    startsAt: minutesBefore(-60),
    endsAt: minutesBefore(-120),
    monitors: [],
    components: ['config/acme/api'],
    pages: ['config/acme'],
    updates: [],
    body: 'New **disks**.',
    firstSeenAt: minutesBefore(600),
    ...over,
  });
  const shown = (over: Parameters<typeof planned>[0], asOf = NOW) => {
    const [one] = page({ pasts: { api: seen() }, maintenances: [planned(over)], asOf }).maintenances;
    if (one === undefined) throw new Error('no maintenance');
    return one;
  };
  const told = ({ updates }: ReturnType<typeof shown>) =>
    updates.map(({ at, status, body }) => [agoOf(at), status, body]);

  it('was announced when it was first seen, and says nothing of the future', () => {
    const one = shown({});
    expect([one.status, agoOf(one.announcedAt), agoOf(one.changedAt), agoOf(one.editedAt)]).toEqual([
      'scheduled',
      600,
      600,
      600,
    ]);
    expect(told(one)).toEqual([[600, 'scheduled', 'New **disks**.']]);
  });

  it('says that it began and that it is over', () => {
    expect(told(shown({ startsAt: minutesBefore(30) }))).toEqual([
      [600, 'scheduled', 'New **disks**.'],
      [30, 'in_progress', 'Maintenance has started.'],
    ]);
    const over = shown({ startsAt: minutesBefore(30), endsAt: minutesBefore(10) });
    expect(told(over).map(([at, status]) => [at, status])).toEqual([
      [600, 'scheduled'],
      [30, 'in_progress'],
      [10, 'completed'],
    ]);
    expect([over.status, agoOf(over.changedAt)]).toEqual(['completed', 10]);
  });

  it('was announced at the latest when it began, where it was seen only afterwards', () => {
    expect(agoOf(shown({ startsAt: minutesBefore(30), firstSeenAt: minutesBefore(5) }).announcedAt)).toBe(30);
  });

  it('is not announced a second time, without a word, where its author announced it before it was first seen', () => {
    const updates = [{ id: '1', at: minutesBefore(900), status: 'scheduled' as const, body: 'We will.' }];
    const over = { body: '', updates, startsAt: minutesBefore(700), endsAt: minutesBefore(650) };
    expect(told(shown(over)).map(([at, status]) => [at, status])).toEqual([
      [900, 'scheduled'],
      [700, 'in_progress'],
      [650, 'completed'],
    ]);
    // An import, which nobody is told of. Otherwise the announcement stays, since a window that moves is told anew.
    expect(told(shown({ body: '', updates, notify: false }))).toEqual([[900, 'scheduled', 'We will.']]);
    expect(told(shown({ body: '', updates })).map(([at]) => at)).toEqual([900, 600]);
    expect(told(shown({ updates, notify: false })).map(([at]) => at)).toEqual([900, 600]);
  });

  it('never goes back in time when its window moves', () => {
    const moved = shown({ changedAt: minutesBefore(20), startsAt: minutesBefore(-300), endsAt: minutesBefore(-360) });
    expect([agoOf(moved.changedAt), agoOf(moved.editedAt)]).toEqual([20, 20]);
    const ids = [shown({}), moved].map(({ updates }) => updates[0]?.id);
    expect(new Set(ids).size).toBe(2);
  });

  it('keeps the words that its upstream writes meanwhile, and no status goes back', () => {
    const updates = [
      { id: '1', at: minutesBefore(25), status: 'verifying', body: 'Checking.' },
      { id: '2', at: minutesBefore(20), status: null, body: 'Still checking.' },
      { id: '3', at: minutesBefore(-5), status: 'completed', body: 'not yet said' },
    ];
    const one = shown({ startsAt: minutesBefore(30), updates });
    expect(one.status).toBe('verifying');
    expect(told(one).slice(2)).toEqual([
      [25, 'verifying', 'Checking.'],
      [20, 'verifying', 'Still checking.'],
    ]);
  });

  it('that repeats is one, with its next window and its rule, and stands in every window on the line', () => {
    const windows = [-2, -1, 0, 1, 2].map((day) => ({
      from: toEpochMs(NOW + day * DAY_MS - HOUR_MS),
      to: toEpochMs(NOW + day * DAY_MS - HOUR_MS / 2),
    }));
    const repeats = { rule: 'FREQ=DAILY', every: 'day', interval: 1, weekdays: [7], windows } as const;
    const model = page({ pasts: { api: seen() }, maintenances: [planned({ repeats })] });
    expect(model.maintenances).toHaveLength(1);
    const [one] = model.maintenances;
    expect([one?.status, agoOf(one?.startsAt)]).toEqual(['scheduled', -23 * 60]);
    expect(told(one as never)).toEqual([[30, 'scheduled', 'New **disks**.\n\nRepeats: every day on Sunday']]);
    expect(only(model).timeline.filter(({ state }) => state === 'maintenance')).toHaveLength(3);
    const running = page({ pasts: { api: seen() }, maintenances: [planned({ repeats })], asOf: minutesBefore(45) });
    expect(running.maintenances[0]).toMatchObject({ status: 'in_progress', startsAt: windows[2]?.from });
    expect(only(running).state).toBe('maintenance');
  });
});

describe('a component that nothing was ever heard of', () => {
  it('is in maintenance since its window began, whenever one looks', () => {
    const window = {
      id: 'posts/disks',
      title: 'Disks',
      monitors: [],
      components: ['config/acme/api'],
      pages: null,
      updates: [],
    };
    const maintenances = [{ ...window, startsAt: minutesBefore(40), endsAt: minutesBefore(-60) }];
    for (const asOf of [minutesBefore(30), NOW]) {
      const one = only(page({ pasts: { api: [] }, maintenances, asOf }));
      expect([one.state, agoOf(one.since)]).toEqual(['maintenance', 40]);
    }
  });
});

describe('names and order', () => {
  it('are those of the page, never those of the upstream', () => {
    const unnamed = page({
      components: [component('api', { name: null }), component('gone', { name: null })],
      pasts: { api: seen() },
    });
    expect(unnamed.components.map(({ name }) => name)).toEqual(['internal-api.example', 'gone']);
    expect(unnamed.components.map(({ description }) => description)).toEqual([null, null]);
  });

  it('stand as they are defined: groups among the components that are in none', () => {
    const components = [
      component('e', { order: 5 }),
      component('c', { order: 9, groupId: 'g', groupOrder: 2 }),
      component('b', { order: 9, groupId: 'g', groupOrder: 1 }),
      component('a', { order: 1 }),
      component('d', { order: 3, groupId: 'nowhere' }),
      component('f', { order: 7, groupId: 'h' }),
    ];
    const groups = [
      { id: 'h', name: 'H', order: 7 },
      { id: 'g', name: 'G', order: 2 },
      { id: 'empty', name: 'Empty', order: 0 },
    ];
    const model = page({ definition: definitionOf(components, { groups }) });
    expect(
      listSections(model).map(({ group, members }) => [
        group?.id ?? null,
        ...members.map(({ definition }) => definition.id),
      ]),
    ).toEqual([
      [null, 'a'],
      ['g', 'b', 'c'],
      [null, 'd', 'e'],
      ['h', 'f'],
    ]);
  });

  it('keep the order of the definition where that says nothing', () => {
    const components = ['z', 'y', 'x'].map((id) => component(id));
    expect(page({ components }).components.map(({ definition }) => definition.id)).toEqual(['z', 'y', 'x']);
  });
});

describe('since when a page is as it is', () => {
  it('is the last change of all its components together', () => {
    const model = page({
      pasts: { api: seen(['degraded', 50]), web: seen(['major_outage', 30], ['operational', 20]) },
    });
    expect([model.state, agoOf(model.since)]).toEqual(['degraded', 20]);
    const later = page({ pasts: { api: seen(['degraded', 50]), web: seen(['degraded', 30]) } });
    expect([later.state, agoOf(later.since)]).toEqual(['degraded', 50]);
  });

  it('leaves out what was not known by then', () => {
    const model = page({
      pasts: { api: seen(), web: [{ state: 'operational', from: minutesBefore(10), to: minutesBefore(0.5) }] },
    });
    expect([model.state, agoOf(model.since)]).toEqual(['operational', 90 * 24 * 60]);
    expect(page({ components: [component('api')] }).since).toBeNull();
    expect(page({ components: [] }).since).toBeNull();
  });
});
