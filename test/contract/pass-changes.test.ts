import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toMonitorId } from '../../src/model/observation.ts';
import { MINUTE_MS, SECOND_MS, toEpochMs, toIso } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { gatus } from '../../src/sync/connectors/gatus/connector.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { ToyClock, toyHttp } from '../helpers/toy-upstream.ts';

const API = toMonitorId('gatus', 'core_api');
let folder: string;
let store: Store;
let clock: ToyClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-changes-'));
  store = createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);
  clock = new ToyClock();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** One pass a minute; each hears results so many seconds after the first pass. */
async function passes(...heard: readonly (readonly (readonly [seconds: number, success: boolean])[])[]) {
  const startedAt = clock.now();
  const options = gatus.optionsSchema.parse({ url: 'https://gatus.test' });
  const upstream = bindUpstream(gatus, { id: 'gatus', options, limits: null, intervalMs: MINUTE_MS });
  for (const list of heard) {
    const results = list.map(([seconds, success]) => ({
      success,
      timestamp: toIso(toEpochMs(startedAt + seconds * SECOND_MS)),
    }));
    const http = toyHttp(clock, () => [{ name: 'api', group: 'core', key: 'core_api', results }]);
    const deps = { store, http, now: clock.now, sleep: clock.sleep, random: () => 0.5 };
    const { upstreams } = await runPass([upstream], deps);
    expect(upstreams.map(({ kind }) => kind)).toEqual(['ok']);
    clock.advance(MINUTE_MS);
  }
  const past = (await store.pasts([API], toEpochMs(0))).get(API);
  return past?.observed.map(
    ({ state, from, to }) => `${state} ${(from - startedAt) / SECOND_MS}-${(to - startedAt) / SECOND_MS}`,
  );
}

describe('a change that was measured between two passes', () => {
  it('is as old as its measurement, not as the answer that brought it', async () => {
    const spans = await passes(
      [[-5, true]],
      [
        [-5, true],
        [25, false],
      ],
      [
        [25, false],
        [85, false],
        [100, true],
      ],
    );
    expect(spans).toEqual(['operational 0-25', 'major_outage 25-100', 'operational 100-120']);
  });

  it('is no older than the answer before, which was kept on its way and said otherwise', async () => {
    const first = [
      [-35, true],
      [-5, true],
    ] as const;
    // What failed at second 50 was not in the answer of second 60 yet.
    const spans = await passes(first, first, [...first, [50, false], [80, false]]);
    expect(spans).toEqual(['operational 0-60', 'major_outage 60-120']);
  });
});
