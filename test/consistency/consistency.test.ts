/**
 * Random worlds, published by the real path and read back from every surface: no two surfaces differ, and none differs from
 * what the rules say. A world that fails is named by its number: `PHAROS_WORLD=17 npx vitest run test/consistency` shows it
 * alone, and `PHAROS_WORLD=500-999` runs some of many.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawingWith } from '../../src/app/workers/drawing.ts';
import type { State } from '../../src/model/state.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import type { PageRenderer } from '../../src/publish/files/kinds.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { TEST_SCALE } from '../unit/model/random-history.ts';
import type { Check } from './check.ts';
import { examine } from './examine.ts';
import { differencesOfPast } from './past-days.ts';
import { type Published, publishWorld } from './publish-world.ts';
import { HOUR, MINUTE } from './random-frame.ts';
import { randomWorld } from './random-world.ts';
import { type Step, TICK_MS, type World } from './world.ts';

/** 2,000 at a scale of 40. */
const WORLDS = Math.ceil(50 * TEST_SCALE);
const ONLY = process.env['PHAROS_WORLD'];
/** Enough to see what is wrong. */
const SHOWN = 200;
/** Worlds in one store, so that it stays small. */
const BATCH = 20;

const folder = mkdtempSync(join(tmpdir(), 'pharos-worlds-'));
let renderer: PageRenderer;
beforeAll(async () => {
  renderer = drawingWith(await loadRenderer()).renderer;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function differencesOf(world: World, store: Store): Promise<string[]> {
  const found: string[] = [];
  let before: Check | null = null;
  let last: Published | null = null;
  await publishWorld(world, { store, renderer }, (published) => {
    const check = examine(world, published, before);
    found.push(
      ...[...check.differences, ...differencesOfPast(published, last)].map(
        (one) => `world ${world.seed} at ${new Date(published.now).toISOString()}: ${one}`,
      ),
    );
    before = check;
    last = published;
  });
  return found;
}

async function differencesIn(worlds: readonly World[]): Promise<string[]> {
  const store = createStore(openEmptySqlite(join(folder, `${worlds[0]?.slug}.db`), 0).database);
  const found: string[] = [];
  for (const world of worlds) found.push(...(await differencesOf(world, store)));
  await store.close();
  return found;
}

const [first = 0, last = first] = ONLY === undefined ? [0, WORLDS - 1] : ONLY.split('-').map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index);

it(
  `tells one story on every surface in ${seeds.length} random worlds`,
  async () => {
    const found: string[] = [];
    for (let at = 0; at < seeds.length && found.length < SHOWN; at += BATCH)
      found.push(...(await differencesIn(seeds.slice(at, at + BATCH).map(randomWorld))));
    expect(found.slice(0, SHOWN)).toEqual([]);
  },
  30_000 + 2_000 * seeds.length,
);

/** One component that is asked every half minute, and one that nobody asks about. */
function worldOf(slug: string, zone: string, steps: readonly Step[]): World {
  const place = { groupId: null, order: 0, groupOrder: 0, showsDetails: false };
  return {
    ...randomWorld(0),
    slug,
    zone,
    definitionId: `config/${slug}`,
    groups: [],
    components: [
      { id: 'api', name: 'API', monitor: `${slug}/api`, ...place },
      { id: 'desk', name: 'Desk', monitor: null, ...place },
    ],
    upstreams: [{ id: slug, intervalMs: TICK_MS, monitors: [`${slug}/api`] }],
    afterMs: 3 * MINUTE,
    steps,
  };
}

/** At a smaller scale than 1, each third second: which of them is a matter of turns. */
const EVERY = TEST_SCALE < 1 ? 3 : 1;

describe('each second of the first ten minutes of an outage', () => {
  it.each<[string, string, State, number, number]>([
    ['long', '2026-11-21T09:00:00Z', 'major_outage', 20 * MINUTE, 0],
    ['half a minute', '2026-11-21T09:00:00Z', 'major_outage', TICK_MS, 1],
    ['half a minute after midnight', '2026-11-21T00:00:00Z', 'major_outage', TICK_MS, 2],
    ['two minutes after midnight', '2026-11-21T00:00:00Z', 'degraded', 4 * TICK_MS, 0],
    ['maintenance', '2026-11-21T23:58:00Z', 'maintenance', 2 * MINUTE, 1],
  ])('is the same everywhere: %s', async (name, begins, state, lastsMs, turn) => {
    const from = Date.parse(begins);
    const slug = name.replaceAll(' ', '-');
    const answers = Array.from({ length: 40 }, (_, index): Step => {
      const at = from + (index - 20) * TICK_MS;
      const isOn = at >= from && at < from + lastsMs;
      const states = { [`${slug}/api`]: isOn ? state : 'operational' } as const;
      return {
        kind: 'answer',
        at,
        upstream: slug,
        states,
        incidents: [],
        maintenances: [],
        whole: null,
        unreadable: [],
      };
    });
    const publishes = Array.from(
      { length: 605 },
      (_, second): Step => ({ kind: 'publish', at: from + (second - 5) * 1_000 }),
    ).filter((_, second) => second % EVERY === turn % EVERY);
    const steps = [...answers, ...publishes].sort((a, b) => a.at - b.at || (a.kind === 'publish' ? 1 : -1));
    expect(await differencesIn([worldOf(slug, 'UTC', steps)])).toEqual([]);
  });
});

it('shows what is known again after a time in which nobody looked, though it is what was shown before', async () => {
  const at = Date.parse('2026-11-21T09:00:00Z');
  const answer = {
    kind: 'answer',
    upstream: 'edge',
    incidents: [],
    maintenances: [],
    whole: null,
    unreadable: [],
  } as const;
  const states = { 'edge/api': 'operational' } as const;
  const world: World = {
    ...randomWorld(0),
    slug: 'restarted',
    definitionId: 'config/restarted',
    groups: [],
    components: [
      { id: 'api', name: 'API', monitor: 'edge/api', groupId: null, order: 0, groupOrder: 0, showsDetails: false },
    ],
    upstreams: [{ id: 'edge', intervalMs: MINUTE, monitors: ['edge/api'] }],
    steps: [
      { ...answer, at, states },
      { kind: 'publish', at: at + 1_000 },
      { ...answer, at: at + HOUR, states },
      { kind: 'publish', at: at + HOUR + 1_000 },
    ],
  };
  expect(await differencesIn([world])).toEqual([]);
});
