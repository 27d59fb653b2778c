import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Incident,
  type Learned,
  type Maintenance,
  type MonitorId,
  type MonitorObservation,
  NOTHING_LEARNED,
  toMonitorId,
} from '../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { subjects } from '../../src/store/revisions.ts';
import { DATABASES, eachWithDatabase, type TestDatabase } from '../helpers/databases.ts';

const T0 = toEpochMs(Date.UTC(2026, 0, 10, 12));
const at = (minutes: number) => toEpochMs(T0 + minutes * MINUTE_MS);
const LONG_AGO = toEpochMs(T0 - 400 * DAY_MS);
const [API, WEB] = [toMonitorId('edge', 1), toMonitorId('edge', 2)];

function monitor(id: MonitorId, state: MonitorObservation['state'] = 'operational'): MonitorObservation {
  return { id, name: id, description: null, kind: 'http', target: null, state, isPublic: null, createdAt: null };
}

function incident(id: string, over: Partial<Incident> = {}): Incident {
  return {
    id: `edge/${id}`,
    title: 'Trouble',
    status: 'investigating',
    impact: 'major',
    startedAt: at(0),
    endedAt: null,
    monitors: [],
    components: [],
    pages: null,
    affectedState: null,
    isOutage: false,
    updates: [],
    ...over,
  };
}

const WINDOW: Maintenance = {
  id: 'edge/m1',
  title: 'Upgrade',
  startsAt: toEpochMs(T0 + HOUR_MS),
  endsAt: toEpochMs(T0 + 2 * HOUR_MS),
  monitors: [WEB],
  components: ['edge/p1/web'],
  pages: null,
  updates: [],
};

describe.each(DATABASES)('what changed in the store over %s', (kind) => {
  let database: TestDatabase;
  let store: Store;
  let minute = 0;

  async function learn(learned: Partial<Learned>): Promise<void> {
    await store.commitPass({
      upstreamId: 'edge',
      observedAt: at(minute),
      learned: { ...NOTHING_LEARNED, monitors: [monitor(API), monitor(WEB)], ...learned },
      continuity: minute === 0 ? 'broken' : 'continuous',
      spanChanges: [],
    });
    minute += 1;
  }

  eachWithDatabase(kind, (place) => {
    database = place;
    store = createStore(place.open());
    minute = 0;
  });
  beforeEach(() => learn({}));

  const revision = async (): Promise<number> => (await store.changesSince(0)).revision;

  it('is everything since the beginning, and nothing since the last look', async () => {
    const all = await store.changesSince(0);
    expect(all.monitors.toSorted()).toEqual([API, WEB]);
    await learn({});
    expect(await store.changesSince(all.revision)).toEqual({
      revision: all.revision,
      monitors: [],
      subjects: [],
      hasNewDefinitions: false,
    });
  });

  it('names a monitor that is in another state, new, or gone, and no other', async () => {
    const before = await revision();
    await learn({ monitors: [monitor(API, 'degraded'), monitor(WEB)] });
    expect((await store.changesSince(before)).monitors).toEqual([API]);
    const between = await revision();
    await learn({ monitors: [monitor(API, 'degraded'), monitor(toMonitorId('edge', 3))] });
    expect((await store.changesSince(between)).monitors.toSorted()).toEqual([WEB, 'edge/3']);
    expect((await store.changesSince(before)).monitors.toSorted()).toEqual([API, WEB, 'edge/3']);
  });

  it('is seen by a process that opened the database before', async () => {
    const other = createStore(database.open());
    const before = (await other.changesSince(0)).revision;
    await learn({ monitors: [monitor(API, 'major_outage'), monitor(WEB)] });
    expect((await other.changesSince(before)).monitors).toEqual([API]);
    await other.close();
  });

  it('names what an incident is about, and the page it left when it is moved to another', async () => {
    let before = await revision();
    await learn({ incidents: [incident('a', { monitors: [API], components: [{ id: 'edge/p1/api', state: null }] })] });
    expect((await store.changesSince(before)).subjects.toSorted()).toEqual([
      subjects.component('edge/p1/api'),
      subjects.monitor(API),
    ]);
    before = await revision();
    await learn({ incidents: [incident('a', { pages: ['edge/p1'] })] });
    before = await revision();
    await learn({ incidents: [incident('a', { pages: ['edge/p2'] })] });
    const { subjects: about } = await store.changesSince(before);
    expect(about).toContain(subjects.page('edge/p1'));
    expect(about).toContain(subjects.page('edge/p2'));
  });

  it('names what a maintenance was about that is taken back', async () => {
    await learn({ maintenances: [WINDOW] });
    const nothing = { complete: [{ part: 'maintenances', prefix: 'edge/', since: null, ids: [] }] } as const;
    await learn(nothing);
    const before = await revision();
    await learn(nothing);
    expect((await store.changesSince(before)).subjects.toSorted()).toEqual([
      subjects.component('edge/p1/web'),
      subjects.monitor(WEB),
    ]);
    expect(await store.maintenancesAbout([subjects.monitor(WEB)], LONG_AGO)).toEqual([]);
  });

  it('tells of definitions and announcements, by whichever upstream', async () => {
    const before = await revision();
    await learn({
      announcements: [{ id: 'n', title: 'Hello', body: '', level: 'info', from: at(0), to: null, pages: null }],
    });
    expect((await store.changesSince(before)).hasNewDefinitions).toBe(true);
    expect((await store.changesSince(await revision())).hasNewDefinitions).toBe(false);
  });

  it('finds incidents and maintenances by what they are about, each once, newest start first', async () => {
    await learn({
      incidents: [
        incident('old', { monitors: [API], startedAt: at(-60), endedAt: at(-50), status: 'resolved' }),
        incident('new', { monitors: [API, WEB] }),
        incident('else', { monitors: [WEB], pages: ['edge/p9'] }),
      ],
      maintenances: [WINDOW],
    });
    const ids = async (...about: Parameters<Store['incidentsAbout']>[0]) =>
      (await store.incidentsAbout(about, LONG_AGO)).map(({ id }) => id);
    expect(await ids(subjects.monitor(API), subjects.monitor(WEB))).toEqual(['edge/new', 'edge/old']);
    expect(await ids(subjects.monitor(WEB))).toEqual(['edge/new']);
    expect(await ids(subjects.page('edge/p9'))).toEqual(['edge/else']);
    expect(await ids()).toEqual([]);
    expect((await store.incidentsAbout([subjects.monitor(API)], at(-55))).map(({ id }) => id)).toEqual([
      'edge/new',
      'edge/old',
    ]);
    expect((await store.incidentsAbout([subjects.monitor(API)], at(-45))).map(({ id }) => id)).toEqual(['edge/new']);
    expect(await store.maintenancesAbout([subjects.component('edge/p1/web')], LONG_AGO)).toMatchObject([WINDOW]);
  });

  it('finds 1,300 of 1,300 monitors by id, and leaves out those that are gone', async () => {
    const many = Array.from({ length: 1_300 }, (_, index) => monitor(toMonitorId('edge', 100 + index)));
    await learn({ monitors: many });
    const ids = many.map(({ id }) => id);
    expect([...(await store.monitorsById(ids)).keys()].toSorted()).toEqual(ids.toSorted());
    expect(await store.monitorsById([API])).toEqual(new Map());
  });

  it('forgets what an incident was about together with the incident', async () => {
    await learn({ incidents: [incident('a', { monitors: [API], endedAt: at(1), status: 'resolved' })] });
    await store.retain(at(30));
    const rows = await store.database.all('SELECT * FROM event_subject');
    expect(rows).toEqual([]);
  });
});
