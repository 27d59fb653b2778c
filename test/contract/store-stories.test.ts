import { describe, expect, it } from 'vitest';
import {
  type CompleteList,
  type Incident,
  type Learned,
  type Maintenance,
  NOTHING_LEARNED,
  type Recurrence,
} from '../../src/model/observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createAudit } from '../../src/store/audit.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import type { Database } from '../../src/store/database.ts';
import { rememberFirsts } from '../../src/store/identities.ts';
import { type Subject, subjects } from '../../src/store/revisions.ts';
import { DATABASES, eachWithDatabase } from '../helpers/databases.ts';

const T0 = toEpochMs(Date.UTC(2026, 0, 10, 12));
const at = (minutes: number) => toEpochMs(T0 + minutes * MINUTE_MS);
const EVER = toEpochMs(0);

function report(id: string, over: Partial<Incident> = {}): Incident {
  return {
    id: `svc/report-${id}`,
    title: `Report ${id}`,
    status: 'investigating',
    impact: 'major',
    startedAt: at(0),
    endedAt: null,
    monitors: [],
    components: [{ id: 'svc/1/api', state: 'degraded' }],
    pages: ['svc/1'],
    affectedState: null,
    isOutage: false,
    updates: [],
    ...over,
  };
}

function planned(id: string, over: Partial<Maintenance> = {}): Maintenance {
  return {
    id: `svc/maintenance-${id}`,
    title: 'Upgrade',
    startsAt: at(60),
    endsAt: at(90),
    monitors: [],
    components: ['svc/1/api'],
    pages: ['svc/1'],
    updates: [],
    ...over,
  };
}

function whole(part: CompleteList['part'], ids: readonly string[], over: Partial<CompleteList> = {}): CompleteList {
  const prefix = part === 'incidents' ? 'svc/report-' : 'svc/maintenance-';
  return { part, prefix, since: null, ids, ...over };
}

describe.each(DATABASES)('stories that upstreams tell and take back, in the store over %s', (kind) => {
  let database: Database;
  let store: Store;
  let minute = 0;

  eachWithDatabase(kind, (place) => {
    database = place.open();
    store = createStore(database);
    minute = 0;
  });

  async function learn(learned: Partial<Learned>) {
    minute += 1;
    return store.commitPass({
      upstreamId: 'svc',
      observedAt: at(minute),
      learned: { ...NOTHING_LEARNED, ...learned },
      continuity: 'continuous',
      spanChanges: [],
    });
  }

  /** A pass that lists all reports there are. */
  const list = (...reports: Incident[]) =>
    learn({
      incidents: reports,
      complete: [
        whole(
          'incidents',
          reports.map(({ id }) => id),
        ),
      ],
    });
  const shown = async () => (await store.incidents(EVER)).map(({ id }) => id).toSorted();
  const planShown = async () => (await store.maintenances(EVER)).map(({ id }) => id).toSorted();

  it('withdraw an incident that a whole list lacks twice, and say so in the audit', async () => {
    await list(report('1'), report('2', { endedAt: at(1), status: 'resolved' }));
    expect((await list(report('1'))).incidents).toEqual([]);
    expect(await shown()).toEqual(['svc/report-1', 'svc/report-2']);
    const revision = (await store.changesSince(0)).revision;
    expect((await list(report('1'))).incidents).toEqual(['svc/report-2']);
    expect(await shown()).toEqual(['svc/report-1']);
    expect(await store.incidentsAbout([subjects.page('svc/1')], EVER)).toHaveLength(1);
    expect((await store.changesSince(revision)).subjects).toContain(subjects.page('svc/1'));
    const [kept] = await store.database.all(
      'SELECT document, withdrawn_at FROM incident WHERE withdrawn_at IS NOT NULL',
    );
    expect(JSON.parse(String(kept?.['document']))).toMatchObject({ title: 'Report 2' });
    expect(await createAudit(store.database).entries(10)).toMatchObject([
      {
        actor: 'upstream:svc',
        action: 'withdraw',
        subject: 'svc',
        at: at(3),
        outcome: expect.stringContaining('svc/report-2'),
      },
    ]);
    await list(report('1'));
    expect(await createAudit(store.database).entries(10)).toHaveLength(1);
  });

  it('withdraw an open incident too, which nobody resolved', async () => {
    await list(report('1'));
    await list();
    expect((await store.incidents(EVER))[0]).toMatchObject({ status: 'investigating', endedAt: null });
    expect([...(await store.openStories('svc')).keys()]).toEqual(['report-1']);
    await list();
    expect(await shown()).toEqual([]);
    expect([...(await store.openStories('svc')).keys()]).toEqual([]);
  });

  it('forget that one was missing once it is back, and show one again that was withdrawn', async () => {
    await list(report('1'));
    await list();
    await list(report('1'));
    await list();
    expect(await shown()).toEqual(['svc/report-1']);
    await list();
    expect(await shown()).toEqual([]);
    expect((await list(report('1'))).incidents).toEqual(['svc/report-1']);
    expect(await shown()).toEqual(['svc/report-1']);
  });

  it('keep what only left the stretch that a list covers, and what no whole list is about', async () => {
    const old = report('1', { startedAt: at(-100), endedAt: at(-90), status: 'resolved' });
    await learn({ incidents: [old, report('2'), { ...report('3'), id: 'svc/outage-3' }] });
    for (let pass = 0; pass < 3; pass += 1) await learn({ complete: [whole('incidents', [], { since: at(-50) })] });
    expect(await shown()).toEqual(['svc/outage-3', 'svc/report-1']);
    for (let pass = 0; pass < 3; pass += 1) await learn({});
    expect(await shown()).toEqual(['svc/outage-3', 'svc/report-1']);
  });

  it('keep everything while a list could not be read, and what it holds but could not be read', async () => {
    await list(report('1'));
    for (let pass = 0; pass < 3; pass += 1) await learn({ stale: ['incidents'], complete: [whole('incidents', [])] });
    for (let pass = 0; pass < 3; pass += 1) await learn({ complete: [whole('incidents', ['svc/report-1'])] });
    expect(await shown()).toEqual(['svc/report-1']);
  });

  it('withdraw what the upstream says twice is no more, whatever lists say', async () => {
    await learn({ incidents: [report('1'), report('2')] });
    await learn({ gone: ['svc/report-1'] });
    expect(await shown()).toEqual(['svc/report-1', 'svc/report-2']);
    await learn({ gone: ['svc/report-1'] });
    expect(await shown()).toEqual(['svc/report-2']);
  });

  it('take an id that is given again for another story, and leave the old one behind', async () => {
    const born = (minutes: number, over: Partial<Incident> = {}) => report('7', { bornAt: at(minutes), ...over });
    await list(born(0, { title: 'Before', endedAt: at(1), status: 'resolved' }));
    await list(born(0, { title: 'Before, edited', startedAt: at(-5), endedAt: at(1), status: 'resolved' }));
    expect(await shown()).toEqual(['svc/report-7']);
    const after = born(2, { title: 'After', pages: ['svc/2'] });
    const { incidents } = await list(after);
    const [id = ''] = await shown();
    expect(id).toMatch(/^svc\/report-7@[0-9a-z]+$/);
    expect(incidents.toSorted()).toEqual(['svc/report-7', id]);
    expect((await store.incidents(EVER))[0]).toMatchObject({ title: 'After', pages: ['svc/2'] });
    await list(born(2, { title: 'After, edited', pages: ['svc/2'] }));
    expect(await shown()).toEqual([id]);
    expect([...(await store.openStories('svc')).keys()]).toEqual(['report-7']);
    await list();
    await list();
    expect(await shown()).toEqual([]);
  });

  it('take an incident without a birth for the one that is known by its id', async () => {
    await list(report('1'));
    await list(report('1', { bornAt: at(0), title: 'Now with a birth' }));
    expect(await shown()).toEqual(['svc/report-1']);
    await list(report('1', { bornAt: at(1) }));
    expect(await shown()).toEqual([expect.stringContaining('svc/report-1@')]);
  });

  it('keep the pages of an incident that names none any more', async () => {
    await list(report('1', { components: [] }));
    await list(report('1', { components: [], pages: [], status: 'resolved', endedAt: at(1) }));
    expect((await store.incidents(EVER))[0]).toMatchObject({ status: 'resolved', pages: ['svc/1'] });
    expect(await store.incidentsAbout([subjects.page('svc/1')], EVER)).toHaveLength(1);
  });

  it('remember when each was first seen, whatever becomes of it', async () => {
    await list(report('1'));
    await learn({ maintenances: [planned('1')] });
    await list(report('1', { title: 'Edited' }));
    await learn({ maintenances: [planned('1', { title: 'Edited' })] });
    expect((await store.incidents(EVER))[0]).toMatchObject({ title: 'Edited', firstSeenAt: at(1), changedAt: at(3) });
    expect((await store.maintenances(EVER))[0]).toMatchObject({
      title: 'Edited',
      firstSeenAt: at(2),
      changedAt: at(4),
    });
  });

  it('name those that were not read for longest', async () => {
    const ended = { endedAt: at(1), status: 'resolved' } as const;
    await learn({
      incidents: [report('1', ended), report('2', ended), report('3', ended)],
      readAgain: ['svc/report-1', 'svc/report-2'],
    });
    await learn({ incidents: [report('1', ended)], readAgain: ['svc/report-1'] });
    expect([...(await store.incidentsReadAt('svc', 9))]).toEqual([
      ['report-2', at(1)],
      ['report-1', at(2)],
    ]);
    expect([...(await store.incidentsReadAt('svc', 1)).keys()]).toEqual(['report-2']);
  });

  it('withdraw a maintenance that a whole list lacks twice, also while it runs', async () => {
    const running = planned('1', { startsAt: at(0), endsAt: at(200) });
    const listed = (...all: Maintenance[]) =>
      learn({
        maintenances: all,
        complete: [
          whole(
            'maintenances',
            all.map(({ id }) => id),
          ),
        ],
      });
    await listed(running, planned('2'));
    await listed(planned('2'));
    expect(await planShown()).toEqual(['svc/maintenance-1', 'svc/maintenance-2']);
    await listed(planned('2'));
    expect(await planShown()).toEqual(['svc/maintenance-2']);
    for (let pass = 0; pass < 3; pass += 1)
      await learn({ stale: ['maintenances'], complete: [whole('maintenances', [])] });
    expect(await planShown()).toEqual(['svc/maintenance-2']);
  });

  it('count the changes of a maintenance', async () => {
    await learn({ maintenances: [planned('1')] });
    expect((await store.maintenances(EVER))[0]).toMatchObject({ sequence: 0, changedAt: at(1) });
    await learn({ maintenances: [planned('1')] });
    await learn({ maintenances: [planned('1', { endsAt: at(120) })] });
    expect((await store.maintenances(EVER))[0]).toMatchObject({ sequence: 1, changedAt: at(3), endsAt: at(120) });
  });

  it('count the changes of a maintenance that was first seen before the clock was set back', async () => {
    minute = 30;
    await learn({ maintenances: [planned('1')] });
    minute = 10;
    await store.cutFuture('svc', at(11));
    await learn({ maintenances: [planned('1', { endsAt: at(120) })] });
    expect((await store.maintenances(EVER))[0]).toMatchObject({ sequence: 1, changedAt: at(11), endsAt: at(120) });
  });

  describe('a maintenance that repeats', () => {
    /** Windows of ten minutes by the minute they begin in. */
    const repeating = (starts: readonly number[], over: Partial<Maintenance> = {}): Maintenance => {
      const windows = starts.map((start) => ({ from: at(start), to: at(start + 10) }));
      const next = windows.find(({ to }) => to > at(minute + 1)) ?? windows.at(-1);
      const repeats: Recurrence = { rule: 'FREQ=HOURLY', every: 'day', interval: 1, weekdays: [], windows };
      return planned('r', { startsAt: next?.from ?? at(0), endsAt: next?.to ?? at(0), repeats, ...over });
    };
    const windows = async () =>
      (await store.maintenances(EVER))[0]?.repeats?.windows.map(({ from }) => (from - T0) / MINUTE_MS);

    it('keeps the windows that took place, and takes those to come as they are told', async () => {
      await learn({ maintenances: [repeating([-120, -60, 0, 60, 120])] });
      expect(await windows()).toEqual([-120, -60, 0, 60, 120]);
      minute = 70;
      await learn({ maintenances: [repeating([-75, -15, 45, 105, 165])] });
      expect(await windows()).toEqual([-120, -60, 0, 60, 105, 165]);
      minute = 74;
      await learn({ maintenances: [repeating([105])] });
      expect(await windows()).toEqual([-120, -60, 0, 60, 105]);
    });

    it('is no news by itself when the next window comes near, and is when its windows move', async () => {
      await learn({ maintenances: [repeating([0, 60, 120])] });
      const read = async () => (await store.maintenances(EVER))[0];
      minute = 30;
      await learn({ maintenances: [repeating([0, 60, 120, 180])] });
      expect(await read()).toMatchObject({ sequence: 0, changedAt: at(1), startsAt: at(60) });
      await learn({ maintenances: [repeating([0, 60, 125, 185])] });
      expect(await read()).toMatchObject({ sequence: 1, changedAt: at(32) });
      await learn({ maintenances: [repeating([0, 60, 125, 185], { title: 'Another' })] });
      expect(await read()).toMatchObject({ sequence: 2, changedAt: at(33) });
    });
  });

  it('remember when pages and their components were first defined', async () => {
    const about = [subjects.page('svc/1'), subjects.component('svc/1/api')];
    expect(await store.firstSeenAt(about)).toEqual(new Map());
    const remember = (seen: readonly Subject[], when: EpochMs) =>
      rememberFirsts(database, { page: 'svc/1', at: when, subjects: seen, entries: [] });
    await remember(about.slice(0, 1), at(1));
    await remember(about, at(2));
    const seen = await store.firstSeenAt(about);
    expect(about.map((subject) => seen.get(subject))).toEqual([at(1), at(2)]);
  });

  it('remember entries of a page as they were first published', async () => {
    const entry = { id: 'auto/api-1', componentId: 'api', fellAt: at(0), firstSeenAt: at(3) };
    const remember = (page: string, fellAt: EpochMs) =>
      rememberFirsts(database, { page, at: at(3), subjects: [], entries: [{ ...entry, fellAt }] });
    await remember('svc/1', at(0));
    await remember('svc/1', at(1));
    await remember('svc/2', at(0));
    expect(await store.entries('svc/1')).toEqual([entry]);
    await store.retain(toEpochMs(at(0) + HOUR_MS));
    expect(await store.entries('svc/1')).toEqual([]);
  });
});
