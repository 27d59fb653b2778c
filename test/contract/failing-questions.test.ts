/** Optional questions that fail for ever: asked ever more rarely, told in every report, and never in the way of the others. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NOTHING_LEARNED, toMonitorId } from '../../src/model/observation.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { attempt, type Priority } from '../../src/sync/connector.ts';
import { connectorOf } from '../../src/sync/connectors/index.ts';
import { detailsDue } from '../../src/sync/connectors/items.ts';
import { createDetail } from '../../src/sync/connectors/measurements.ts';
import { runPass, type UpstreamReport } from '../../src/sync/pass/pass.ts';
import { bindUpstream, type Upstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { type Say, ToyClock, ToyStatus, toyHttp, toyQuestion, toyUpstream } from '../helpers/toy-upstream.ts';
import { integerBelow, pickOne, randomOf, TEST_SCALE } from '../unit/model/random-history.ts';

let folder: string;
let store: Store;
let clock: ToyClock;

const open = (): Store => createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-failing-'));
  store = open();
  clock = new ToyClock();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** One pass, a minute after the one before. Returns the paths that were asked for. */
async function pass(upstream: Upstream, say: Say): Promise<{ paths: string[]; report: UpstreamReport }> {
  clock.advance(MINUTE_MS);
  const http = toyHttp(clock, say);
  const { upstreams } = await runPass([upstream], { store, http, now: clock.now, sleep: clock.sleep, random: () => 0 });
  const [report] = upstreams;
  if (report === undefined) throw new Error('no report');
  return { paths: http.sent.map(({ path }) => path), report };
}

async function restart(): Promise<void> {
  await store.close();
  store = open();
}

const options = { baseUrl: 'https://edge.test', key: 'KEY' };

/** Asks for the details of `n` monitors, those fetched longest ago first, `max` in each pass; for the past of each once. */
function detailed(n: number, priority: Priority, max: number | undefined): Upstream {
  const monitors = Array.from({ length: n }, (_, index) => ({ id: toMonitorId('edge', String(index)) }));
  return {
    ...toyUpstream('edge', { limits: { perMinute: null, perHour: null } }),
    pull: function* (context) {
      const due = detailsDue(monitors, context, priority === 'backfill' ? context.now : MINUTE_MS);
      const answers = yield* attempt(
        due.map((id) => toyQuestion(options, `/${id}`, [`detail ${id}`, priority, z.unknown()])),
        max,
      );
      return {
        ...NOTHING_LEARNED,
        monitors: monitors.map(({ id }) => ({
          id,
          name: id,
          description: null,
          kind: 'toy',
          target: null,
          state: 'operational',
          isPublic: null,
          createdAt: null,
        })),
        details: answers.flatMap((answer, index) =>
          answer.kind === 'ok' ? [createDetail(toMonitorId('edge', due[index] ?? ''), answer.at)] : [],
        ),
      };
    },
  };
}

describe('questions of which some fail for ever', () => {
  const seeds = Array.from({ length: Math.ceil(40 * TEST_SCALE) }, (_, seed) => seed);

  it.each(seeds)('leave every other one its turn, with any room: world %i', async (seed) => {
    const random = randomOf(seed * 31 + 5);
    const n = 2 + integerBelow(random, 24);
    const failing = new Set(
      Array.from({ length: 1 + integerBelow(random, n - 1) }, () => `/${integerBelow(random, n)}`),
    );
    const max = 1 + integerBelow(random, 5);
    // In every pass, now and then, or never; without a memory of its own a pass knows what is stored.
    const restartEvery = pickOne(random, [1, 7, Number.POSITIVE_INFINITY]);
    const upstream = detailed(n, pickOne(random, ['detail', 'backfill']), max);
    const say: Say = (path) => (failing.has(path) ? new ToyStatus(500) : {});
    // At first each failure takes a turn; later they take every other one at most.
    const passesMax = failing.size + 2 * Math.ceil((n - failing.size) / max) + 2;
    const lastAsked = new Map<string, number>();
    const gaps: number[] = [];
    const asked = new Map<string, number[]>();
    for (let number = 1; number <= 3 * passesMax + 20; number += 1) {
      if (number % restartEvery === 0) await restart();
      const { paths, report } = await pass(upstream, say);
      for (const path of new Set(paths)) {
        if (failing.has(path)) asked.getOrInsert(path, []).push(number);
        else {
          gaps.push(number - (lastAsked.get(path) ?? 0));
          lastAsked.set(path, number);
        }
      }
      // Every failure that stands is told, whether it was asked for again or not.
      const told = report.problems.map(({ place }) => place);
      expect(told.toSorted()).toEqual([...asked.keys()].map((path) => `detail ${path.slice(1)}`).toSorted());
    }
    expect(lastAsked.size, 'all were asked').toBe(n - failing.size);
    expect(Math.max(0, ...gaps)).toBeLessThanOrEqual(passesMax);
    for (const [path, numbers] of asked) {
      const distances = numbers.slice(1).map((number, index) => number - (numbers[index] ?? 0));
      for (const [index, distance] of distances.entries())
        expect(distance, `${path} after ${index + 1} failures`).toBeGreaterThanOrEqual(2 ** (index + 1));
    }
  });

  it('are asked every six hours at last, answered as soon as they can be, and then as often as before', async () => {
    const upstream = detailed(1, 'detail', undefined);
    const at: number[] = [];
    const start = clock.now();
    let isBroken = true;
    const say: Say = () => {
      at.push((clock.now() - start) / MINUTE_MS);
      return isBroken ? new ToyStatus(500) : {};
    };
    while (clock.now() - start < 30 * HOUR_MS) await pass(upstream, say);
    const times = [...new Set(at)];
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([
      2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360,
    ]);
    isBroken = false;
    while ((await store.detailFetchedAt('edge')).size === 0) await pass(upstream, say);
    const { report, paths } = await pass(upstream, say);
    expect(report.problems).toEqual([]);
    expect(paths).toEqual(['/0']);
  });

  it('are asked anew at once when the clock was set back', async () => {
    const upstream = detailed(1, 'detail', undefined);
    await pass(upstream, () => new ToyStatus(500));
    clock.advance(-HOUR_MS);
    expect((await pass(upstream, () => ({}))).paths).toEqual(['/0']);
  });
});

describe('the past of Healthchecks', () => {
  it('comes for each check, though that of most others never does', async () => {
    const { optionsSchema, ...connector } = connectorOf('healthchecks');
    const upstream = bindUpstream(connector, {
      id: 'edge',
      options: optionsSchema.parse({ url: 'https://edge.test', apiKey: 'k' }),
      limits: null,
      intervalMs: MINUTE_MS,
    });
    const checks = Array.from({ length: 40 }, (_, index) => ({
      unique_key: `k${index}`,
      name: `check ${index}`,
      status: 'up',
      last_ping: '2026-11-21T00:00:00Z',
    }));
    const isFailing = (path: string): boolean => Number(/k(\d+)/.exec(path)?.[1]) % 4 !== 3;
    const say: Say = (path) =>
      !path.includes('flips') ? { checks } : isFailing(path) ? new ToyStatus(500) : { flips: [] };
    for (let number = 0; number < 30; number += 1) expect((await pass(upstream, say)).report.kind).toBe('ok');
    expect((await store.detailFetchedAt('edge')).size).toBe(10);
  });
});

describe('the past of Prometheus', () => {
  it('comes for each monitor after one that fails, with room for one question in each pass', async () => {
    const { optionsSchema, ...connector } = connectorOf('prometheus');
    const monitors = ['a', 'b', 'c'].map((id) => ({ id, name: id, query: id }));
    const upstream = bindUpstream(connector, {
      id: 'edge',
      options: optionsSchema.parse({ url: 'https://edge.test', monitors }),
      limits: null,
      intervalMs: MINUTE_MS,
    });
    const matrix = (at: number) => ({
      status: 'success',
      data: { resultType: 'matrix', result: [{ metric: {}, values: [[at, '1']] }] },
    });
    const say: Say = (_, { url }) => {
      const query = new URL(url).searchParams;
      if (query.get('start') === null)
        return { status: 'success', data: { resultType: 'vector', result: [{ metric: {}, value: [1, '1'] }] } };
      if (query.get('query') === 'a') return new ToyStatus(500);
      // So slow that one question takes all the time there is.
      clock.advance(16_000);
      return matrix(Number(query.get('start')));
    };
    for (let number = 0; number < 24; number += 1) expect((await pass(upstream, say)).report.kind).toBe('ok');
    expect([...(await store.detailFetchedAt('edge')).keys()].toSorted()).toEqual(['b', 'c']);
  });
});
