/** The clock of the machine is set, forward and back, while outages come and go: the page never says green for red, nor grey for long. */

import { describe, expect, it } from 'vitest';
import type { PageConfig } from '../../src/config/schema.ts';
import type { State } from '../../src/model/state.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import { loadPageInputs } from '../../src/publish/page-inputs.ts';
import { modelFor, type PageTask } from '../../src/publish/page-release.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { DATABASES, eachWithDatabase, type TestDatabase } from '../helpers/databases.ts';
import { noAnswer, sound, ToyClock, toyHttp, toyMonitors, toyUpstream } from '../helpers/toy-upstream.ts';
import { integerBelow, pickOne, randomOf, TEST_SCALE } from '../unit/model/random-history.ts';

const STEPS = [-2 * HOUR_MS, -4 * MINUTE_MS, -SECOND_MS, SECOND_MS, 4 * MINUTE_MS, 2 * HOUR_MS];
const upstream = toyUpstream('edge');
const PAGE = {
  slug: 'acme',
  title: 'Acme',
  components: [{ id: 'api', name: 'API', type: 'monitor', monitor: 'edge/0', show_details: false }],
  show_targets: false,
  blip_floor_seconds: 60,
  uptime_decimals: 2,
  css_variables: {},
  badges: [],
  incidents: { after: 3 * MINUTE_MS },
} satisfies PageConfig;
const SITE: SiteStateInputs = {
  site: { url: 'https://status.example', name: 'Acme', home: null, timezone: 'UTC', locale: 'en', historyDays: 400 },
  pages: [PAGE],
  intervalMs: new Map([['edge', MINUTE_MS]]),
  definesPages: new Set(),
};

describe.each(DATABASES)('steps of the clock, over %s', (kind) => {
  let test: TestDatabase;
  let store: Store;
  eachWithDatabase(kind, (fresh) => {
    test = fresh;
    store = createStore(test.open());
  });

  /** What a world shows, with a clock that is set by hand and real time beside it. */
  function watch() {
    const clock = new ToyClock();
    const memory = createSiteMemory(store);
    let previous: PageTask['previous'] = null;
    return {
      clock,
      pass: async (state: State | null) => {
        const say = state === null ? noAnswer : sound(toyMonitors(1, { 0: state }));
        const deps = { store, http: toyHttp(clock, say), now: clock.now, sleep: clock.sleep, random: () => 0 };
        const { upstreams } = await runPass([upstream], deps, { isManual: true });
        return upstreams[0];
      },
      /** The state that the page shows, and whether its bar of today agrees with it. */
      shown: async (): Promise<State> => {
        const site = await memory.refresh(SITE, clock.now());
        const [page] = site.resolved.pages;
        if (page === undefined) throw new Error('no page');
        const task = { page, priority: 'immediate', previous, state: site } as const;
        const { model, eventKey } = modelFor(await loadPageInputs(store, site, page), task);
        previous = { slug: 'acme', asOf: model.asOf, eventKey } as unknown as PageTask['previous'];
        // Clocks of nodes may differ by this much.
        expect(model.asOf - clock.now()).toBeLessThanOrEqual(10 * SECOND_MS);
        return model.components[0]?.state ?? 'unknown';
      },
    };
  }

  async function expectOrderedSpans(now: EpochMs): Promise<void> {
    const rows = await store.database.all('SELECT from_at, to_at FROM span ORDER BY from_at');
    let end = 0;
    for (const row of rows) {
      expect(Number(row['from_at'])).toBeGreaterThanOrEqual(end);
      end = Number(row['to_at'] ?? now);
      expect(end).toBeLessThanOrEqual(now);
    }
  }

  it('shows what was last heard after each pass, and never anything better between two', async () => {
    for (let seed = 1; seed <= Math.ceil((kind === 'SQLite' ? 12 : 4) * TEST_SCALE); seed += 1) {
      const random = randomOf(seed);
      const world = watch();
      await store.database.transaction(async (tx) => {
        await tx.run('DELETE FROM span', []);
        await tx.run('DELETE FROM upstream', []);
      });
      let real: State = 'operational';
      let heard: State | null = null;
      for (let minute = 0; minute < 40; minute += 1) {
        if (integerBelow(random, 4) === 0) real = pickOne(random, ['operational', 'major_outage', 'degraded']);
        const at = world.clock.now();
        const report = await world.pass(real);
        expect(report?.kind, `seed ${seed}, minute ${minute}`).toBe('ok');
        heard = real;
        expect(await world.shown(), `seed ${seed}, minute ${minute}: after a pass`).toBe(heard);
        await expectOrderedSpans(at);
        const stepAt = integerBelow(random, 6) === 0 ? integerBelow(random, 6) : null;
        for (let tenth = 0; tenth < 6; tenth += 1) {
          if (tenth === stepAt) world.clock.advance(pickOne(random, STEPS));
          world.clock.advance(10 * SECOND_MS);
          const shown = await world.shown();
          // What is too old to be believed is grey until the next pass.
          if (shown !== 'unknown') expect(shown, `seed ${seed}, minute ${minute}, ${tenth}0 s`).toBe(heard);
        }
      }
    }
  }, 180_000);

  it('says so in the report, cuts what lies in the future, and gets grey in time when nothing answers any more', async () => {
    const world = watch();
    world.clock.advance(4 * MINUTE_MS);
    await world.pass('operational');
    world.clock.advance(MINUTE_MS);
    await world.pass('major_outage');
    world.clock.advance(MINUTE_MS);
    await world.pass('operational');
    world.clock.advance(-4 * MINUTE_MS);
    expect(await world.pass('major_outage')).toMatchObject({
      kind: 'ok',
      problems: [{ place: 'clock', message: expect.stringContaining('set back by 240 s') }],
    });
    expect(await world.shown()).toBe('major_outage');
    world.clock.advance(2 * HOUR_MS);
    await world.pass('operational');
    world.clock.advance(-2 * HOUR_MS);
    expect(await world.pass(null)).toMatchObject({ kind: 'failed', problems: [{ place: 'clock' }] });
    expect(await world.shown()).toBe('operational');
    world.clock.advance(3 * MINUTE_MS);
    expect(await world.shown()).toBe('unknown');
    expect((await store.upstreamTimes()).get('edge')?.monitorsAt).toBe(toEpochMs(world.clock.now() - 3 * MINUTE_MS));
  });
});
