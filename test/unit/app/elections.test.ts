import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createElections, type Elections } from '../../../src/app/nodes/elections.ts';
import type { Database } from '../../../src/store/database.ts';
import { createLeases, type Leases } from '../../../src/store/nodes/leases.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

const LEASE_MS = 400;

describe('several nodes that have one thing to do', () => {
  let folder: string;
  /** One for all: two connections of one thread to a file would wait for each other for ever. */
  let database: Database;
  const nodes: { leases: Leases; elections: Elections; taken: string[]; end: () => Promise<void> }[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-elections-'));
    database = openEmptySqlite(join(folder, 'pharos.db'), 0).database;
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.end();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  function begin(names: () => readonly string[]) {
    const leases = createLeases(database, LEASE_MS);
    const taken: string[] = [];
    const elections = createElections(leases, names, (got) => taken.push(...got));
    let isEnded = false;
    const end = async (): Promise<void> => {
      if (isEnded) return;
      isEnded = true;
      await elections.close();
      await leases.close();
    };
    const node = { leases, elections, taken, end };
    nodes.push(node);
    return node;
  }

  it('leave it to the one that came first, for as long as that lives', async () => {
    const [a, b] = [begin(() => ['ask/edge', 'ask/svc']), begin(() => ['ask/edge', 'ask/svc'])];
    await a.elections.open();
    await b.elections.open();
    await wait(3 * LEASE_MS);
    expect([a.elections.leaseOf('ask/edge')?.holder, b.elections.leaseOf('ask/edge')]).toEqual([a.leases.holder, null]);
    expect([await a.elections.confirm('ask/svc'), await b.elections.confirm('ask/svc')]).toEqual([true, false]);
    expect([a.taken, b.taken]).toEqual([[], []]);
    await a.end();
    await wait(LEASE_MS);
    expect(b.taken.toSorted()).toEqual(['ask/edge', 'ask/svc']);
  });

  it('give up what is not configured any more, and take what is new', async () => {
    let names = ['ask/edge'];
    const a = begin(() => names);
    await a.elections.open();
    names = ['ask/svc'];
    await wait(LEASE_MS);
    expect([a.elections.leaseOf('ask/edge'), a.taken]).toEqual([null, ['ask/svc']]);
    const b = begin(() => ['ask/edge']);
    await b.elections.open();
    expect(b.elections.leaseOf('ask/edge')).not.toBeNull();
  });

  it('know of one that was taken over while its holder was away, and fence the two', async () => {
    const [a, b] = [begin(() => ['ask/edge']), begin(() => ['ask/edge'])];
    await a.elections.open();
    const before = a.elections.leaseOf('ask/edge');
    await database.transaction((tx) =>
      tx.run("UPDATE lease SET holder = 'paused', until_at = 1 WHERE name = 'ask/edge'"),
    );
    await b.elections.open();
    await wait(LEASE_MS);
    expect(a.elections.leaseOf('ask/edge')).toBeNull();
    expect(b.elections.leaseOf('ask/edge')?.fence).toBe((before?.fence ?? 0) + 1);
  });
});
