/**
 * Random worlds, published by the real path and read back from every surface: no two surfaces differ, and none differs from
 * what the rules say. A world that fails is named by its number: `PHAROS_WORLD=17 npx vitest run test/consistency` shows it alone.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drawingWith } from '../../src/app/workers/drawing.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import type { PageRenderer } from '../../src/publish/files/kinds.ts';
import { createStore } from '../../src/store/create-store.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { TEST_SCALE } from '../unit/model/random-history.ts';
import type { Check } from './check.ts';
import { examine } from './examine.ts';
import { publishWorld } from './publish-world.ts';
import { HOUR, MINUTE } from './random-frame.ts';
import { randomWorld } from './random-world.ts';
import type { World } from './world.ts';

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
  await publishWorld(world, { store, renderer }, (published) => {
    const check = examine(world, published, before);
    found.push(
      ...check.differences.map((one) => `world ${world.seed} at ${new Date(published.now).toISOString()}: ${one}`),
    );
    before = check;
  });
  return found;
}

async function differencesIn(worlds: readonly World[]): Promise<string[]> {
  const store = createStore(openSqlite(join(folder, `${worlds[0]?.slug}.db`), 0).database);
  const found: string[] = [];
  for (const world of worlds) found.push(...(await differencesOf(world, store)));
  await store.close();
  return found;
}

const seeds = ONLY === undefined ? Array.from({ length: WORLDS }, (_, seed) => seed) : [Number(ONLY)];

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
