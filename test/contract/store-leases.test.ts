import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NOTHING_LEARNED, toMonitorId } from '../../src/model/observation.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import type { Database } from '../../src/store/database.ts';
import { createLeases, type Lease, underLease } from '../../src/store/nodes/leases.ts';
import type { PassCommit } from '../../src/store/revisions.ts';
import {
  BEGIN_TIMEOUT_MS,
  DATABASES,
  startDatabases,
  type TestDatabase,
  type TestDatabases,
} from '../helpers/databases.ts';
import { eventually } from '../helpers/pharos.ts';

const LEASE_MS = 1_000;

describe.each(DATABASES)('leases over %s', (kind) => {
  let databases: TestDatabases;
  let test: TestDatabase;

  beforeAll(async () => {
    databases = await startDatabases(kind);
  }, BEGIN_TIMEOUT_MS);
  afterAll(() => databases.stop());
  /** Another connection. Two of one thread to a file would wait for each other for ever, so there it is the same. */
  let open: () => Database;
  beforeEach(async () => {
    test = await databases.fresh();
    const first = test.open();
    open = kind === 'SQLite' ? () => first : test.open;
  });
  afterEach(() => test.drop());

  const commitOf = (at: number, lease: Lease | null): PassCommit => ({
    upstreamId: 'edge',
    observedAt: toEpochMs(at),
    learned: {
      ...NOTHING_LEARNED,
      monitors: [
        {
          ...{ id: toMonitorId('edge', at), name: `Seen at ${at}`, description: null, kind: 'http', target: null },
          ...{ state: 'operational', isPublic: null, createdAt: null },
        },
      ],
    },
    continuity: 'broken',
    spanChanges: [],
    ...(lease === null ? {} : { lease }),
  });

  it('say the time, the same to all, near to that of this machine', async () => {
    const [one, other] = [open(), open()];
    const times = [await one.time(), await other.time(), await one.transaction((tx) => tx.time())];
    expect(Math.abs((times[0] ?? 0) - Date.now())).toBeLessThan(60_000);
    for (const [index, time] of times.entries()) expect(time).toBeGreaterThanOrEqual(times[index - 1] ?? 0);
  });

  it('are one process’s until it gives them back, or until it is gone for as long as they last', async () => {
    const [a, b] = [createLeases(open(), LEASE_MS), createLeases(open(), LEASE_MS)];
    const first = await a.take('ask/edge');
    expect([first?.fence, await a.take('ask/edge'), await b.take('ask/edge')]).toEqual([1, null, null]);
    await wait(2 * LEASE_MS);
    expect(await b.takeFree(['ask/edge', 'ask/svc'])).toMatchObject([{ name: 'ask/svc' }]);
    await a.close();
    const second = await b.take('ask/edge');
    expect([second?.fence, second?.holder]).toEqual([2, b.holder]);
    expect(a.holder).not.toBe(b.holder);
    // By chance, and not by the process: another machine may have one of the same number.
    for (const { holder } of [a, b])
      expect(holder).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    await b.close();
  });

  it('let a late one commit nothing, and believe what they saw only for a moment', async () => {
    const database = open();
    const store = createStore(database);
    const [late, quick] = [createLeases(database, LEASE_MS), createLeases(open(), LEASE_MS)];
    const lease = (await late.take('pass/edge')) as Lease;
    await store.commitPass(commitOf(1, lease));
    // As if it was paused: the other takes it as soon as it ran out.
    const takeOver = async (): Promise<Lease | null> => {
      await database.transaction((tx) => tx.run("UPDATE lease SET until_at = 1 WHERE name = 'pass/edge'"));
      return quick.take('pass/edge');
    };
    // On a busy machine its holder may extend it in between.
    expect(await eventually(takeOver, (taken) => taken !== null)).not.toBeNull();
    await expect(store.commitPass(commitOf(2, lease))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      context: { superseded: true },
    });
    await expect(store.holdVanished('edge', 'hash', lease)).rejects.toMatchObject({ context: { superseded: true } });
    expect(await underLease(database, lease, async () => expect.unreachable())).toBe(false);
    expect([...(await store.monitors()).values()].map(({ name }) => name)).toEqual(['Seen at 1']);
    await wait(LEASE_MS);
    expect(await late.confirm(lease)).toBe(false);
    expect(late.seemsHeld(lease)).toBe(false);
    await Promise.all([late.close(), quick.close()]);
  });

  it('end by themselves where they could not be given back, whatever else their holder keeps', async () => {
    const database = open();
    let isAway = false;
    const a = createLeases(
      {
        ...database,
        transaction: (task, options) =>
          isAway ? Promise.reject(new Error('the server is away')) : database.transaction(task, options),
      },
      LEASE_MS,
    );
    await a.take('ask/edge');
    const pass = (await a.take('pass/edge')) as Lease;
    isAway = true;
    await expect(a.release(pass)).rejects.toThrow('away');
    isAway = false;
    await wait(LEASE_MS + 300);
    const b = createLeases(open(), LEASE_MS);
    expect(await b.take('ask/edge')).toBeNull();
    expect((await b.take('pass/edge'))?.fence).toBe(2);
    await Promise.all([a.close(), b.close()]);
  });

  it('take one under another only as long as that is held', async () => {
    const [a, b] = [createLeases(open(), LEASE_MS), createLeases(open(), LEASE_MS)];
    const turn = (await a.take('ask/edge')) as Lease;
    const pass = await a.take('pass/edge', turn);
    expect(pass).not.toBeNull();
    await a.release(pass as Lease);
    await a.release(turn);
    await b.take('ask/edge');
    expect(await a.take('pass/edge', turn)).toBeNull();
    await Promise.all([a.close(), b.close()]);
  });

  it('give one of many at once to one', async () => {
    const all = Array.from({ length: 4 }, () => createLeases(open(), LEASE_MS));
    const taken = await Promise.all(all.map((leases) => leases.take('output/bucket')));
    expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
    await Promise.all(all.map((leases) => leases.close()));
  });
});
