import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { migrationsAfter } from '../../src/store/migrations.ts';
import { createLeases } from '../../src/store/nodes/leases.ts';
import { probePostgres } from '../../src/store/postgres/migrate.ts';
import { openPostgres, type PostgresDatabase } from '../../src/store/postgres/postgres.ts';
import { createQuota, quotaWindows } from '../../src/sync/pass/quota.ts';
import { BEGIN_TIMEOUT_MS, startPostgres } from '../helpers/databases.ts';
import type { PgliteServer } from '../helpers/pglite-server.ts';

describe('Postgres', () => {
  let server: PgliteServer;
  let opened: PostgresDatabase[] = [];
  const open = (): PostgresDatabase => {
    const database = openPostgres(server.url);
    opened.push(database);
    return database;
  };

  beforeAll(async () => {
    server = await startPostgres();
  }, BEGIN_TIMEOUT_MS);
  afterAll(() => server.stop());
  beforeEach(() => server.reset());
  afterEach(async () => {
    for (const database of opened) await database.close();
    opened = [];
  });

  it('is brought to its version once by five nodes that start together', async () => {
    const nodes = Array.from({ length: 5 }, open);
    await Promise.all(nodes.map((node) => node.ready()));
    const [row] = (await nodes[0]?.all('SELECT COUNT(*) AS rows, MAX(version) AS version FROM schema_version')) ?? [];
    expect(row).toEqual({ rows: 1, version: migrationsAfter(0).length });
  });

  it('is left alone when a newer Pharos made it', async () => {
    const database = open();
    await database.transaction((tx) => tx.run('UPDATE schema_version SET version = version + 900'));
    await expect(open().all('SELECT 1')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('newer Pharos'),
      context: { schema: migrationsAfter(0).length + 900 },
    });
    await database.transaction((tx) => tx.run('UPDATE schema_version SET version = version - 900'));
  });

  it('keeps instants, fractions, every character and the order of bytes as SQLite does', async () => {
    const database = open();
    const at = 4_102_444_800_123;
    await database.transaction(async (tx) => {
      await tx.run('INSERT INTO response_time (monitor, at, ms) VALUES (?, ?, ?)', ['a/1', at, 12.345_678_9]);
      await tx.runMany(
        'INSERT INTO export_event (export, id, incident, document) VALUES (?, ?, ?, ?)',
        ['b', 'a', 'B', 'ä', 'A-1', 'A1', '?', "it's $1", 'nul\0', '😀'].map((id) => ['x', id, '?', '{}']),
      );
    });
    expect(await database.all('SELECT at, ms FROM response_time')).toEqual([{ at, ms: 12.345_678_9 }]);
    const rows = await database.all("SELECT id FROM export_event WHERE incident = '?' AND export = ? ORDER BY id", [
      'x',
    ]);
    expect(rows.map(({ id }) => id)).toEqual(['?', 'A-1', 'A1', 'B', 'a', 'b', "it's $1", 'nul\u{FFFD}', 'ä', '😀']);
  });

  it('undoes a transaction of which one row of ten thousand fails, and takes the next one', async () => {
    const database = open();
    const rows = Array.from({ length: 10_000 }, (_, index) => ['edge', index === 7_777 ? null : index, 0]);
    const insert = 'INSERT INTO upstream_request (upstream, at, is_spare) VALUES (?, ?, ?)';
    await expect(database.transaction((tx) => tx.runMany(insert, rows))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('null value'),
    });
    await database.transaction((tx) => tx.runMany(insert, rows.slice(0, 500)));
    expect(await database.all('SELECT COUNT(*) AS total FROM upstream_request')).toEqual([{ total: 500 }]);
  });

  it('does not take for done what was undone behind a fault that somebody caught', async () => {
    const database = open();
    const caught = database.transaction(async (tx) => {
      await tx.run('INSERT INTO upstream (id) VALUES (?)', ['edge']);
      await tx.run('INSERT INTO upstream (id) VALUES (?)', ['edge']).catch(() => 0);
    });
    await expect(caught).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await database.all('SELECT id FROM upstream')).toEqual([]);
  });

  it('gives a lease to one of two nodes, and nothing of theirs is lost between a look and a write', async () => {
    const nodes = [open(), open()];
    const processes = nodes.map((node) => createLeases(node, 60_000));
    const leases = await Promise.all(processes.map((process) => process.take('pass/edge')));
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
    const addOne = (node: PostgresDatabase) =>
      node.transaction(async (tx) => {
        const [row] = await tx.all('SELECT value FROM revision');
        await tx.run('UPDATE revision SET value = ?', [Number(row?.['value']) + 1]);
      });
    await Promise.all(Array.from({ length: 40 }, (_, turn) => addOne(nodes[turn % 2] ?? open())));
    expect(await nodes[0]?.all('SELECT value FROM revision')).toEqual([{ value: 40 }]);
    await Promise.all(processes.map((process) => process.close()));
  });

  it('grants two nodes together exactly as many requests as there are', async () => {
    const windows = quotaWindows({ perMinute: 20, perHour: 1_000 });
    const quotas = [open(), open()].map((node) => createQuota(node, () => 0.5));
    const asked = Array.from({ length: 30 }, (_, turn) =>
      quotas[turn % 2]?.reserve('edge', windows, toEpochMs(1_000_000)),
    );
    const granted = (await Promise.all(asked)).filter((answer) => answer?.granted === true);
    expect(granted).toHaveLength(20);
  });

  it('says without its password that the server is gone, lives on, and goes on by itself when it is back', async () => {
    const database = open();
    await database.transaction((tx) => tx.run('INSERT INTO upstream (id) VALUES (?)', ['edge']));
    const cut = database.transaction(async (tx) => {
      await tx.run('INSERT INTO upstream (id) VALUES (?)', ['half']);
      await server.goAway();
      await tx.run('INSERT INTO upstream (id) VALUES (?)', ['way']);
    });
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    const fault = await database.all('SELECT id FROM upstream').catch((error: unknown) => error as Error);
    expect(String(fault)).toMatch(
      /Can’t use Postgres at 127\.0\.0\.1:\d+\/postgres: .*ECONNREFUSED.* start the server/,
    );
    expect(JSON.stringify(fault) + String(fault) + String((fault as Error).cause)).not.toContain('secret-canary');
    const late = open();
    await expect(late.ready()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.comeBack();
    expect(await database.all('SELECT id FROM upstream')).toEqual([{ id: 'edge' }]);
    await database.transaction((tx) => tx.run('INSERT INTO upstream (id) VALUES (?)', ['svc']));
    await new Promise((wait) => setTimeout(wait, 1_100));
    expect(await late.all('SELECT id FROM upstream ORDER BY id')).toEqual([{ id: 'edge' }, { id: 'svc' }]);
  });

  it('tells the doctor its version and its time, and is changed by no look', async () => {
    expect(await probePostgres(server.url)).toEqual({
      version: expect.stringMatching(/^\d\d/),
      clockMs: expect.any(Number),
      schema: migrationsAfter(0).length,
      isCurrent: true,
    });
    await server.goAway();
    await expect(probePostgres(server.url)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.comeBack();
  });

  it('asks for TLS when the address says so', async () => {
    const database = openPostgres(server.url.replace('sslmode=disable', 'sslmode=require'));
    await expect(database.ready()).rejects.toThrow(/does not support SSL/);
    await database.close();
  });
});
