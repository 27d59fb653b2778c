import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, STATES, type State } from '../../../src/model/index.ts';
import { listSections } from '../../../src/views/model/sections.ts';
import { shortId, stableUuid } from '../../../src/views/text/addresses.ts';
import { pageStatus } from '../../../src/views/v2/components.ts';
import { v2Documents } from '../../../src/views/v2/documents.ts';
import { AS_OF, ago, componentModel, incident, maintenance, pageModel } from '../../helpers/page-model.ts';
import { calm, outage, stale } from '../../helpers/page-scenes.ts';

const iso = (at: number) => new Date(at).toISOString();
const inState = (state: State) => pageModel({ components: [componentModel({ state })] });

describe('states in the five words of Statuspage', () => {
  const WORDS: Readonly<Record<State, string>> = {
    operational: 'operational',
    degraded: 'degraded_performance',
    partial_outage: 'partial_outage',
    major_outage: 'major_outage',
    maintenance: 'under_maintenance',
    paused: 'under_maintenance',
    unknown: 'degraded_performance',
  };
  const INDICATORS: Readonly<Record<State, string>> = {
    operational: 'none',
    degraded: 'minor',
    partial_outage: 'major',
    major_outage: 'critical',
    maintenance: 'maintenance',
    paused: 'maintenance',
    unknown: 'minor',
  };

  for (const state of STATES)
    it(`says ${WORDS[state]} of a component that is ${state}, and ${INDICATORS[state]} of its page`, () => {
      const { components, status } = v2Documents(inState(state)).summary();
      expect(components[0]?.status).toBe(WORDS[state]);
      expect(status.indicator).toBe(INDICATORS[state]);
    });

  it('says in words that a state is unknown, and that data may be out of date', () => {
    expect(pageStatus(inState('unknown')).description).toBe('Status Unknown');
    expect(pageStatus(stale()).description).toBe('Status Unknown (data may be out of date)');
  });

  it('never answers none while anything is not as it should be', () => {
    const operational = [componentModel({ state: 'operational' })];
    const monitoring = incident({ status: 'monitoring', impact: 'minor', componentIds: [] });
    expect(pageStatus(pageModel({ components: operational })).indicator).toBe('none');
    expect(pageStatus(pageModel({ components: operational, isStale: true })).indicator).toBe('minor');
    expect(pageStatus(pageModel({ components: operational, incidents: [monitoring] })).indicator).toBe('minor');
    for (const state of STATES.filter((word) => word !== 'operational' && word !== 'paused')) {
      const components = [...operational, componentModel({ id: 'b', state })];
      expect(pageStatus(pageModel({ components, state: 'operational' })).indicator).not.toBe('none');
    }
  });

  it('does not raise the indicator for an incident with no impact, nor for one that is over', () => {
    const told = incident({ impact: 'none', componentIds: [] });
    const over = incident({ slug: 'over', endedAt: ago(HOUR_MS) });
    expect(pageStatus(pageModel({ incidents: [told, over] })).indicator).toBe('none');
  });
});

describe('ids', () => {
  it('are twelve characters of base 32 that depend on kind and every part', () => {
    const ids = [
      shortId('component', 'config/acme', 'api'),
      shortId('group', 'config/acme', 'api'),
      shortId('component', 'config/acm', 'e', 'api'),
      shortId('component', 'config/acmeapi'),
      shortId('component', 'config/acme", "api'),
    ];
    for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are the same in every release: these are the published ones', () => {
    expect(shortId('component', 'config/acme', 'api')).toBe('fvrdrt4ppdps');
    expect(stableUuid('maintenance', 'config/acme', 'edge/mnt-1')).toBe('491e7b03-facc-883c-a8bb-8d7514103182');
  });

  it('do not collide over twenty thousand components', () => {
    const ids = new Set(Array.from({ length: 20_000 }, (_, index) => shortId('component', 'config/acme', `c${index}`)));
    expect(ids.size).toBe(20_000);
  });

  it('stay when titles, order and states change', () => {
    const before = v2Documents(calm()).summary();
    const model = calm({ definition: { title: 'Renamed' } });
    const after = v2Documents({ ...model, components: model.components.toReversed() }).summary();
    expect(after.page.id).toBe(before.page.id);
    expect(new Set(after.components.map(({ id }) => id))).toEqual(new Set(before.components.map(({ id }) => id)));
  });
});

describe('components', () => {
  it('stand in the order of the page, each group before its own, numbered from 1 on each level', () => {
    const alone = (id: string) => componentModel({ id, name: id });
    const inGroup = (id: string) => componentModel({ id, name: id, groupId: 'core' });
    const model = pageModel({
      components: [alone('a'), inGroup('b'), inGroup('c'), alone('d')],
      definition: {
        groups: [
          { id: 'core', name: 'Core', order: 0 },
          { id: 'empty', name: 'Empty', order: 1 },
        ],
      },
    });
    const { components } = v2Documents(model).components();
    expect(components.map(({ name, position, group }) => [name, position, group])).toEqual([
      ['a', 1, false],
      ['Core', 2, true],
      ['b', 1, false],
      ['c', 2, false],
      ['d', 3, false],
    ]);
    const core = components.find(({ group }) => group);
    expect(core?.components).toEqual(components.slice(2, 4).map(({ id }) => id));
    expect(components[2]?.group_id).toBe(core?.id);
  });

  it('that name a group which is not there stand alone', () => {
    const model = pageModel({ components: [componentModel({ groupId: 'gone' })] });
    expect(listSections(model)).toHaveLength(1);
    expect(v2Documents(model).components().components[0]?.group_id).toBeNull();
  });

  it('were updated when they came into their state, or when an open incident last said something of them', () => {
    const since = 47 * MINUTE_MS;
    const down = componentModel({ troubles: [{ state: 'major_outage', startedAgoMs: since }] });
    const quiet = v2Documents(pageModel({ components: [down] })).components();
    expect(quiet.components[0]?.updated_at).toBe(iso(ago(since)));
    const told = incident({ startedAt: ago(40 * MINUTE_MS), updateBodies: ['one', 'two'] });
    const loud = v2Documents(pageModel({ components: [down], incidents: [told] })).components();
    expect(loud.components[0]?.updated_at).toBe(iso(ago(20 * MINUTE_MS)));
  });

  it('begin on the day they were first heard of, in the zone of the page', () => {
    const young = componentModel({ knownDays: 3 });
    const { components } = v2Documents(pageModel({ components: [young] })).components();
    expect(components[0]?.start_date).toBe('2026-11-18');
    const never = componentModel({ troubles: [{ state: 'unknown', startedAgoMs: 400 * DAY_MS }] });
    const defined = { ...never, knownSince: ago(DAY_MS) };
    const unheard = v2Documents(pageModel({ components: [defined] })).components().components[0];
    expect([unheard?.start_date, unheard?.created_at, unheard?.updated_at]).toEqual([
      '2026-11-20',
      iso(ago(DAY_MS)),
      iso(ago(DAY_MS)),
    ]);
  });
});

describe('incidents and maintenances', () => {
  it('tell which component went from which state to which, update by update', () => {
    const outageMs = 90 * MINUTE_MS;
    const component = componentModel({
      id: 'api',
      groupId: 'core',
      troubles: [{ state: 'major_outage', startedAgoMs: outageMs, forMs: HOUR_MS }],
    });
    const model = pageModel({
      components: [component],
      definition: { groups: [{ id: 'core', name: 'Core', order: 0 }] },
      incidents: [
        incident({
          startedAt: ago(outageMs),
          endedAt: ago(30 * MINUTE_MS),
          updateBodies: ['a', 'b', 'c', 'd'],
          componentIds: ['api'],
        }),
      ],
    });
    const [told] = v2Documents(model).incidents().incidents;
    const states = told?.incident_updates.map(({ affected_components }) =>
      affected_components?.map(({ name, old_status, new_status }) => [name, old_status, new_status]),
    );
    expect(states?.reverse()).toEqual([
      [['Core - API', 'operational', 'major_outage']],
      [['Core - API', 'major_outage', 'major_outage']],
      [['Core - API', 'major_outage', 'major_outage']],
      [['Core - API', 'major_outage', 'operational']],
    ]);
  });

  it('name no affected components where none is known', () => {
    const [told] = v2Documents(pageModel({ incidents: [incident({ componentIds: [] })] })).incidents().incidents;
    expect(told?.components).toEqual([]);
    expect(told?.incident_updates[0]?.affected_components).toBeNull();
  });

  it('are resolved once they have ended, and not before', () => {
    const ended = incident({ endedAt: ago(HOUR_MS) });
    const { incidents } = v2Documents(pageModel({ incidents: [ended] })).incidents();
    expect(incidents[0]).toMatchObject({ status: 'resolved', resolved_at: iso(ago(HOUR_MS)) });
    const going = incident({ status: 'monitoring', endedAt: ago(-HOUR_MS) });
    const open = v2Documents(pageModel({ incidents: [going] })).unresolved();
    expect(open.incidents[0]).toMatchObject({ status: 'monitoring', resolved_at: null });
  });

  it('say the title where an update has no words, since clients show it', () => {
    const quiet = incident({ updateBodies: ['', 'Words'] });
    const [told] = v2Documents(pageModel({ incidents: [quiet] })).incidents().incidents;
    expect(told?.incident_updates.map(({ body }) => body)).toEqual(['Words', 'Requests are failing']);
  });

  it('say a maintenance was known since it was announced, not since it begins', () => {
    const planned = maintenance({ announcedAt: ago(2 * DAY_MS), changedAt: ago(DAY_MS) });
    const [told] = v2Documents(pageModel({ maintenances: [planned] })).upcoming().scheduled_maintenances;
    expect(told).toMatchObject({
      created_at: iso(ago(2 * DAY_MS)),
      updated_at: iso(ago(DAY_MS)),
      impact: 'maintenance',
    });
  });

  it('list what is to come soonest first', () => {
    const later = maintenance({ slug: 'later', title: 'later', startsAt: ago(-5 * DAY_MS), endsAt: ago(-6 * DAY_MS) });
    const sooner = maintenance({ slug: 'sooner', title: 'sooner' });
    const documents = v2Documents(pageModel({ maintenances: [later, sooner] }));
    expect(documents.upcoming().scheduled_maintenances.map(({ name }) => name)).toEqual(['sooner', 'later']);
    expect(documents.maintenances().scheduled_maintenances.map(({ name }) => name)).toEqual(['later', 'sooner']);
  });
});

describe('when the page was updated', () => {
  it('is the last change, and stands still while nothing happens', () => {
    const model = outage();
    const before = v2Documents(model).status().page.updated_at;
    const later = {
      ...model,
      asOf: ago(-10 * MINUTE_MS),
      staleAfter: ago(-27 * MINUTE_MS),
      dataFrom: ago(-9 * MINUTE_MS),
    };
    expect(v2Documents(later).status().page.updated_at).toBe(before);
    expect(Date.parse(before)).toBeLessThanOrEqual(AS_OF);
    expect(before).toBe(iso(ago(27 * MINUTE_MS)));
  });

  it('is when the page was first defined where nothing changed since', () => {
    const young = pageModel({ components: [], sources: [], knownSince: ago(DAY_MS) });
    expect(v2Documents(young).status().page.updated_at).toBe(iso(ago(DAY_MS)));
  });

  it('is when a silent source became stale', () => {
    const { updated_at } = v2Documents(stale()).status().page;
    expect(updated_at).toBe(iso(ago(2 * HOUR_MS - 2 * MINUTE_MS)));
  });
});

it('the same model gives the same documents', () => {
  for (const make of [calm, outage, stale]) {
    const texts = [make(), make()].map((model) => {
      const documents = v2Documents(model);
      return JSON.stringify([documents.summary(), documents.incidents(), documents.maintenances()]);
    });
    expect(texts[0]).toBe(texts[1]);
  }
});
