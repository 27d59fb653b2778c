import { describe, expect, it } from 'vitest';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import type { Disturbance } from '../../../src/sandbox/course.ts';
import { countChecks } from '../../../src/sandbox/course.ts';
import type { Service } from '../../../src/sandbox/services.ts';
import { createTestWorld, type World } from '../../sandbox/world.ts';

const START = toEpochMs(Date.UTC(2026, 10, 21, 9, 13, 27));
const later = (ms: number): EpochMs => toEpochMs(START + ms);

function worldOf(options: Partial<Parameters<typeof createTestWorld>[0]> = {}): World {
  return createTestWorld({ seed: 1, startedAt: START, ...options });
}

function serviceOf(world: World, key: string): Service {
  const service = world.find(key);
  if (service === undefined) throw new Error(`no ${key}`);
  return service;
}

describe('a world', () => {
  it('is the same for the same seed and instant, whatever was asked before', () => {
    const fresh = worldOf().at(later(3 * HOUR_MS));
    const used = worldOf();
    for (const ms of [5 * HOUR_MS, 0, -80 * DAY_MS, HOUR_MS]) used.at(later(ms));
    expect(used.at(later(3 * HOUR_MS))).toEqual(fresh);
  });

  it('is another for another seed', () => {
    expect(worldOf({ seed: 2 }).at(later(HOUR_MS))).not.toEqual(worldOf().at(later(HOUR_MS)));
  });

  it('has ninety days of past: outages of every length, all over before the start', () => {
    const incidents = worldOf({ isCalm: true }).incidentsAt(START);
    const lengths = incidents.map(({ startedAt, endedAt }) => (endedAt ?? Number.NaN) - startedAt);
    expect(incidents.length).toBeGreaterThanOrEqual(8);
    expect(Math.min(...lengths)).toBeLessThan(2 * MINUTE_MS);
    expect(Math.max(...lengths)).toBeGreaterThan(6 * HOUR_MS);
    expect(Math.min(...incidents.map(({ startedAt }) => startedAt))).toBeGreaterThan(START - 90 * DAY_MS);
  });

  it('has an outage that begins inside a maintenance of the same service and outlasts it', () => {
    const world = worldOf();
    const overlapping = world.maintenances.filter(({ serviceIds, from, to }) =>
      world
        .incidentsAt(START)
        .some(
          ({ service, startedAt, endedAt }) =>
            serviceIds.includes(service.id) && startedAt > from && startedAt < to && (endedAt ?? 0) > to,
        ),
    );
    expect(overlapping).toHaveLength(1);
  });

  it('lists incidents newest first, with numbers that grow with time and never repeat', () => {
    const ids = worldOf()
      .incidentsAt(later(DAY_MS))
      .map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('does not know yet when an outage will end while it lasts', () => {
    const world = worldOf({ isCalm: true });
    const long = world.incidentsAt(START).find(({ service }) => service.key === 'database');
    const during = world.incidentsAt(toEpochMs((long?.startedAt ?? 0) + HOUR_MS)).find(({ id }) => id === long?.id);
    expect(long?.endedAt).not.toBeNull();
    expect(during).toEqual({ ...long, endedAt: null });
  });

  it('keeps the number and the beginning of an incident as time goes on', () => {
    const world = worldOf();
    const early = world.incidentsAt(later(HOUR_MS)).map(({ id, startedAt }) => ({ id, startedAt }));
    const late = world.incidentsAt(later(30 * DAY_MS)).map(({ id, startedAt }) => ({ id, startedAt }));
    expect(late).toEqual(expect.arrayContaining(early));
  });

  it('changes some state at least every six minutes for its first two hours', () => {
    const world = worldOf();
    const states = (ms: number): string =>
      world
        .at(later(ms))
        .services.map(({ status }) => status)
        .join();
    const changes: number[] = [0];
    for (let ms = 10_000; ms <= 2 * HOUR_MS; ms += 10_000) {
      if (states(ms) !== states(ms - 10_000)) changes.push(ms);
    }
    const waits = changes.slice(1).map((at, index) => at - (changes[index] ?? 0));
    expect(waits.length).toBeGreaterThan(40);
    expect(Math.max(...waits)).toBeLessThanOrEqual(6 * MINUTE_MS);
  });

  it('goes on changing for weeks, but not so often that incidents pile up', () => {
    const world = worldOf();
    const perDay = world.incidentsAt(later(20 * DAY_MS)).length - world.incidentsAt(later(19 * DAY_MS)).length;
    expect(perDay).toBeGreaterThan(12);
    expect(perDay).toBeLessThan(48);
  });

  it('does nothing by itself when it is calm', () => {
    const world = worldOf({ isCalm: true });
    const without = ({ services, incidents }: ReturnType<World['at']>): unknown => [
      services.map(({ status }) => status),
      incidents,
    ];
    expect(without(world.at(later(5 * DAY_MS)))).toEqual(without(world.at(START)));
    expect(
      world
        .at(START)
        .services.map(({ status }) => status)
        .filter((status) => status !== 'up'),
    ).toEqual(['paused']);
  });

  it('can be of any size, with outages in proportion', () => {
    const world = worldOf({ services: 1_000, isCalm: true });
    expect(world.services.map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
    expect(new Set(world.services.map(({ key }) => key)).size).toBe(1_000);
    expect(world.incidentsAt(START).length).toBeGreaterThan(100);
    expect(worldOf({ services: 50, extraOutages: 3_000, isCalm: true }).incidentsAt(START)).toHaveLength(3_010);
  });

  it('never has two extra outages of one service at once', () => {
    const world = worldOf({ services: 10, extraOutages: 2_000, isCalm: true });
    const outages = world.incidentsAt(START, serviceOf(world, 'service-10'));
    expect(outages.length).toBeGreaterThan(100);
    for (const [index, { startedAt }] of outages.slice(0, -1).entries()) {
      expect(outages[index + 1]?.endedAt).toBeLessThan(startedAt);
    }
  });

  it('has three pages, one of each kind of access, whose components are services that exist', () => {
    for (const services of [1, 3, 9, 20, 49]) {
      const world = worldOf({ services });
      const large = services > 9 ? ['public'] : [];
      expect(world.pages.map(({ accessType }) => accessType)).toEqual(['public', 'password', 'email-domain', ...large]);
      const components = world.pages.flatMap((page) => page.components);
      expect(components.every(({ serviceId }) => serviceId === null || serviceId <= services)).toBe(true);
      expect(new Set(components.map(({ id }) => id)).size).toBe(components.length);
    }
  });

  it('has a page of forty components, in groups, where there are services for it', () => {
    const page = worldOf({ services: 49 }).pages.find(({ slug }) => slug === 'cloud');
    expect(page?.components).toHaveLength(40);
    expect(page?.groups.map(({ name }) => name)).toEqual(['Frankfurt', 'Dublin', 'Virginia', 'Oregon', 'Singapore']);
    expect(page?.components.at(9)?.name).toBe('Object storage');
  });

  it('shows no service on its public page that is not public', () => {
    const world = worldOf();
    const [page] = world.pages;
    const shown =
      page?.components.flatMap(({ serviceId }) => world.services.filter(({ id }) => id === serviceId)) ?? [];
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.every(({ isPublic }) => isPublic)).toBe(true);
  });

  it('tells what people wrote only from the instant they wrote it', () => {
    const world = worldOf();
    const open = (at: EpochMs): string | undefined =>
      world
        .reportsAt(at)
        .find(({ id }) => id === 3)
        ?.updates.at(-1)?.status;
    expect(open(later(-HOUR_MS))).toBeUndefined();
    expect(open(later(-20 * MINUTE_MS))).toBe('investigating');
    expect(open(START)).toBe('identified');
    expect(open(later(HOUR_MS))).toBe('resolved');
  });
});

describe('forcing a service', () => {
  function forcing(): { world: World; tick: (ms: number) => EpochMs } {
    let now: EpochMs = START;
    const world = worldOf({ isCalm: true, now: () => now });
    return {
      world,
      tick(ms) {
        now = toEpochMs(now + ms);
        return now;
      },
    };
  }

  it('holds from now on, not before, and opens an incident at that instant', () => {
    const { world, tick } = forcing();
    const at = tick(HOUR_MS);
    world.force('edge/2', 'down');
    const api = serviceOf(world, 'api');
    expect(world.stateOf(api, toEpochMs(at - 1)).status).toBe('up');
    expect(world.stateOf(api, at)).toMatchObject({ status: 'down', since: at });
    expect(world.incidentsAt(at)[0]).toMatchObject({ service: { key: 'api' }, startedAt: at, endedAt: null });
  });

  it('closes the incident when the service is given back, and the past stays', () => {
    const { world, tick } = forcing();
    world.force('api', 'down');
    const before = world.incidentsAt(START).length;
    const end = tick(10 * MINUTE_MS);
    world.force('svc/2', null);
    expect(world.incidentsAt(end)).toHaveLength(before);
    expect(world.incidentsAt(end)[0]).toMatchObject({ startedAt: START, endedAt: end });
    expect(world.stateOf(serviceOf(world, 'api'), end).status).toBe('up');
    expect(world.stateOf(serviceOf(world, 'api'), START).status).toBe('down');
  });

  it('opens one incident, however often the same status is forced', () => {
    const { world, tick } = forcing();
    const before = world.incidentsAt(START).length;
    for (let times = 0; times < 3; times += 1) {
      world.force('api', 'down');
      tick(MINUTE_MS);
    }
    expect(world.incidentsAt(tick(0)).length - before).toBe(1);
    world.force('api', 'degraded');
    expect(world.incidentsAt(tick(0))[0]?.endedAt).not.toBeNull();
  });

  it('overrules what was going on, also a pause', () => {
    const { world } = forcing();
    world.force('legacy', 'up');
    expect(world.stateOf(serviceOf(world, 'legacy'), START).status).toBe('up');
  });

  it('keeps the mishaps of a lively service away while it lasts', () => {
    let now: EpochMs = START;
    const world = worldOf({ now: () => now });
    for (const service of world.services) world.force(service.key, 'up');
    const before = world.incidentsAt(START).length;
    now = later(DAY_MS);
    expect(world.incidentsAt(now)).toHaveLength(before);
    expect(new Set(world.at(now).services.map(({ status }) => status))).toEqual(new Set(['up']));
  });

  it('refuses a service that does not exist', () => {
    expect(() => forcing().world.force('edge/99', 'down')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});

describe('the checks of a service', () => {
  const world = worldOf({ isCalm: true });

  it('are one a minute, at whole minutes of the half-open stretch', () => {
    const website = serviceOf(world, 'website');
    const minute = toEpochMs(Date.UTC(2026, 10, 20, 12, 0));
    expect(world.checksOf(website, minute, toEpochMs(minute + MINUTE_MS)).total).toBe(1);
    expect(world.checksOf(website, toEpochMs(minute + 1), toEpochMs(minute + MINUTE_MS)).total).toBe(0);
    expect(world.checksOf(website, minute, toEpochMs(minute + DAY_MS))).toEqual({
      total: 1_440,
      up: 1_440,
      degraded: 0,
    });
  });

  it('agree with asking how the service is at each of them', () => {
    for (const service of world.services) {
      const from = toEpochMs(Date.UTC(2026, 8, 18));
      const to = toEpochMs(from + 4 * DAY_MS);
      const statuses = Array.from({ length: (to - from) / MINUTE_MS }, (_, index) => {
        return world.stateOf(service, toEpochMs(from + index * MINUTE_MS)).status;
      });
      const total = statuses.filter((status) => status !== 'paused').length;
      const down = statuses.filter((status) => status === 'down').length;
      const degraded = statuses.filter((status) => status === 'degraded').length;
      expect(world.checksOf(service, from, to)).toEqual({ total, up: total - down, degraded });
    }
  });

  it('count a minute once, by the worst that happened in it', () => {
    const at = (minutes: number): EpochMs => later(minutes * MINUTE_MS - (START % MINUTE_MS));
    const disturbance = (status: 'down' | 'degraded' | 'paused', from: number, to: number): Disturbance => ({
      incidentId: null,
      serviceId: 1,
      status,
      from: at(from),
      to: at(to),
      title: '',
      description: null,
    });
    const overlapping = [disturbance('degraded', 0, 10), disturbance('down', 5, 12), disturbance('paused', 11, 15)];
    expect(countChecks(overlapping, at(0), at(20))).toEqual({ total: 16, up: 10, degraded: 5 });
  });

  it('do not run while it is paused', () => {
    expect(world.checksOf(serviceOf(world, 'legacy'), later(-DAY_MS), START).total).toBe(0);
  });

  it('take longer when it is slow and get no answer when it is down', () => {
    let now: EpochMs = START;
    const forced = worldOf({ isCalm: true, now: () => now });
    const api = serviceOf(forced, 'api');
    const well = forced.responseTimeAt(api, START) ?? 0;
    forced.force('api', 'degraded');
    expect(forced.responseTimeAt(api, START)).toBeGreaterThan(2 * well);
    now = later(MINUTE_MS);
    forced.force('api', 'down');
    expect(forced.responseTimeAt(api, now)).toBeNull();
  });
});
