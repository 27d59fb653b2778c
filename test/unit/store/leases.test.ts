import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import type { Database } from '../../../src/store/database.ts';
import { createLeases, type Leases } from '../../../src/store/nodes/leases.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

const LEASE_MS = 10_000;
const NOW = toEpochMs(0);

describe('a lease that its holder asks about', () => {
  let folder: string;
  let database: Database;
  let leases: Leases;
  /** Of this process, whose timers don't run in the meantime: it is paused. */
  let elapsed: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-leases-'));
    database = openEmptySqlite(join(folder, 'leases.db'), NOW).database;
    elapsed = 0;
    leases = createLeases(database, LEASE_MS, () => elapsed);
  });
  afterEach(async () => {
    await leases.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  const take = async () => {
    const lease = await leases.take('upload');
    if (lease === null) throw new Error('nobody else holds it');
    return lease;
  };
  const overtake = (): Promise<unknown> =>
    database.transaction((tx) => tx.run("UPDATE lease SET holder = 'another node', fence = fence + 1"));

  it('is not trusted past half its time: the database says whether another node took it during a pause', async () => {
    const lease = await take();
    await overtake();
    elapsed = LEASE_MS / 2;
    expect(await leases.confirm(lease)).toBe(false);
    expect(leases.seemsHeld(lease)).toBe(false);
  });

  it('is renewed by that, if nobody took it', async () => {
    const lease = await take();
    elapsed = LEASE_MS * 3;
    expect(await leases.confirm(lease)).toBe(true);
    await overtake();
    // Just confirmed: the database is not asked again.
    expect(await leases.confirm(lease)).toBe(true);
    elapsed += LEASE_MS / 2;
    expect(await leases.confirm(lease)).toBe(false);
  });

  it('is in doubt while the database can’t be asked', async () => {
    const lease = await take();
    await database.close();
    elapsed = LEASE_MS / 2;
    await expect(leases.confirm(lease)).rejects.toThrow();
    database = openEmptySqlite(join(folder, 'leases.db'), NOW).database;
    leases = createLeases(database, LEASE_MS, () => elapsed);
  });
});
