import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import type { Database } from '../../src/store/database.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { ARRIVAL_MS, createQuota, lowPriorityWindows, quotaWindows } from '../../src/sync/pass/quota.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';

const SCHEDULES = Math.round(200 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1));
const LIMITS = { perMinute: 4, perHour: 9 };

let folder: string;
let opened: Database[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-quota-'));
});

afterEach(async () => {
  for (const database of opened) await database.close();
  opened = [];
  rmSync(folder, { recursive: true });
});

function open(): Database {
  const { database } = openEmptySqlite(join(folder, 'pharos.db'), 0);
  opened.push(database);
  return database;
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it(`two connections to one file keep both windows together, over ${SCHEDULES} random schedules`, async () => {
  const quotas = [open(), open()].map((database) => createQuota(database, () => 0.5));
  const windows = quotaWindows(LIMITS);
  const random = createRandom(3);
  for (let schedule = 0; schedule < SCHEDULES; schedule += 1) {
    const times: number[] = [];
    let now = schedule * 10 * HOUR_MS;
    for (let step = 0; step < 12; step += 1) {
      now += Math.floor(random() ** 3 * 20 * MINUTE_MS);
      for (const quota of quotas)
        if ((await quota.reserve(`u${schedule}`, windows, toEpochMs(now))).granted) times.push(now);
    }
    for (const [index, at] of times.entries()) {
      const later = times.slice(index);
      expect(later.filter((other) => other - at < MINUTE_MS + ARRIVAL_MS).length).toBeLessThanOrEqual(LIMITS.perMinute);
      expect(later.filter((other) => other - at < HOUR_MS + ARRIVAL_MS).length).toBeLessThanOrEqual(LIMITS.perHour);
    }
    expect(times.length).toBeGreaterThan(2);
  }
});

it('three real processes that ask at once get exactly as many grants as there are', async () => {
  open();
  const script = `
    import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/sqlite/sqlite.ts'))};
    import { createQuota } from ${JSON.stringify(join(import.meta.dirname, '../../src/sync/pass/quota.ts'))};
    import { quotaWindows } from ${JSON.stringify(join(import.meta.dirname, '../../src/sync/pass/quota.ts'))};
    const { database } = openSqlite(${JSON.stringify(join(folder, 'pharos.db'))}, 0);
    const quota = createQuota(database, () => 0.5);
    let granted = 0;
    for (let turn = 0; turn < 40; turn += 1)
      if ((await quota.reserve('edge', quotaWindows({ perMinute: 50, perHour: 1000 }), 1000000)).granted) granted += 1;
    await database.close();
    console.log(granted);
  `;
  const grants = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
      });
      await once(child, 'close');
      return Number(output);
    }),
  );
  expect(grants.reduce((sum, grant) => sum + grant, 0)).toBe(50);
});

it('details that have had their share are refused while lists go on, and lists take nothing from that share', async () => {
  const quota = createQuota(open(), () => 0.5);
  const limits = { perMinute: 10, perHour: 1_000 };
  const lists = quotaWindows(limits);
  const details = [...lists, ...lowPriorityWindows(limits, { listCallsPerPass: 3, intervalMs: MINUTE_MS })];
  const now = toEpochMs(HOUR_MS);
  const granted = async (windows: typeof lists): Promise<boolean> =>
    (await quota.reserve('edge', windows, now)).granted;
  // Two passes of three lists fall into one window of ten.
  const outcomes = [];
  for (const windows of [lists, lists, lists, details, details, details, details, details, lists])
    outcomes.push(await granted(windows));
  expect(outcomes).toEqual([true, true, true, true, true, true, true, false, true]);
});

it('a restart forgets neither what was sent nor a wait', async () => {
  const first = openSqlite(join(folder, 'pharos.db'), 0).database;
  const windows = quotaWindows({ perMinute: 1, perHour: 10 });
  const now = toEpochMs(HOUR_MS);
  expect(await createQuota(first, () => 0.5).reserve('edge', windows, now)).toEqual({ granted: true });
  expect(await createQuota(first, () => 0.5).hold('crm', toEpochMs(now + 120_000), now)).toBe(now + 120_000);
  await first.close();
  const quota = createQuota(open(), () => 0.5);
  expect(await quota.reserve('edge', windows, now)).toMatchObject({ granted: false });
  expect(await quota.reserve('crm', [], now)).toEqual({ granted: false, notBefore: now + 120_000 });
  expect(await quota.reserve('other', [], now)).toEqual({ granted: true });
});

it('"too many" without a time waits up to 1, 2, 4 … s by chance, and an answer begins that anew', async () => {
  const quota = createQuota(open(), () => 0.75);
  const now = toEpochMs(HOUR_MS);
  expect(await quota.hold('edge', null, now)).toBe(now + 750);
  expect(await quota.hold('edge', null, now)).toBe(now + 1_500);
  expect(await quota.hold('edge', null, now)).toBe(now + 3_000);
  await quota.release('edge');
  const later = toEpochMs(now + MINUTE_MS);
  expect(await quota.hold('edge', null, later)).toBe(later + 750);
});

it('a shorter wait does not end a longer one', async () => {
  const quota = createQuota(open(), () => 0.5);
  const now = toEpochMs(HOUR_MS);
  await quota.hold('edge', toEpochMs(now + 60_000), now);
  expect(await quota.hold('edge', toEpochMs(now + 1_000), now)).toBe(now + 60_000);
});
