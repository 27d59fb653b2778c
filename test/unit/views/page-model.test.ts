import { describe, expect, it } from 'vitest';
import {
  type Incident,
  type Maintenance,
  type MonitorObservation,
  type PageDefinition,
  toMonitorId,
} from '../../../src/model/observation.ts';
import type { PageSettings, SourceFreshness } from '../../../src/model/page.ts';
import type { State } from '../../../src/model/state.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import type { MonitorPast } from '../../../src/model/timeline.ts';
import { modelAt, type PageInputs, pageModel } from '../../../src/views/model/page-model.ts';

const NOW = toEpochMs(Date.UTC(2026, 5, 1, 12));
const earlier = (ms: number) => toEpochMs(NOW - ms);
const API = toMonitorId('edge', 1);
const WEB = toMonitorId('edge', 2);

const SETTINGS: PageSettings = {
  url: 'https://status.example.com/a/',
  timezone: 'UTC',
  locale: 'en',
  showTargets: false,
  blipFloorMs: MINUTE_MS,
  uptimeDecimals: 2,
  accentColor: null,
  cssVariables: {},
  allowIndex: true,
  historyDays: 400,
  entriesAfterMs: 3 * MINUTE_MS,
  showUptime: true,
  subscriptions: false,
};

const DEFINITION: PageDefinition = {
  id: 'config/a',
  slug: 'a',
  title: 'A',
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
  components: [
    { id: 'api', type: 'monitor', monitor: API, name: null, description: null, groupId: null, order: 1, groupOrder: 0 },
    {
      id: 'web',
      type: 'monitor',
      monitor: WEB,
      name: 'Website',
      description: null,
      groupId: null,
      order: 0,
      groupOrder: 0,
    },
    {
      id: 'desk',
      type: 'static',
      monitor: null,
      name: 'Desk',
      description: null,
      groupId: null,
      order: 2,
      groupOrder: 0,
    },
  ],
};

function monitor(id: typeof API, state: State): MonitorObservation {
  return {
    id,
    name: id,
    description: null,
    kind: 'http',
    target: 'https://internal.example',
    state,
    isPublic: null,
    createdAt: null,
  };
}

function fresh(over: Partial<SourceFreshness> = {}): SourceFreshness {
  return {
    upstreamId: 'edge',
    monitorsAt: earlier(30_000),
    incidentsAt: earlier(30_000),
    intervalMs: MINUTE_MS,
    isMonitorsStale: false,
    isIncidentsStale: false,
    ...over,
  };
}

function past(state: State): MonitorPast {
  return {
    observed: [{ state, from: earlier(HOUR_MS), to: earlier(30_000) }],
    reported: [],
    reportedDays: [],
    responseTimes: [],
    uptime: null,
  };
}

function incident(over: Partial<Incident> = {}): Incident {
  return {
    id: 'edge/i1',
    title: 'Down',
    status: 'investigating',
    impact: 'critical',
    startedAt: earlier(10 * MINUTE_MS),
    endedAt: null,
    monitors: [API],
    components: [],
    pages: null,
    affectedState: 'major_outage',
    isOutage: true,
    updates: [],
    ...over,
  };
}

function maintenance(over: Partial<Maintenance> = {}): Maintenance {
  return {
    id: 'edge/m1',
    title: 'Disks',
    startsAt: earlier(MINUTE_MS),
    endsAt: toEpochMs(NOW + HOUR_MS),
    monitors: [API],
    components: [],
    pages: null,
    updates: [],
    ...over,
  };
}

function model(over: Partial<PageInputs> = {}) {
  return pageModel({
    definition: DEFINITION,
    settings: SETTINGS,
    monitors: new Map([
      [API, monitor(API, 'operational')],
      [WEB, monitor(WEB, 'operational')],
    ]),
    pasts: new Map([
      [API, past('operational')],
      [WEB, past('operational')],
    ]),
    incidents: [],
    maintenances: [],
    announcements: [],
    sources: [fresh()],
    asOf: NOW,
    ...over,
  });
}

const statesOf = (page: ReturnType<typeof model>): Record<string, State> =>
  Object.fromEntries(page.components.map((item) => [item.definition.id, item.state]));

describe('the model of a page', () => {
  it('is operational when everything that was heard from is', () => {
    const page = model();
    expect(page.state).toBe('operational');
    expect(page.components.map((item) => item.name)).toEqual(['Website', 'edge/1', 'Desk']);
    expect(page.staleAfter).toBe(NOW + 15 * MINUTE_MS + 2 * MINUTE_MS);
  });

  it('tells components of one name apart by their groups, and by their ids where that is not enough', () => {
    const at = (id: string, name: string, groupId: string | null) => ({
      ...{ id, type: 'static' as const, monitor: null, name, description: null, groupId, order: 0, groupOrder: 0 },
    });
    const definition: PageDefinition = {
      ...DEFINITION,
      groups: [
        { id: 'fra', name: 'Frankfurt', defaultOpen: true, order: 0 },
        { id: 'par', name: 'Paris', defaultOpen: true, order: 1 },
      ],
      components: [
        at('top', 'Queues', null),
        at('one', 'Queues', 'fra'),
        at('two', 'queues', 'par'),
        at('solo', 'Storage', 'par'),
        at('twin-1', 'Web', 'par'),
        at('twin-2', 'Web', 'par'),
      ],
    };
    const { components } = model({ definition });
    expect(Object.fromEntries(components.map((one) => [one.definition.id, one.name]))).toEqual({
      top: 'Queues',
      one: 'Queues, Frankfurt',
      two: 'queues, Paris',
      solo: 'Storage',
      'twin-1': 'Web, Paris (twin-1)',
      'twin-2': 'Web, Paris (twin-2)',
    });
    expect(components.map(({ plainName }) => plainName)).toEqual(
      expect.arrayContaining(['Queues', 'queues', 'Storage', 'Web']),
    );
  });

  it('is never green for an upstream that was not heard from in time, or never', () => {
    const stale = model({ sources: [fresh({ isMonitorsStale: true, monitorsAt: earlier(HOUR_MS) })] });
    expect(statesOf(stale)).toMatchObject({ api: 'unknown', web: 'unknown' });
    expect([stale.state, stale.isStale, stale.dataFrom]).toEqual(['unknown', true, earlier(HOUR_MS)]);
    const atHeartbeat = modelAt(stale, earlier(2 * HOUR_MS));
    expect(atHeartbeat.dataFrom, 'on pages that are drawn more rarely too').toBe(earlier(HOUR_MS));
    const silent = model({
      sources: [fresh({ isMonitorsStale: true, monitorsAt: null })],
      monitors: new Map(),
      pasts: new Map(),
    });
    expect([silent.state, silent.dataFrom]).toEqual(['unknown', null]);
  });

  it('is unknown for a monitor that its upstream does not list, and for one with no upstream at all', () => {
    expect(statesOf(model({ monitors: new Map([[WEB, monitor(WEB, 'operational')]]) }))['api']).toBe('unknown');
    expect(statesOf(model({ sources: [] }))['api']).toBe('unknown');
  });

  it('lets a known open outage show through a stale upstream', () => {
    const page = model({ incidents: [incident()], sources: [fresh({ isMonitorsStale: true })] });
    expect(statesOf(page)).toMatchObject({ api: 'major_outage', web: 'unknown' });
    expect(page.state).toBe('partial_outage');
  });

  it('counts an open incident, and not one that ended or is about others', () => {
    expect(statesOf(model({ incidents: [incident()] }))['api']).toBe('major_outage');
    expect(statesOf(model({ incidents: [incident({ endedAt: earlier(MINUTE_MS) })] }))['api']).toBe('operational');
    const elsewhere = model({ incidents: [incident({ monitors: [toMonitorId('edge', 99)] })] });
    expect([elsewhere.state, elsewhere.incidents]).toEqual(['operational', []]);
  });

  it('gives each component of an incident the state said of it, and a static one too', () => {
    const said = incident({
      monitors: [],
      isOutage: false,
      affectedState: 'degraded',
      pages: ['config/a'],
      components: [
        { id: 'config/a/desk', state: 'partial_outage' },
        { id: 'config/a/web', state: null },
      ],
    });
    expect(statesOf(model({ incidents: [said] }))).toEqual({
      api: 'operational',
      web: 'degraded',
      desk: 'partial_outage',
    });
  });

  it('is in maintenance only inside its window, and never hides an outage of another', () => {
    expect(statesOf(model({ maintenances: [maintenance()], incidents: [incident()] }))).toMatchObject({
      api: 'maintenance',
      web: 'operational',
    });
    expect(statesOf(model({ maintenances: [maintenance({ startsAt: toEpochMs(NOW + 1) })] }))['api']).toBe(
      'operational',
    );
    const other = model({
      maintenances: [maintenance()],
      pasts: new Map([
        [API, past('operational')],
        [WEB, past('major_outage')],
      ]),
    });
    expect(other.state).toBe('partial_outage');
    expect(model({ maintenances: [maintenance()] }).maintenances[0]?.status).toBe('in_progress');
  });

  it('was in maintenance also on a day before it was known, if that is entered afterwards', () => {
    const window = { from: earlier(9 * DAY_MS), to: earlier(9 * DAY_MS - HOUR_MS) };
    const entered = maintenance({ startsAt: window.from, endsAt: window.to });
    const api = model({ maintenances: [entered] }).components.find(({ definition }) => definition.id === 'api');
    expect(api?.timeline.slice(0, 2)).toMatchObject([
      { ...window, state: 'maintenance' },
      { from: window.to, state: 'unknown' },
    ]);
  });

  it('holds a state heard in time to the instant shown, and says nothing of the time after a silence', () => {
    const held = model().components.find((item) => item.definition.id === 'api')?.timeline;
    expect(held?.at(-1)).toMatchObject({ state: 'operational', to: NOW + 1 });
    const stale = model({ sources: [fresh({ isMonitorsStale: true })] }).components.find(
      (item) => item.definition.id === 'api',
    )?.timeline;
    expect(stale?.at(-1)).toMatchObject({ state: 'unknown', from: earlier(30_000), to: NOW + 1 });
  });

  it('counts an incident as an outage of the past even where sampling missed it', () => {
    const missed = incident({ startedAt: earlier(30 * MINUTE_MS), endedAt: earlier(20 * MINUTE_MS) });
    const timeline = model({ incidents: [missed] }).components.find((item) => item.definition.id === 'api')?.timeline;
    expect(timeline?.map((span) => span.state)).toEqual(['operational', 'major_outage', 'operational']);
  });

  it('says what is checked only when asked to', () => {
    expect(model().components.map((item) => item.target)).toEqual([null, null, null]);
    expect(model({ settings: { ...SETTINGS, showTargets: true } }).components.map((item) => item.target)).toEqual([
      'https://internal.example',
      'https://internal.example',
      null,
    ]);
  });

  it('is the same for passes that bring no news, so that no file changes', () => {
    const at = (ms: number) =>
      JSON.stringify(
        model({ asOf: earlier(HOUR_MS / 2), sources: [fresh({ monitorsAt: earlier(ms), incidentsAt: earlier(ms) })] })
          .sources,
      );
    expect(at(30_000)).toBe(at(10_000));
  });

  it('gives incidents slugs that are addresses, unique on the page', () => {
    const page = model({
      incidents: ['edge/a:b', 'edge/a b', 'edge/Ü'].map((id) => incident({ id, isOutage: false })),
    });
    const slugs = page.incidents.map((item) => item.slug);
    expect(new Set(slugs).size).toBe(3);
    for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9-]+$/);
  });
});
