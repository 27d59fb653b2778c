import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Incident,
  type Learned,
  type MonitorObservation,
  NOTHING_LEARNED,
  toMonitorId,
} from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import { DAY_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { nextReleaseNumber, raiseReleaseNumbers } from '../../src/store/identities.ts';
import type { PassCommit } from '../../src/store/revisions.ts';
import { copySqlite, openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { DATABASES, eachWithDatabase } from '../helpers/databases.ts';

const T0 = toEpochMs(Date.UTC(2026, 0, 10, 12));
const at = (minutes: number) => toEpochMs(T0 + minutes * MINUTE_MS);
const API = toMonitorId('edge', 1);
const WEB = toMonitorId('edge', 2);

function monitor(id: typeof API, state: State): MonitorObservation {
  return {
    id,
    name: `Monitor ${id}`,
    description: null,
    kind: 'http',
    target: null,
    state,
    isPublic: null,
    createdAt: null,
  };
}

function incident(over: Partial<Incident>): Incident {
  return {
    id: 'edge/i1',
    title: 'API is down',
    status: 'investigating',
    impact: 'critical',
    startedAt: at(0),
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

function commit(minutes: number, learned: Partial<Learned>, over: Partial<PassCommit> = {}): PassCommit {
  return {
    upstreamId: 'edge',
    observedAt: at(minutes),
    learned: { ...NOTHING_LEARNED, ...learned },
    continuity: 'continuous',
    spanChanges: [],
    ...over,
  };
}

describe.each(DATABASES)('the store over %s', (kind) => {
  let store: Store;

  eachWithDatabase(kind, (place) => {
    store = createStore(place.open());
  });

  it('tells the next pass that the last one could not be written to disk', async () => {
    const flush = vi.fn(async () => undefined).mockRejectedValueOnce(new Error('EIO'));
    const passing = createStore({ ...store.database, flush });
    await passing.commitPass(commit(0, {}));
    await expect(passing.commitPass(commit(1, {}))).rejects.toThrow('EIO');
    await passing.commitPass(commit(2, {}));
    expect(flush).toHaveBeenCalledTimes(2);
    await store.database.flush();
  });

  it('gives no number of a release twice, not to two who ask at once, nor one that is taken elsewhere', async () => {
    const next = (above = 0): Promise<number> => nextReleaseNumber(store.database, 'acme', above);
    expect([await next(), await next()]).toEqual([1, 2]);
    expect((await Promise.all([next(), next(), next()])).toSorted((a, b) => a - b)).toEqual([3, 4, 5]);
    expect(await next(9)).toBe(10);
    await raiseReleaseNumbers(store.database, new Map([['acme', 40]]));
    await raiseReleaseNumbers(store.database, new Map([['acme', 7]]));
    expect(await next()).toBe(41);
    expect(await nextReleaseNumber(store.database, 'other', 0)).toBe(1);
  });

  it('lets an open span last to the last good answer, so that a pass without changes writes no span', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    const result = await store.commitPass(commit(1, { monitors: [monitor(API, 'operational')] }));
    expect(result.monitors).toEqual([]);
    const past = (await store.pasts([API], at(-10))).get(API);
    expect(past?.observed).toEqual([{ state: 'operational', from: at(0), to: at(1) }]);
  });

  it('ends one span and begins the next when a state changes', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    await store.commitPass(
      commit(
        1,
        { monitors: [monitor(API, 'major_outage')] },
        { spanChanges: [{ monitor: API, at: at(1), state: 'major_outage' }] },
      ),
    );
    await store.commitPass(commit(2, { monitors: [monitor(API, 'major_outage')] }));
    expect((await store.pasts([API], at(-10))).get(API)?.observed).toEqual([
      { state: 'operational', from: at(0), to: at(1) },
      { state: 'major_outage', from: at(1), to: at(2) },
    ]);
  });

  it('leaves the time between two far passes to nobody', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    await store.commitPass(commit(1, { monitors: [monitor(API, 'operational')] }));
    await store.commitPass(commit(60, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    expect((await store.pasts([API], at(-10))).get(API)?.observed).toEqual([
      { state: 'operational', from: at(0), to: at(1) },
      { state: 'operational', from: at(60), to: at(60) },
    ]);
  });

  it('keeps the past of a monitor that its upstream no longer lists', async () => {
    await store.commitPass(
      commit(0, { monitors: [monitor(API, 'operational'), monitor(WEB, 'operational')] }, { continuity: 'broken' }),
    );
    const result = await store.commitPass(commit(1, { monitors: [monitor(API, 'operational')] }));
    expect(result.monitors).toEqual([WEB]);
    expect([...(await store.monitors('edge')).keys()]).toEqual([API]);
    await store.commitPass(commit(9, { monitors: [monitor(API, 'operational')] }));
    expect((await store.pasts([WEB], at(-10))).get(WEB)?.observed).toEqual([
      { state: 'operational', from: at(0), to: at(1) },
    ]);
  });

  it('ignores an answer older than what is remembered', async () => {
    await store.commitPass(commit(5, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    await store.commitPass(commit(3, { monitors: [monitor(API, 'major_outage')] }));
    expect((await store.monitors('edge')).get(API)?.state).toBe('operational');
  });

  it('takes answers again after a clock that ran ahead was set right', async () => {
    await store.commitPass(commit(24 * 60, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    const late = commit(0, { monitors: [monitor(API, 'major_outage')] }, { continuity: 'broken' });
    expect(await store.commitPass(late)).toMatchObject({ isOutdated: true });
    expect((await store.monitors('edge')).get(API)?.state).toBe('operational');
    expect(await store.cutFuture('edge', at(0))).toBe(24 * 60 * MINUTE_MS);
    expect(await store.cutFuture('edge', at(0))).toBe(0);
    await store.commitPass(late);
    expect((await store.monitors('edge')).get(API)?.state).toBe('major_outage');
    expect((await store.upstreams()).get('edge')?.monitorsAt).toBe(at(0));
  });

  it('keeps an open incident open while its list could not be read', async () => {
    await store.commitPass(commit(0, { incidents: [incident({})] }));
    await store.commitPass(commit(4, { stale: ['incidents'] }));
    expect((await store.incidents(at(-10)))[0]?.endedAt).toBeNull();
    expect((await store.upstreams()).get('edge')).toMatchObject({ incidentsAt: at(0), monitorsAt: at(4) });
  });

  it('changes nothing when a transaction fails half way', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    const failing = store.database.transaction(async (tx) => {
      await tx.run('DELETE FROM monitor');
      throw new Error('half way');
    });
    await expect(failing).rejects.toThrow('half way');
    expect((await store.monitors()).size).toBe(1);
  });

  it('serves readers and later writers while a transaction waits', async () => {
    const order: string[] = [];
    const slow = store.database.transaction(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('first');
    });
    const next = store.database.transaction(async () => {
      order.push('second');
    });
    await store.monitors();
    await Promise.all([slow, next]);
    expect(order).toEqual(['first', 'second']);
  });

  it('deletes only what ended before the limit', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    await store.commitPass(
      commit(
        1,
        { monitors: [monitor(API, 'degraded')] },
        { spanChanges: [{ monitor: API, at: at(1), state: 'degraded' }] },
      ),
    );
    expect(await store.retain(toEpochMs(at(1) + 1))).toBe(1);
    expect((await store.pasts([API], toEpochMs(T0 - DAY_MS))).get(API)?.observed).toEqual([
      { state: 'degraded', from: at(1), to: at(1) },
    ]);
  });

  it('names a stored document that does not parse', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    await store.database.transaction((tx) => tx.run(`UPDATE monitor SET document = '{"id":3}'`));
    await expect(store.monitors()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });
});

describe('the store in a SQLite file', () => {
  let folder: string;
  let store: Store;
  const open = () => openSqlite(join(folder, 'pharos.db'), T0);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-store-'));
    store = createStore(open().database);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('moves a damaged file aside, says where, and begins anew', async () => {
    await store.close();
    writeFileSync(
      join(folder, 'pharos.db'),
      'this is not a database, but it is longer than a header of one'.repeat(40),
    );
    for (const name of readdirSync(folder))
      if (name.endsWith('-wal') || name.endsWith('-shm')) rmSync(join(folder, name));
    const reopened = open();
    store = createStore(reopened.database);
    expect(reopened.damagedFile).toBe(join(folder, `pharos.db.damaged-${T0}`));
    expect(readdirSync(folder)).toContain(`pharos.db.damaged-${T0}`);
    expect((await store.monitors()).size).toBe(0);
  });

  it('writes a backup that opens and holds the same', async () => {
    await store.commitPass(commit(0, { monitors: [monitor(API, 'operational')] }, { continuity: 'broken' }));
    await copySqlite(join(folder, 'pharos.db'), join(folder, 'copy.db'));
    const copy = createStore(openSqlite(join(folder, 'copy.db'), T0).database);
    expect([...(await copy.monitors()).keys()]).toEqual([API]);
    await copy.close();
  });
});
