import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { toMonitorId } from '../../src/model/observation.ts';
import { MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';

const CHILD = join(import.meta.dirname, '../helpers/passing-child.ts');
const OPENING = join(import.meta.dirname, '../helpers/opening-thread.ts');
const MIGRATIONS = join(import.meta.dirname, '../../src/store/migrations');
const T0 = Date.UTC(2026, 0, 1);
const RACES = Math.max(1, Math.round(30 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1)));
const KILLS = Math.max(1, Math.round(30 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1)));

/** Kills a process that commits passes after `afterMs` of its first commit; the passes that it said were committed. */
async function runAndKill(file: string, first: number, afterMs: number): Promise<number[]> {
  const child = spawn(process.execPath, [CHILD, file, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  await new Promise<void>((begun, failed) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      begun();
    });
    void exited.then(() => failed(new Error('the process ended before it had committed anything')));
  });
  await new Promise((wait) => setTimeout(wait, afterMs));
  child.kill('SIGKILL');
  await exited;
  // The last line may be half said: only a whole one is a promise.
  return said.slice(0, said.lastIndexOf('\n')).split('\n').map(Number);
}

describe('a store whose process is killed', () => {
  it(`loses no committed pass at ${KILLS} random points, is whole, and takes the next pass`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-kill-'));
    const lanes = [0, 1].map(async (lane) => {
      const file = join(folder, `${lane}.db`);
      let next = 0;
      let seed = 7 + lane;
      for (let kill = lane; kill < KILLS; kill += 2) {
        seed = (seed * 48_271) % 2_147_483_647;
        const said = await runAndKill(file, next, (seed % 400) / 20);
        const last = said.at(-1) ?? next;
        const { database, damagedFile } = openSqlite(file, 0);
        const store = createStore(database);
        expect(damagedFile).toBeNull();
        const record = (await store.upstreams()).get('edge');
        // A pass may have been committed that could not be said any more; never the other way round.
        const committed = ((record?.monitorsAt ?? 0) - T0) / MINUTE_MS;
        expect(committed).toBeGreaterThanOrEqual(last);
        const monitor = toMonitorId('edge', 19);
        const spans =
          (await store.pasts([monitor], toEpochMs(T0 + (said[0] ?? 0) * MINUTE_MS - 1))).get(monitor)?.observed ?? [];
        const begun = new Set(spans.map((span) => (span.from - T0) / MINUTE_MS));
        for (const pass of said) expect(begun.has(pass)).toBe(true);
        // All or nothing: every monitor of the last pass has the same span.
        const [rows] = await database.all('SELECT COUNT(*) AS total FROM span WHERE to_at IS NULL');
        expect(Number(rows?.['total'])).toBe(20);
        await store.close();
        next = committed + 1;
      }
      const check = new DatabaseSync(file).prepare('PRAGMA integrity_check').all();
      expect(check.map((row) => row['integrity_check'])).toEqual(['ok']);
    });
    await Promise.all(lanes);
    rmSync(folder, { recursive: true });
  }, 300_000);
});

describe('migrations', () => {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort();

  it('are numbered without a gap', () => {
    expect(files.map((name) => Number.parseInt(name, 10))).toEqual(files.map((_, index) => index + 1));
  });

  it.each(files.map((_, index) => index + 1))('bring version %i to the latest and lose no row', async (version) => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-migrate-'));
    const file = join(folder, 'pharos.db');
    const old = new DatabaseSync(file);
    for (const name of files.slice(0, version)) old.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
    old.exec(`PRAGMA user_version = ${version}`);
    old.exec(`
      INSERT INTO upstream (id, monitors_at) VALUES ('edge', ${T0 + MINUTE_MS});
      INSERT INTO monitor (id, upstream, state, document, first_seen_at) VALUES ('edge/1', 'edge', 'operational',
        '{"id":"edge/1","name":"API","description":null,"kind":"http","target":null,"state":"operational","isPublic":null,"createdAt":null}', ${T0});
      INSERT INTO span (monitor, from_at, to_at, state) VALUES ('edge/1', ${T0 - MINUTE_MS}, ${T0}, 'major_outage'), ('edge/1', ${T0}, NULL, 'operational');
      INSERT INTO run (id, started_at, ended_at, trigger_name, report) VALUES ('r1', ${T0}, ${T0}, 'schedule', '{}');
    `);
    old.close();
    const store = createStore(openSqlite(file, 0).database);
    const monitor = toMonitorId('edge', 1);
    expect((await store.monitors()).get(monitor)?.name).toBe('API');
    expect((await store.pasts([monitor], toEpochMs(T0 - 10 * MINUTE_MS))).get(monitor)?.observed).toEqual([
      { state: 'major_outage', from: T0 - MINUTE_MS, to: T0 },
      { state: 'operational', from: T0, to: T0 + MINUTE_MS },
    ]);
    expect(await store.runs(5)).toHaveLength(1);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('are applied once by two processes that open a new file at the same time', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-race-'));
    const file = join(folder, 'pharos.db');
    const said = await Promise.all([runAndKill(file, 0, 20), runAndKill(file, 1_000, 20)]);
    expect(said.every((passes) => passes.length > 0)).toBe(true);
    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA user_version').get()?.['user_version']).toBe(files.length);
    database.close();
    rmSync(folder, { recursive: true });
  });

  it('keep nobody out who opens a new file at the very moment at which another does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-race-'));
    const threads = 3;
    const shared = new SharedArrayBuffer(8);
    const refused = await Promise.all(
      Array.from({ length: threads }, async () => {
        const thread = new Worker(OPENING, { workerData: { shared, folder, count: RACES, threads } });
        const said: string[] = [];
        thread.on('message', (message: string) => said.push(message));
        await once(thread, 'exit');
        return said;
      }),
    );
    expect(refused.flat()).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('leave a file of a newer Pharos alone, and say so', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-newer-'));
    const file = join(folder, 'pharos.db');
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 999');
    newer.close();
    expect(() => openSqlite(file, 0)).toThrow(/newer/);
    expect(readdirSync(folder).some((name) => name.includes('damaged'))).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
