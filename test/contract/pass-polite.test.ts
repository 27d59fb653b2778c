import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NOTHING_LEARNED, toMonitorId } from '../../src/model/observation.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { createLeases } from '../../src/store/nodes/leases.ts';
import { ask, attempt, type Priority, type PullContext, type Question } from '../../src/sync/connector.ts';
import { uptimeService } from '../../src/sync/connectors/uptime-service/connector.ts';
import { type PassDeps, type PassOptions, runPass, type UpstreamReport } from '../../src/sync/pass/pass.ts';
import { createQuota, intervalMinMs, quotaWindows } from '../../src/sync/pass/quota.ts';
import { bindUpstream, type Upstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import {
  noAnswer,
  type Say,
  type SentRequest,
  sound,
  ToyClock,
  ToyRemaining,
  ToyStatus,
  toyHttp,
  toyMonitors,
  toyQuestion,
  toyUpstream,
} from '../helpers/toy-upstream.ts';
import { monitor as monitorRow, optionsOf, page, service } from '../helpers/uptime-world.ts';

let folder: string;
let store: Store;
let clock: ToyClock;
let sent: SentRequest[];

const open = (): Store => createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-polite-'));
  store = open();
  clock = new ToyClock();
  sent = [];
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function restart(): Promise<void> {
  await store.close();
  store = open();
}

async function pass(upstream: Upstream, say: Say, more: Partial<PassDeps> & PassOptions = {}): Promise<UpstreamReport> {
  const { isManual = false, isHinted = false, turnOf, ...deps } = more;
  const http = toyHttp(clock, say);
  const { upstreams } = await runPass(
    [upstream],
    { store, http, now: clock.now, sleep: clock.sleep, random: () => 0.5, ...deps },
    { isManual, isHinted, turnOf },
  );
  sent.push(...http.sent);
  const [report] = upstreams;
  if (report === undefined) throw new Error('no report');
  return report;
}

const edge = toyUpstream('edge');

/** An upstream that asks as its test wants. */
function asking(pull: Upstream['pull'], settings: Parameters<typeof toyUpstream>[1] = {}): Upstream {
  return { ...toyUpstream('edge', settings), pull };
}

const AnythingSchema = z.unknown();
const options = { baseUrl: 'https://edge.test', key: 'KEY' };
const about = (path: string, priority: Priority) => toyQuestion(options, path, [path, priority, AnythingSchema]);

function firstQuestion(context: PullContext): Question<unknown> {
  const { value } = edge.pull(context).next();
  const question = 'questions' in value ? value.questions[0] : undefined;
  if (question === undefined) throw new Error('the toy asks nothing');
  return question;
}
const fine = sound(toyMonitors(1));

describe('a pass that gets no answer', () => {
  it('tries three times, with 1 and 2 s of full jitter between, and not more', async () => {
    expect(await pass(edge, sound(noAnswer()))).toMatchObject({ kind: 'failed', requestsUsed: 3 });
    expect(clock.slept).toEqual([500, 1_000]);
  });

  it('stops trying when the second attempt is answered', async () => {
    let asked = 0;
    const say: Say = (path, question) => {
      asked += 1;
      return asked === 1 ? new ToyStatus(503) : fine(path, question);
    };
    expect(await pass(edge, say)).toMatchObject({ kind: 'ok', requestsUsed: 4 });
  });

  it('spends no more than half a minute on all attempts together', async () => {
    const slow: Say = () => {
      clock.advance(20 * SECOND_MS);
      return noAnswer();
    };
    expect(await pass(edge, slow)).toMatchObject({ kind: 'failed', requestsUsed: 2 });
  });

  for (const status of [401, 403, 404, 405, 410]) {
    it(`tries once when the answer is ${status}`, async () => {
      expect(await pass(edge, sound(new ToyStatus(status)))).toMatchObject({
        kind: 'failed',
        code: 'UPSTREAM_REFUSED',
        requestsUsed: 1,
      });
    });
  }

  it('repeats no question that acts', async () => {
    const acting: Upstream = {
      ...edge,
      pull: function* (context) {
        const question = { ...firstQuestion(context), method: 'POST' as const };
        yield { questions: [question], tolerant: false };
        throw new Error('not reached');
      },
    };
    expect(await pass(acting, sound(noAnswer()))).toMatchObject({ kind: 'failed', requestsUsed: 1 });
  });

  it('lets a connector log out after a question failed, and tells the failure all the same', async () => {
    const polite: Upstream = {
      ...edge,
      pull: function* (context) {
        try {
          return yield* edge.pull(context);
        } finally {
          yield { questions: [{ ...firstQuestion(context), url: 'https://edge.test/logout' }], tolerant: true };
        }
      },
    };
    const report = await pass(polite, sound(new ToyStatus(404)));
    expect(report).toMatchObject({ kind: 'failed', message: expect.stringContaining('/monitors') });
    expect(sent.map(({ path }) => path)).toEqual(['/monitors', '/logout']);
  });
});

describe('an upstream that is down', () => {
  it('is left alone after five failures, looked at with one request, and back after one answer', async () => {
    const down = sound(noAnswer());
    await pass(edge, down);
    await pass(edge, down);
    expect(sent).toHaveLength(6);
    await restart();
    expect(await pass(edge, fine)).toMatchObject({ kind: 'skipped', cause: 'failing', requestsUsed: 0 });
    clock.advance(30 * SECOND_MS);
    expect(await pass(edge, down)).toMatchObject({ kind: 'failed', requestsUsed: 1 });
    expect(await pass(edge, fine)).toMatchObject({ kind: 'skipped', cause: 'failing' });
    clock.advance(MINUTE_MS);
    expect(await pass(edge, fine)).toMatchObject({ kind: 'ok' });
    expect(await pass(edge, down)).toMatchObject({ kind: 'failed', requestsUsed: 3 });
  });

  it('is asked at once when an operator wants it', async () => {
    await pass(edge, sound(noAnswer()));
    await pass(edge, sound(noAnswer()));
    expect(await pass(edge, fine, { isManual: true })).toMatchObject({ kind: 'ok' });
  });

  it('is asked at once when it says itself that something changed, but for what it told us to wait for', async () => {
    await pass(edge, sound(noAnswer()));
    await pass(edge, sound(noAnswer()));
    expect(await pass(edge, sound(noAnswer()), { isHinted: true })).toMatchObject({ kind: 'failed', requestsUsed: 1 });
    expect(await pass(edge, fine, { isHinted: true })).toMatchObject({ kind: 'ok' });
    await pass(edge, sound(new ToyStatus(429, 10 * MINUTE_MS)));
    expect(await pass(edge, fine, { isHinted: true })).toMatchObject({ kind: 'skipped', cause: 'waiting' });
  });

  it('is counted by the failures of its lists in a row: answers between and failing details do not add up', async () => {
    let failures = 2;
    const say: Say = (path) => {
      if (path === '/flaky' && failures > 0) {
        failures -= 1;
        return noAnswer();
      }
      return path === '/flaky' ? {} : noAnswer();
    };
    const upstream = asking(function* () {
      yield* ask(about('/flaky', 'list'));
      yield* attempt([about('/detail', 'detail')]);
      yield* ask(about('/dead', 'list'));
      return NOTHING_LEARNED;
    });
    expect(await pass(upstream, say)).toMatchObject({ kind: 'failed', requestsUsed: 3 + 3 + 3 });
    expect(await pass(upstream, say)).toMatchObject({ kind: 'failed' });
    expect(await pass(upstream, say)).toMatchObject({ kind: 'skipped', cause: 'failing' });
  });

  it('costs its details no more than five requests when only those fail', async () => {
    const say: Say = (path) =>
      path === '/monitors' ? toyMonitors(40) : path === '/incidents' ? { incidents: [] } : new ToyStatus(404);
    const report = await pass(edge, say);
    expect(report).toMatchObject({ kind: 'ok' });
    expect(report.requestsUsed).toBeLessThanOrEqual(2 + 5 + 3);
    expect(report.detailsWaiting).toBeGreaterThanOrEqual(32);
    expect(await pass(edge, sound(toyMonitors(40)))).toMatchObject({ kind: 'ok' });
  });
});

describe('an upstream that refuses the key', () => {
  it('is asked one thing in half a minute, over restarts, until the options change or an operator asks', async () => {
    await pass(edge, sound(new ToyStatus(401)));
    await restart();
    for (let turn = 0; turn < 29; turn += 1) {
      clock.advance(SECOND_MS);
      expect(await pass(toyUpstream('edge'), fine)).toMatchObject({ kind: 'skipped', cause: 'refused' });
    }
    expect(sent).toHaveLength(1);
    expect(await pass(toyUpstream('edge'), sound(new ToyStatus(401)), { isManual: true })).toMatchObject({
      kind: 'failed',
    });
    expect(await pass(toyUpstream('edge', { key: 'NEW' }), fine)).toMatchObject({ kind: 'ok' });
  });

  it('is noticed at the next pass once the key is taken again, at the cost of one request a pass until then', async () => {
    for (let turn = 0; turn < 60; turn += 1) {
      expect(await pass(edge, sound(new ToyStatus(401)))).toMatchObject({ kind: 'failed', requestsUsed: 1 });
      clock.advance(MINUTE_MS);
    }
    expect(await pass(edge, fine)).toMatchObject({ kind: 'ok' });
  });

  it('is tried at once when it calls itself: who sends a notification lives', async () => {
    await pass(edge, sound(new ToyStatus(401)));
    expect(await pass(edge, fine, { isHinted: true })).toMatchObject({ kind: 'ok' });
  });

  it('leaves no trace of the key in the database', async () => {
    await pass(toyUpstream('edge', { key: 'CANARY-KEY' }), sound(new ToyStatus(401)));
    const rows = await store.database.all('SELECT * FROM upstream_control');
    expect(rows[0]?.['refused_fingerprint']).toMatch(/^[0-9a-f]{24}$/);
    expect(JSON.stringify(rows)).not.toContain('CANARY');
  });
});

describe('an upstream that says "too many"', () => {
  const limited = (waitMs: number | null): Say => sound(new ToyStatus(429, waitMs));

  it('is not asked before the instant that it names, over passes and restarts, also not by hand', async () => {
    const start = clock.now();
    expect(await pass(edge, limited(10 * MINUTE_MS))).toMatchObject({ kind: 'failed', code: 'UPSTREAM_LIMITED' });
    while (clock.now() < start + 10 * MINUTE_MS - 1) {
      expect(await pass(edge, fine, { isManual: true })).toMatchObject({ kind: 'skipped', cause: 'waiting' });
      await restart();
      clock.advance(Math.min(MINUTE_MS, start + 10 * MINUTE_MS - 1 - clock.now()));
    }
    expect(sent).toHaveLength(1);
    clock.advance(1);
    expect(await pass(edge, fine)).toMatchObject({ kind: 'ok' });
    expect(sent[1]?.at).toBe(start + 10 * MINUTE_MS);
  });

  it('for a few seconds is asked again in the same pass, exactly then', async () => {
    let asked = 0;
    const say: Say = (path, question) => {
      asked += 1;
      return asked === 1 ? new ToyStatus(429, 7 * SECOND_MS) : fine(path, question);
    };
    const start = clock.now();
    expect(await pass(edge, say)).toMatchObject({ kind: 'ok' });
    expect(sent[1]?.at).toBe(start + 7 * SECOND_MS);
  });

  it('without an instant is asked again after up to 1, then 2 s, and left for longer each time', async () => {
    const start = clock.now();
    await pass(edge, limited(null));
    expect(sent.map(({ at }) => at - start)).toEqual([0, 500, 1_500]);
    expect(await pass(edge, fine)).toMatchObject({ kind: 'skipped', cause: 'waiting' });
    clock.advance(2 * SECOND_MS);
    await pass(edge, limited(null));
    expect(sent.slice(3).map(({ at }) => at - start)).toEqual([3_500, 7_500, 15_500]);
    clock.advance(MINUTE_MS);
    expect(await pass(edge, fine)).toMatchObject({ kind: 'ok' });
    sent = [];
    const again = clock.now();
    await pass(edge, limited(null));
    expect(sent.map(({ at }) => at - again)).toEqual([0, 500, 1_500]);
  });

  it('to a detail is believed for everything, and the lists of this pass are kept', async () => {
    const say: Say = (path) =>
      path.startsWith('/monitors/') ? new ToyStatus(429, 5 * SECOND_MS) : sound(toyMonitors(30))(path, {} as never);
    expect(await pass(edge, say)).toMatchObject({ kind: 'ok', monitorsTotal: 30 });
    // Four questions are under way at once; after the first "no" not one more leaves.
    expect(sent.length).toBeLessThanOrEqual(2 + 4);
    expect(clock.slept).toEqual([]);
    expect(await pass(edge, fine)).toMatchObject({ kind: 'skipped', cause: 'waiting' });
  });

  it('with 503 and an instant is believed too', async () => {
    await pass(edge, sound(new ToyStatus(503, 5 * MINUTE_MS)));
    clock.advance(4 * MINUTE_MS);
    expect(await pass(edge, fine)).toMatchObject({ kind: 'skipped', cause: 'waiting' });
    expect(sent).toHaveLength(1);
  });
});

describe('an upstream that says how many more requests it takes', () => {
  const details = (left: () => number): Say => {
    const say = sound(toyMonitors(20));
    return (path, question) => new ToyRemaining(say(path, question), left());
  };

  it('is asked for no details once it takes only what the lists of another pass need', async () => {
    let left = 12;
    const report = await pass(
      edge,
      details(() => (left -= 1)),
    );
    // The two lists of this pass, and details down to the two of the next.
    expect(left).toBeLessThanOrEqual(2);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(report).toMatchObject({ kind: 'ok', requestsUsed: 12 - left });
    expect(report.detailsWaiting).toBe(20 - (10 - left));
  });

  it('that takes none is left alone for a minute, lists and all', async () => {
    const start = clock.now();
    const report = await pass(
      edge,
      details(() => 0),
    );
    expect(report).toMatchObject({ kind: 'ok', detailsWaiting: 20 });
    expect(sent.map(({ at, path }) => [path, at - start])).toEqual([
      ['/monitors', 0],
      ['/incidents', 60_000],
    ]);
    clock.advance(59_000);
    expect((await pass(edge, fine)).kind).toBe('skipped');
    clock.advance(1_000);
    expect((await pass(edge, sound(toyMonitors(20)))).kind).toBe('ok');
  });
});

describe('the quota of an upstream', () => {
  const limits = { perMinute: 30, perHour: 300 };

  it('is never passed minute after minute, lists always come, and details share what is left', async () => {
    const limited = toyUpstream('edge', { limits });
    const perPass: number[] = [];
    for (let minute = 0; minute < 80; minute += 1) {
      const before = sent.length;
      expect(await pass(limited, sound(toyMonitors(60)))).toMatchObject({ kind: 'ok' });
      perPass.push(sent.length - before);
      clock.advance(MINUTE_MS);
    }
    const times = sent.map(({ at }) => at);
    for (const [index, at] of times.entries()) {
      expect((times[index + limits.perMinute] ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThanOrEqual(MINUTE_MS);
      expect((times[index + limits.perHour] ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThanOrEqual(HOUR_MS);
    }
    // The first pass takes what the minute allows, the others an even share: 174 an hour are left beside the lists.
    expect(perPass[0]).toBeGreaterThan(20);
    expect(Math.max(...perPass.slice(1))).toBe(2 + 3);
    expect(times.filter((at) => at < (times[0] ?? 0) + HOUR_MS).length).toBeGreaterThan(300 * 0.95);
    // Stalest first: no monitor has a turn more than any other.
    const turns = Map.groupBy(
      sent.filter(({ path }) => path.startsWith('/monitors/')),
      ({ path }) => path,
    );
    const counts = [...turns.values()].map((turn) => turn.length);
    expect(turns.size).toBe(60);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('that lists alone would use up makes passes rarer, and says so', async () => {
    const tight = toyUpstream('edge', { limits: { perMinute: 60, perHour: 60 } });
    await pass(tight, fine);
    clock.advance(MINUTE_MS);
    expect(await pass(tight, fine)).toMatchObject({
      kind: 'skipped',
      cause: 'waiting',
      reason: expect.stringContaining('Set a longer schedule'),
    });
    clock.advance(MINUTE_MS + SECOND_MS);
    expect(await pass(tight, fine)).toMatchObject({ kind: 'ok' });
  });

  it('that is smaller than the schedule is the interval: what was heard holds until the next answer', async () => {
    const tight = toyUpstream('edge', { limits: { perMinute: 5, perHour: 130 }, intervalMs: 3 * SECOND_MS });
    const site = {
      site: { url: 'https://s.test', name: 'Acme', home: null, timezone: 'UTC', locale: 'en', historyDays: 90 },
      pages: [],
      intervalMs: new Map([['edge', tight.intervalMs]]),
      callMs: new Map([['edge', intervalMinMs(tight.limits, 1)]]),
      definesPages: new Set<string>(),
    };
    const memory = createSiteMemory(store);
    const answered: number[] = [];
    for (let seconds = 0; seconds < 600; seconds += 3) {
      if ((await pass(tight, fine)).kind === 'ok') answered.push(seconds);
      const [source] = (await memory.refresh(site, clock.now())).sources;
      expect(source?.isMonitorsStale, `after ${seconds} s`).toBe(false);
      clock.advance(3 * SECOND_MS);
    }
    // Two lists a pass, and 130 an hour.
    expect(answered.length).toBeGreaterThan(8);
    const [source] = (await memory.refresh(site, clock.now())).sources;
    expect(source?.intervalMs).toBe(57 * SECOND_MS);
    const spans = await store.database.all('SELECT from_at FROM span');
    expect(new Set(spans.map((row) => row['from_at'])).size).toBe(1);
  });

  it('that is used up by others fails with its own words and an end, asking nothing', async () => {
    const tiny = { perMinute: null, perHour: 2 };
    const quota = createQuota(store.database, () => 0);
    for (let turn = 0; turn < 2; turn += 1) await quota.reserve('edge', quotaWindows(tiny), clock.now());
    expect(await pass(toyUpstream('edge', { limits: tiny }), fine)).toMatchObject({
      kind: 'failed',
      code: 'UPSTREAM_LIMITED',
      requestsUsed: 0,
    });
  });

  it('is waited for by lists, not by details', async () => {
    const narrow = toyUpstream('edge', { limits: { perMinute: 1, perHour: null } });
    const start = clock.now();
    const waits: [string, number][] = [];
    const onWait = (upstreamId: string, until: number): void => void waits.push([upstreamId, until - start]);
    expect(await pass(narrow, fine, { onWait })).toMatchObject({ kind: 'ok', detailsWaiting: 1 });
    expect(waits, 'told to whoever sits in front of it').toEqual([['edge', 75 * SECOND_MS]]);
    expect(sent.map(({ path, at }) => [path, at - start])).toEqual([
      ['/monitors', 0],
      ['/incidents', 75 * SECOND_MS],
    ]);
  });

  it('goes to lists first, then to incidents, to details and last to the past, whatever the order of the questions', async () => {
    const upstream = asking(
      function* () {
        yield* attempt([
          about('/past', 'backfill'),
          about('/detail', 'detail'),
          about('/incidents', 'incident'),
          about('/list', 'list'),
        ]);
        return NOTHING_LEARNED;
      },
      { limits: { perMinute: 8, perHour: null } },
    );
    await pass(upstream, () => ({}));
    expect(sent.map(({ path }) => path)).toEqual(['/list', '/incidents', '/detail', '/past']);
  });

  it('is left to others when details are slow: the lists are committed after a quarter of the interval', async () => {
    const slow: Say = (path) => {
      if (path.startsWith('/monitors/')) clock.advance(5 * SECOND_MS);
      return sound(toyMonitors(40))(path, {} as never);
    };
    const report = await pass(edge, slow);
    expect(report).toMatchObject({ kind: 'ok', monitorsTotal: 40 });
    expect(report.requestsUsed).toBeLessThanOrEqual(2 + 3 + 3);
    expect(report.detailsWaiting).toBeGreaterThanOrEqual(34);
  });

  it('lets a long past be read on over several passes, each page once', async () => {
    const long = toyUpstream('edge', { limits: { perMinute: 20, perHour: null }, pastPages: 50 });
    const isBackfilled = async () => (await store.upstreams()).get('edge')?.isBackfilled;
    for (let minute = 0; minute < 10 && (await isBackfilled()) !== true; minute += 1) {
      await pass(long, sound({ monitors: [] }));
      clock.advance(2 * MINUTE_MS);
    }
    expect(await isBackfilled()).toBe(true);
    const pages = sent.map(({ path }) => path).filter((path) => path.startsWith('/past/'));
    expect(pages).toEqual(Array.from({ length: 50 }, (_, page) => `/past/${page + 1}`));
    // Nothing is kept once all of it was read.
    const page = { ...about('/past/1', 'backfill'), name: 'past' };
    expect(long.backfill.recall(page, clock.now())).toBeNull();
    long.backfill.keep(page, { kind: 'ok', payload: {}, status: 200, at: clock.now() });
    expect(long.backfill.recall(page, clock.now())).not.toBeNull();
    clock.advance(HOUR_MS);
    expect(long.backfill.recall(page, clock.now())).toBeNull();
  });
});

describe('the past of a monitor that is put on a page later', () => {
  it('is read once, in the pass after, and also after a restart', async () => {
    const upstream = bindUpstream(uptimeService, {
      id: 'edge',
      options: optionsOf(),
      limits: null,
      intervalMs: MINUTE_MS,
    });
    const part = (id: string) => ({ id: `1${id}`, type: 'PAGE_COMPONENT_TYPE_MONITOR', monitorId: id, name: id });
    const pastOf = async (id: string) => {
      const monitor = toMonitorId('edge', id);
      return (await store.pasts([monitor], toEpochMs(0))).get(monitor)?.reportedDays.length;
    };
    const passWith = async (...ids: string[]): Promise<number> => {
      sent = [];
      const day = { day: '2026-01-01', count: 9, ok: 9 };
      const say = service({
        monitors: [monitorRow(1), monitorRow(2)],
        pages: [page()],
        overviews: { 1: { components: ids.map(part) } },
        days: { components: ids.map((monitorId) => ({ monitorId, buckets: [day] })) },
      });
      expect(await pass(upstream, (_, question) => say(question as Question<unknown>, 0))).toMatchObject({
        kind: 'ok',
      });
      clock.advance(2 * MINUTE_MS);
      return sent.filter(({ path }) => path.endsWith('/GetPageComponentDailySummary')).length;
    };
    expect(await passWith('1')).toBe(1);
    expect([await pastOf('1'), await pastOf('2')]).toEqual([1, 0]);
    expect(await passWith('1')).toBe(0);
    await restart();
    expect(await passWith('1', '2')).toBe(1);
    expect([await pastOf('1'), await pastOf('2')]).toEqual([1, 1]);
    await restart();
    expect(await passWith('1', '2')).toBe(0);
  });
});

describe('two passes at once', () => {
  it('over one upstream are one pass and one that steps aside', async () => {
    const gate = Promise.withResolvers<void>();
    const slow: Say = async (path, question) => {
      await gate.promise;
      return fine(path, question);
    };
    const first = pass(edge, slow);
    const other = open();
    expect(await pass(edge, fine)).toMatchObject({ kind: 'skipped', cause: 'overlap', requestsUsed: 0 });
    expect(await pass(edge, fine, { store: other })).toMatchObject({ kind: 'skipped', cause: 'overlap' });
    gate.resolve();
    expect(await first).toMatchObject({ kind: 'ok' });
    expect(await pass(edge, fine, { store: other })).toMatchObject({ kind: 'ok' });
    await other.close();
  });

  it('stay apart for as long as the first lasts', async () => {
    const other = open();
    const outcomes: string[] = [];
    const upstream = asking(
      function* () {
        for (const path of ['/1', '/2', '/3', '/4']) yield* ask(about(path, 'list'));
        return NOTHING_LEARNED;
      },
      { limits: { perMinute: 1, perHour: null } },
    );
    const sleep = async (ms: number): Promise<void> => {
      await clock.sleep(ms);
      const report = await pass(edge, fine, { store: other });
      outcomes.push(report.kind === 'skipped' ? report.cause : report.kind);
    };
    expect(await pass(upstream, () => ({}), { sleep })).toMatchObject({ kind: 'ok', durationMs: 225 * SECOND_MS });
    expect(outcomes).toEqual(['overlap', 'overlap', 'overlap']);
    await other.close();
  });

  it('stay apart no longer than a lease lasts when the first was killed, and no pass of it is kept', async () => {
    const script = `
      import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/sqlite/sqlite.ts'))};
      import { createLeases } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/nodes/leases.ts'))};
      const { database } = openSqlite(${JSON.stringify(join(folder, 'pharos.db'))}, 0);
      await createLeases(database, 1_000).take('pass/edge');
      console.log('taken');
      setInterval(() => undefined, 1_000);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    await once(child.stdout, 'data');
    // It is renewed for as long as its process lives.
    await wait(1_500);
    const leases = createLeases(store.database, 1_000);
    expect(await pass(edge, fine, { leases })).toMatchObject({ kind: 'skipped', cause: 'overlap' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await wait(1_000);
    expect(await pass(edge, fine, { leases })).toMatchObject({ kind: 'ok' });
  });

  it('wait for each other where the upstream itself says that it changed', async () => {
    const other = open();
    const gate = Promise.withResolvers<void>();
    const first = pass(edge, async (path, question) => {
      await gate.promise;
      return fine(path, question);
    });
    await wait(20);
    const hinted = pass(edge, fine, { store: other, isHinted: true, sleep: (ms) => wait(ms) });
    setTimeout(gate.resolve, 200);
    expect((await Promise.all([first, hinted])).map(({ kind }) => kind)).toEqual(['ok', 'ok']);
    await other.close();
  });

  it('keep nothing of the one that was paused while another took over, and it asks nothing more', async () => {
    const other = open();
    const upstream = asking(function* () {
      for (const path of ['/1', '/2', '/3']) yield* ask(about(path, 'list'));
      return NOTHING_LEARNED;
    });
    let isOver = false;
    const report = await pass(upstream, async (path, question) => {
      if (!isOver) {
        isOver = true;
        await takeOver('pass/edge');
        await wait(20);
        expect(await pass(edge, sound(toyMonitors(2)), { store: other })).toMatchObject({ kind: 'ok' });
        sent.length = 0;
      }
      return fine(path, question);
    });
    expect(report).toMatchObject({ kind: 'skipped', cause: 'overlap' });
    expect((await store.monitors()).size).toBe(2);
    await other.close();
  });

  it('asks for the schedule where its turn is held, and nowhere else', async () => {
    const leases = createLeases(store.database);
    const turn = await leases.take('ask/edge');
    const turnOf = () => turn;
    expect(await pass(edge, fine, { leases, turnOf: () => null })).toMatchObject({
      cause: 'elsewhere',
      requestsUsed: 0,
    });
    expect(await pass(edge, fine, { leases, turnOf })).toMatchObject({ kind: 'ok' });
    await takeOver('ask/edge');
    expect(await pass(edge, fine, { leases, turnOf })).toMatchObject({ cause: 'elsewhere', requestsUsed: 0 });
    await leases.close();
  });

  it('waits on schedule for the lease that a killed process left, since its turn would be lost otherwise', async () => {
    const leases = createLeases(store.database);
    const turn = await leases.take('ask/edge');
    await store.database.transaction(async (tx) =>
      tx.run("INSERT INTO lease (name, holder, until_at, fence) VALUES ('pass/edge', 'killed', ?, 1)", [
        (await tx.time()) + 300,
      ]),
    );
    expect(await pass(edge, fine, { leases })).toMatchObject({ kind: 'skipped', cause: 'overlap' });
    expect(await pass(edge, fine, { leases, turnOf: () => turn, sleep: (ms) => wait(ms) })).toMatchObject({
      kind: 'ok',
    });
    await leases.close();
  });

  /** Somebody else took a lease while this process was paused, and let it run out since. */
  const takeOver = (name: string): Promise<number> =>
    store.database.transaction((tx) =>
      tx.run("UPDATE lease SET holder = 'another', fence = fence + 1, until_at = 1 WHERE name = ?", [name]),
    );
});

describe('a pass that is stopped', () => {
  it('while it waits for the quota ends at once', async () => {
    const stop = new AbortController();
    const narrow = toyUpstream('edge', { limits: { perMinute: 1, perHour: null } });
    const never = (): Promise<void> => new Promise(() => stop.abort());
    const report = await pass(narrow, fine, { signal: stop.signal, sleep: never });
    expect(report).toMatchObject({ requestsUsed: 1 });
  });
});
