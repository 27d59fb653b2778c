import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toMonitorId } from '../../src/model/observation.ts';
import { MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { type PassDeps, runPass, type UpstreamReport } from '../../src/sync/pass/pass.ts';
import { silenceAllowedMs } from '../../src/sync/pass/snapshot.ts';
import type { Upstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import {
  noAnswer,
  type Say,
  sound,
  ToyClock,
  ToyStatus,
  toyHttp,
  toyMonitors,
  toyUpstream,
} from '../helpers/toy-upstream.ts';

const LONG_AGO = toEpochMs(0);
let folder: string;
let store: Store;
let clock: ToyClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-pass-'));
  store = createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);
  clock = new ToyClock();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function depsOf(say: Say): PassDeps {
  return { store, http: toyHttp(clock, say), now: clock.now, sleep: clock.sleep, random: () => 0 };
}

/** One pass over one upstream; the clock stands a minute later afterwards. */
async function pass(upstream: Upstream, say: Say): Promise<UpstreamReport> {
  const { upstreams } = await runPass([upstream], depsOf(say));
  clock.advance(MINUTE_MS);
  const [report] = upstreams;
  if (report === undefined) throw new Error('no report');
  return report;
}

const edge = toyUpstream('edge');
const id = (there: number) => toMonitorId('edge', there);
const observed = async (there: number) => (await store.pasts([id(there)], LONG_AGO)).get(id(there))?.observed;
const record = async () => (await store.upstreams()).get('edge');

describe('a pass', () => {
  it('remembers what an upstream says, and the next one tells only what changed', async () => {
    const start = clock.now();
    expect(await pass(edge, sound(toyMonitors(3)))).toMatchObject({
      kind: 'ok',
      upstreamId: 'edge',
      requestsUsed: 5,
      monitorsTotal: 3,
      changed: { monitors: [id(0), id(1), id(2)], incidents: [] },
    });
    expect(await pass(edge, sound(toyMonitors(3)))).toMatchObject({ kind: 'ok', changed: { monitors: [] } });
    const third = await pass(edge, sound(toyMonitors(3, { 1: 'major_outage' })));
    expect(third).toMatchObject({ changed: { monitors: [id(1)] } });
    const at = (minutes: number) => start + minutes * MINUTE_MS;
    expect(await observed(0)).toEqual([{ state: 'operational', from: at(0), to: at(2) }]);
    expect(await observed(1)).toEqual([
      { state: 'operational', from: at(0), to: at(2) },
      { state: 'major_outage', from: at(2), to: at(2) },
    ]);
  });

  it('begins a fall with its first failed try, though a pass came before it was found out', async () => {
    const start = clock.now();
    const at = (seconds: number) => toEpochMs(start + seconds * SECOND_MS);
    const saying = (state: 'operational' | 'degraded' | 'major_outage', since: number, found: number): Upstream => ({
      ...edge,
      pull: function* (context) {
        const learned = yield* edge.pull(context);
        const monitors = learned.monitors.map((one) => ({ ...one, state }));
        return { ...learned, monitors, changedAt: { [id(0)]: at(since) }, foundAt: { [id(0)]: at(found) } };
      },
    });
    const passes = [
      saying('operational', -600, -600),
      saying('operational', -600, -600),
      // Its tries went on from 40 to 90 seconds, and the pass before it was at 60.
      saying('major_outage', 40, 90),
      // What was known before, and only counts more now, changes nothing of what was said then.
      saying('degraded', 50, 95),
      // Nor does it begin before the state that it ends.
      saying('major_outage', -300, 230),
    ];
    for (const upstream of passes) await pass(upstream, sound(toyMonitors(1)));
    const spans = (await observed(0))?.map(({ state, from, to }) => [state, (from - start) / 1e3, (to - start) / 1e3]);
    expect(spans).toEqual([
      ['operational', 0, 40],
      ['major_outage', 40, 120],
      ['major_outage', 120, 240],
    ]);
  });

  it('has a monitor drawn whose details are to be shown at once', async () => {
    const showing: Upstream = {
      ...edge,
      pull: function* (context) {
        return { ...(yield* edge.pull(context)), shownAtOnce: [id(1)] };
      },
    };
    await pass(edge, sound(toyMonitors(3)));
    expect(await pass(showing, sound(toyMonitors(3)))).toMatchObject({ changed: { monitors: [id(1)] } });
  });

  it('keeps monitors that were not read as unknown, however many they are, and they are not gone', async () => {
    const partial: Upstream = {
      ...edge,
      pull: function* (context) {
        const learned = yield* edge.pull(context);
        return { ...learned, monitors: learned.monitors.slice(0, 1), isPartial: true };
      },
    };
    await pass(edge, sound(toyMonitors(5)));
    expect(await pass(partial, sound(toyMonitors(5)))).toMatchObject({ kind: 'ok', monitorsTotal: 5 });
    const states = async () => [...(await store.monitors('edge')).values()].map(({ state }) => state);
    expect(await states()).toEqual(['operational', 'unknown', 'unknown', 'unknown', 'unknown']);
    await pass(edge, sound(toyMonitors(5)));
    expect(await states()).toEqual(['operational', 'operational', 'operational', 'operational', 'operational']);
  });

  it('over several upstreams suffers nothing from the one that fails, and says of it what visitors may read', async () => {
    const say: Say = (path, question) =>
      question.url.startsWith('https://bad') ? new ToyStatus(500) : sound(toyMonitors(1))(path, question);
    const bad = toyUpstream('bad');
    const { upstreams } = await runPass([bad, edge, toyUpstream('crm')], depsOf(say));
    expect(upstreams.map(({ kind }) => kind)).toEqual(['failed', 'ok', 'ok']);
    expect(upstreams[0]).toMatchObject({
      upstreamId: 'bad',
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining('status 500'),
      requestsUsed: 3,
    });
    expect((await store.upstreams()).get('bad')?.monitorsAt ?? null).toBeNull();
  });

  it('tells of each upstream when it is done, not when the slowest is', async () => {
    const slow = Promise.withResolvers<void>();
    const say: Say = async (path, question) => {
      if (question.url.startsWith('https://slow')) await slow.promise;
      return sound(toyMonitors(1))(path, question);
    };
    const done: string[] = [];
    const onReport = ({ upstreamId }: UpstreamReport): void => {
      done.push(upstreamId);
      if (upstreamId === 'edge') slow.resolve();
    };
    const { upstreams } = await runPass([toyUpstream('slow'), edge], depsOf(say), { onReport });
    expect(done).toEqual(['edge', 'slow']);
    expect(upstreams.map(({ upstreamId }) => upstreamId)).toEqual(['slow', 'edge']);
  });

  it('that fails anywhere changes nothing of what is remembered', async () => {
    await pass(edge, sound(toyMonitors(3)));
    const before = [await record(), await store.monitors(), await observed(0)];
    const faults: readonly unknown[] = [
      noAnswer(),
      new ToyStatus(503),
      new ToyStatus(404),
      { monitors: 'three' },
      null,
    ];
    for (const fault of faults) {
      const report = await pass(edge, sound(fault));
      expect(report.kind).toBe('failed');
      clock.advance(6 * MINUTE_MS);
    }
    expect([await record(), await store.monitors(), await observed(0)]).toEqual(before);
  });

  it('says at which path an answer is not of the shape it should have', async () => {
    const report = await pass(edge, sound({ monitors: 'three' }));
    expect(report).toMatchObject({
      code: 'UPSTREAM_SHAPE',
      message: expect.stringMatching(/GET https:\/\/edge\.test\/monitors: expected a list, at monitors\./),
    });
  });

  it('takes what is readable whatever share is not, and counts and names the rest', async () => {
    const { monitors } = toyMonitors(6);
    expect(await pass(edge, sound({ monitors: [...monitors.slice(1), { id: 0, state: 'purple' }] }))).toMatchObject({
      kind: 'ok',
      itemsDropped: 1,
      itemsTotal: 6,
      monitorsTotal: 5,
      problems: [{ kind: 'dropped', place: 'monitors[5].state' }],
    });
  });

  it('names every optional request that failed, and what the upstream says about it', async () => {
    const say: Say = (path, question) =>
      /monitors\/\d/.test(path)
        ? path.endsWith('/1')
          ? { success: false, error: 'no such\nmonitor', ms: 'x' }
          : new ToyStatus(500)
        : sound(toyMonitors(3))(path, question);
    const report = await pass(edge, say);
    expect(report).toMatchObject({ kind: 'ok', problems: [{ kind: 'note', place: 'detail' }] });
    // As in a world where the others never failed.
    await store.database.transaction((tx) => tx.run('DELETE FROM failed_question', []));
    const alone = await pass(edge, (path, question) =>
      path.endsWith('/1') ? { success: false, error: 'no such\nmonitor' } : sound(toyMonitors(3))(path, question),
    );
    expect(alone.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('it answered with an error: "no such monitor"'),
    ]);
  });

  it('holds an answer that lost most monitors until it is seen twice, and believes it then', async () => {
    await pass(edge, sound(toyMonitors(10)));
    const held = await pass(edge, sound(toyMonitors(2)));
    expect(held).toMatchObject({ kind: 'skipped', cause: 'held', reason: expect.stringContaining('8 of 10 monitors') });
    expect((await store.monitors('edge')).size).toBe(10);
    const believed = await pass(edge, sound(toyMonitors(2)));
    expect(believed).toMatchObject({ kind: 'ok' });
    expect((await store.monitors('edge')).size).toBe(2);
    expect((await observed(9))?.length).toBe(1);
  });

  it('forgets a held answer when the monitors are back', async () => {
    await pass(edge, sound(toyMonitors(10)));
    await pass(edge, sound({ monitors: [] }));
    expect(await pass(edge, sound(toyMonitors(10)))).toMatchObject({ kind: 'ok', changed: { monitors: [] } });
    expect(await pass(edge, sound({ monitors: [] }))).toMatchObject({ kind: 'skipped', cause: 'held' });
  });

  it('keeps monitors fresh when only incidents cannot be read, and says that those are stale', async () => {
    await pass(edge, sound(toyMonitors(2), { '/incidents': { incidents: [{ id: 7, startedAt: clock.now() }] } }));
    const first = await record();
    const report = await pass(edge, sound(toyMonitors(2, { 0: 'degraded' }), { '/incidents': new ToyStatus(404) }));
    expect(report).toMatchObject({ kind: 'ok', stale: ['incidents'], changed: { monitors: [id(0)], incidents: [] } });
    const second = await record();
    expect(second?.monitorsAt).toBe((first?.monitorsAt ?? 0) + MINUTE_MS);
    expect(second?.incidentsAt).toBe(first?.incidentsAt);
    expect((await store.incidents(clock.now())).map(({ id: incident }) => incident)).toEqual(['edge/7']);
  });

  it('leaves no hole for one pass that failed, and an unknown one for more', async () => {
    const start = clock.now();
    await pass(edge, sound(toyMonitors(1)));
    await pass(edge, sound(new ToyStatus(404)));
    await pass(edge, sound(toyMonitors(1)));
    expect(await observed(0)).toEqual([{ state: 'operational', from: start, to: start + 2 * MINUTE_MS }]);
    clock.advance(2 * MINUTE_MS);
    const back = clock.now();
    await pass(edge, sound(toyMonitors(1)));
    expect(await observed(0)).toEqual([
      { state: 'operational', from: start, to: start + 2 * MINUTE_MS },
      { state: 'operational', from: back, to: back },
    ]);
    expect([silenceAllowedMs(10 * SECOND_MS), silenceAllowedMs(MINUTE_MS), silenceAllowedMs(60 * MINUTE_MS)]).toEqual([
      25 * SECOND_MS,
      150 * SECOND_MS,
      120.5 * MINUTE_MS,
    ]);
  });

  it('tells a fault of a connector as such, and the others go on', async () => {
    const broken: Upstream = {
      ...toyUpstream('broken'),
      pull: function* () {
        yield* [];
        throw new TypeError('cannot read x of undefined');
      },
    };
    const { upstreams } = await runPass([broken, edge], depsOf(sound(toyMonitors(1))));
    expect(upstreams.map(({ kind }) => kind)).toEqual(['failed', 'ok']);
    expect(upstreams[0]).toMatchObject({ code: 'UPSTREAM_SHAPE', message: expect.stringContaining('report this') });
  });

  it('without changes writes three times: its lease, its one commit, and the lease given back', async () => {
    await pass(edge, sound(toyMonitors(3)));
    let writes = 0;
    const database: Store['database'] = {
      ...store.database,
      transaction: (task) => {
        writes += 1;
        return store.database.transaction(task);
      },
    };
    const counted: Store = {
      ...store,
      database,
      commitPass: (commit) => {
        writes += 1;
        return store.commitPass(commit);
      },
    };
    await runPass([edge], { ...depsOf(sound(toyMonitors(3))), store: counted });
    expect(writes).toBe(3);
  });

  it('tells when the clocks are more than half a minute apart', async () => {
    const skewed = async (skewMs: number) => {
      const deps = { ...depsOf(() => undefined), http: toyHttp(clock, sound(toyMonitors(1)), skewMs) };
      return (await runPass([edge], deps)).upstreams[0]?.problems;
    };
    expect(await skewed(30_000)).toEqual([]);
    expect(await skewed(-90_400)).toMatchObject([
      { kind: 'note', message: expect.stringContaining('90 s behind ours') },
    ]);
    expect(await skewed(31_000)).toMatchObject([{ message: expect.stringContaining('31 s ahead of ours') }]);
  });

  it('leaves the time lines alone when the monitors could not be read', async () => {
    const start = clock.now();
    await pass(edge, sound(toyMonitors(1)));
    const partial: Upstream = {
      ...edge,
      pull: function* (context) {
        return { ...(yield* edge.pull(context)), monitors: [], stale: ['monitors'] };
      },
    };
    expect(await pass(partial, sound(toyMonitors(1)))).toMatchObject({ kind: 'ok', stale: ['monitors'] });
    await pass(edge, sound(toyMonitors(1)));
    expect(await observed(0)).toEqual([{ state: 'operational', from: start, to: start + 2 * MINUTE_MS }]);
  });

  it('over a store that is gone fails by the name of the store', async () => {
    const gone = createStore(openEmptySqlite(join(folder, 'other.db'), 0).database);
    await gone.close();
    const { upstreams } = await runPass([edge], { ...depsOf(sound(toyMonitors(1))), store: gone });
    expect(upstreams[0]).toMatchObject({ kind: 'failed', code: 'STORE_UNAVAILABLE', requestsUsed: 0 });
  });
});
