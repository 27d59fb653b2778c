import { describe, expect, it } from 'vitest';
import { LOOKS } from '../../../src/looks/states.ts';
import { DAY_MS, HOUR_MS, type PageModel } from '../../../src/model/index.ts';
import { badgeSubjects } from '../../../src/views/badges/badge-subjects.ts';
import { AS_OF, ago, componentModel, incident, maintenance, pageModel } from '../../helpers/page-model.ts';
import { calm, empty, outage, stale } from '../../helpers/page-scenes.ts';

const groups = [
  { id: 'core', name: 'Core', order: 0 },
  { id: 'bare', name: 'Bare', order: 1 },
];

function grouped(init: Partial<PageModel> = {}): PageModel {
  return pageModel({
    components: [
      componentModel({
        id: 'a',
        name: 'A',
        groupId: 'core',
        troubles: [{ state: 'major_outage', startedAgoMs: HOUR_MS }],
      }),
      componentModel({ id: 'b', name: 'B', groupId: 'core' }),
      componentModel({ id: 'c', name: 'C' }),
    ],
    ...init,
    definition: { groups },
  });
}

const byId = (list: ReturnType<typeof badgeSubjects>['groups'], id: string) =>
  list.find((one) => one.id === id)?.subject;

describe('what badges are drawn from', () => {
  it('is a subject for the page, for each group that has components, and for each component', () => {
    const { page, groups: made, components } = badgeSubjects(grouped());
    expect(page.name).toBe('Acme');
    expect(made.map(({ id, subject }) => [id, subject.name, subject.state])).toEqual([
      ['core', 'Core', 'partial_outage'],
    ]);
    expect(components.map(({ id, subject }) => [id, subject.state])).toEqual([
      ['a', 'major_outage'],
      ['b', 'operational'],
      ['c', 'operational'],
    ]);
  });

  it('weighs the uptime of a group by the time that counts in each component', () => {
    const model = grouped();
    const { components, groups: made } = badgeSubjects(model);
    expect(byId(components, 'a')?.uptime['24h']).toBe(23 / 24);
    expect(byId(made, 'core')?.uptime['24h']).toBe(47 / 48);
    expect(badgeSubjects(empty()).page.uptime['24h']).toBeNull();
  });

  it('is plain data', () => {
    for (const make of [calm, outage, stale, empty]) {
      const subjects = badgeSubjects(make());
      expect(structuredClone(subjects)).toEqual(JSON.parse(JSON.stringify(subjects)));
    }
  });

  it('counts incidents where they belong', () => {
    const model = grouped({
      incidents: [
        incident({ slug: 'open', componentIds: ['a'] }),
        incident({ slug: 'over', componentIds: ['b'], startedAt: ago(5 * DAY_MS), endedAt: ago(4 * DAY_MS) }),
        incident({ slug: 'old', componentIds: ['b'], startedAt: ago(50 * DAY_MS), endedAt: ago(49 * DAY_MS) }),
        incident({ slug: 'all', componentIds: [], startedAt: ago(9 * DAY_MS), endedAt: ago(8 * DAY_MS) }),
      ],
    });
    const { page, groups: made, components } = badgeSubjects(model);
    expect([page.openIncidents, page.incidents30d, page.lastIncidentEndedAt]).toEqual([1, 3, ago(4 * DAY_MS)]);
    expect([byId(made, 'core')?.openIncidents, byId(made, 'core')?.incidents30d]).toEqual([1, 2]);
    expect([byId(components, 'a')?.openIncidents, byId(components, 'a')?.lastIncidentEndedAt]).toEqual([1, null]);
    expect([byId(components, 'b')?.openIncidents, byId(components, 'b')?.incidents30d]).toEqual([0, 1]);
    expect(byId(components, 'c')?.incidents30d).toBe(0);
  });

  it('names the next maintenance, never one that has begun', () => {
    const running = maintenance({ slug: 'now', startsAt: ago(HOUR_MS), endsAt: ago(-HOUR_MS), status: 'in_progress' });
    const next = maintenance({ slug: 'next', startsAt: ago(-DAY_MS), endsAt: ago(-2 * DAY_MS), componentIds: ['a'] });
    const later = maintenance({
      slug: 'later',
      startsAt: ago(-9 * DAY_MS),
      endsAt: ago(-10 * DAY_MS),
      componentIds: ['a'],
    });
    const { page, components } = badgeSubjects(grouped({ maintenances: [later, next, running] }));
    expect(page.nextMaintenanceAt).toBe(ago(-DAY_MS));
    expect(byId(components, 'c')?.nextMaintenanceAt).toBeNull();
  });

  it('is stale where nothing worse is known, and says a known outage even where something is not heard from', () => {
    expect(badgeSubjects(stale()).page).toMatchObject({ state: 'unknown', isStale: true });
    const silent = componentModel({ id: 'b', state: 'unknown', isStale: true });
    const down = componentModel({ id: 'a', state: 'major_outage' });
    const { page } = badgeSubjects(pageModel({ components: [down, silent], isStale: true }));
    expect(page).toMatchObject({ state: 'partial_outage', isStale: true });
  });

  it('has ninety days that end today, and response times of the last day', () => {
    const { page, components } = badgeSubjects(calm());
    expect(page.days).toHaveLength(90);
    const api = byId(components, 'api');
    expect(api?.responseSeries).toHaveLength(48);
    expect(api?.responseTime?.averageMs).toBeGreaterThan(50);
    expect(byId(components, 'exports')?.responseTime).toBeNull();
    expect(page.now).toBe(AS_OF);
  });

  it('lets a young component take nothing from the days before it', () => {
    const young = componentModel({ id: 'b', knownDays: 2 });
    const { page, components } = badgeSubjects(pageModel({ components: [componentModel(), young] }));
    expect(page.days[0]).toBe('o');
    expect(byId(components, 'b')?.days[0]).toBe(LOOKS.unknown.letter);
  });
});
