import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type EpochMs, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { connectorOf } from '../../src/sync/connectors/index.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import { runPass, type UpstreamReport } from '../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import type { FaultName } from '../sandbox/faults.ts';
import { SANDBOXES } from '../sandbox/kinds/index.ts';

/** Every upstream of the sandbox that a connector reads, by the name the sandbox has for it. */
const NAMES = SANDBOXES.flatMap(({ upstreams }) => upstreams.map(({ name }) => name));

/** What every upstream must make of a fault of the transport: nothing is committed, and the pass says why. */
const CODES: Readonly<Partial<Record<FaultName, string>>> = {
  '400': 'UPSTREAM_REFUSED',
  '401': 'UPSTREAM_REFUSED',
  '403': 'UPSTREAM_REFUSED',
  '404': 'UPSTREAM_REFUSED',
  '405': 'UPSTREAM_REFUSED',
  '415': 'UPSTREAM_REFUSED',
  '422': 'UPSTREAM_REFUSED',
  '429': 'UPSTREAM_LIMITED',
  '500': 'UPSTREAM_FAILED',
  '503': 'UPSTREAM_FAILED',
  down: 'UPSTREAM_UNREACHABLE',
  truncated: 'UPSTREAM_UNREACHABLE',
  'truncated-close': 'UPSTREAM_SHAPE',
  garbage: 'UPSTREAM_SHAPE',
  html: 'UPSTREAM_SHAPE',
  empty: 'UPSTREAM_SHAPE',
  'wrong-content-type': 'UPSTREAM_SHAPE',
  'gzip-bomb': 'UPSTREAM_SHAPE',
  redirect: 'UPSTREAM_REFUSED',
};

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/**
 * Faults that no connector takes for anything else: refusals, and those of the network, which one module judges for all of them.
 * At a smaller scale than 1 upstreams take turns: two of each list.
 */
const ALIKE: readonly (readonly string[])[] = [
  ['400', '401', '403', '405', '415', '422'],
  ['500', '503', 'down', 'truncated', 'redirect', 'gzip-bomb'],
];

function codesFor(name: string): readonly (readonly [string, string])[] {
  const turn = 2 * NAMES.indexOf(name);
  return Object.entries(CODES).filter(([fault]) => {
    const alike = ALIKE.find((list) => list.includes(fault));
    if (SCALE >= 1 || alike === undefined) return true;
    return (alike.indexOf(fault) - turn + 60 * alike.length) % alike.length < 2;
  });
}

let folder: string;
let sandbox: TestSandbox;
let http: Http;
let opened = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-faults-'));
  sandbox = await startTestSandbox();
  http = createHttp({ limits: { headersMs: 1_000, idleMs: 1_000, totalMs: 4_000 } });
});

afterAll(async () => {
  await http.close();
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

/** The entry that the sandbox prints for one of its upstreams, secrets filled in. */
function entryOf(name: string): { id: string; kind: string; options: unknown } {
  const environment = sandbox.environment();
  const text = sandbox
    .configText({ include: [name], hasPages: false })
    .replaceAll(/\$\{([A-Z_]+)\}/g, (_, variable: string) => environment[variable] ?? '');
  const { upstreams } = parse(text) as { upstreams: { id: string; kind: string }[] };
  const [entry] = upstreams;
  if (entry === undefined) throw new Error(`the sandbox prints nothing for ${name}`);
  const { id, kind, ...options } = entry;
  return { id, kind, options };
}

interface Bench {
  readonly store: Store;
  readonly id: string;
  readonly takesAnyType: () => boolean;
  readonly pass: () => Promise<UpstreamReport>;
}

/** By upstream: the database after a pass in which nothing was wrong. */
const goodPasses = new Map<string, Promise<string>>();

function goodPass(name: string): Promise<string> {
  return goodPasses.getOrInsertComputed(name, async () => {
    const file = join(folder, `${name}-good.db`);
    const { store, pass } = openBench(name, file, sandbox.now());
    expect(said(await pass())).toBe('ok');
    await store.close();
    return file;
  });
}

/** A store of its own after a good pass, and passes over one upstream of the sandbox. */
async function bench(name: string): Promise<Bench> {
  const good = await goodPass(name);
  opened += 1;
  const file = join(folder, `${opened}.db`);
  copyFileSync(good, file);
  return openBench(name, file, toEpochMs(sandbox.now() + MINUTE_MS));
}

function openBench(name: string, file: string, now: EpochMs): Bench {
  const store = createStore(openEmptySqlite(file, now).database);
  const { id, kind, options } = entryOf(name);
  const connector = connectorOf(kind);
  const settings = { id, options: connector.optionsSchema.parse(options), limits: null, intervalMs: MINUTE_MS };
  let clock = now;
  // A state on a plain file server may come under any type; what says that it is no JSON is otherwise none.
  let takesAnyType = false;
  const watched: Http = {
    ...http,
    request: (question, options) => {
      takesAnyType ||= question.acceptAnyType === true;
      return http.request(question, options);
    },
  };
  const deps = {
    store,
    http: watched,
    now: () => clock,
    random: () => 0,
    // Waiting is the clock moving on.
    sleep: async (ms: number) => {
      clock = toEpochMs(clock + ms);
    },
  };
  return {
    store,
    id,
    takesAnyType: () => takesAnyType,
    pass: async () => {
      clock = toEpochMs(clock + MINUTE_MS);
      const report = await runPass([bindUpstream(connector, settings)], deps, { isManual: true });
      const [first] = report.upstreams;
      if (first === undefined) throw new Error('no report');
      return first;
    },
  };
}

/** Everything remembered of an upstream but when it was last heard. */
async function remembered(store: Store, id: string) {
  const monitors = await store.monitors(id);
  const record = (await store.upstreams()).get(id);
  return {
    monitors: [...monitors.values()],
    incidents: await store.incidents(toEpochMs(0)),
    maintenances: await store.maintenances(toEpochMs(0)),
    pages: record?.definitions,
  };
}

const said = (report: UpstreamReport): string => (report.kind === 'failed' ? report.code : report.kind);

describe.each(NAMES)('%s over real HTTP', (name) => {
  it.each(codesFor(name))('%s keeps the last good snapshot and gives %s', async (fault, code) => {
    const { store, id, takesAnyType, pass } = await bench(name);
    const before = await remembered(store, id);
    sandbox.faults.set(name, fault as FaultName);
    const report = await pass();
    sandbox.faults.clear();
    expect(said(report)).toBe(fault === 'wrong-content-type' && takesAnyType() ? 'ok' : code);
    expect(await remembered(store, id)).toEqual(before);
    await store.close();
  });

  it('takes numbers written as text, and items repeated as they are, for what they are', async () => {
    const { store, id, pass } = await bench(name);
    const before = await remembered(store, id);
    for (const fault of ['numbers-as-strings', 'duplicate-ids'] as const) {
      sandbox.faults.set(name, { name: fault, isConflicting: false });
      const report = await pass();
      sandbox.faults.clear();
      expect(`${fault} ${said(report)}`).toBe(`${fault} ok`);
      expect(await remembered(store, id)).toEqual(before);
    }
    await store.close();
  });

  it('shows nothing as well, opens nothing, ends nothing and names it when no item can be read', async () => {
    const { store, id, pass } = await bench(name);
    const before = await remembered(store, id);
    sandbox.faults.set(name, 'wrong-types');
    const report = await pass();
    sandbox.faults.clear();
    const { pages, ...after } = await remembered(store, id);
    // Pages of which nobody can tell who may see them are closed, and the others stay.
    const access = new Map(before.pages?.map((page) => [page.id, page.access]));
    expect(pages?.filter((page) => page.access !== 'closed' && page.access !== access.get(page.id))).toEqual([]);
    expect(after.incidents).toEqual(before.incidents);
    if (report.kind === 'ok') {
      expect(report.problems.length).toBeGreaterThan(0);
      const states = after.monitors.map(({ state }) => state);
      expect(states.filter((state) => state !== 'unknown' && state !== 'paused')).toEqual([]);
    } else {
      // Without their ids all of them are gone at once, which is not believed yet; or the frame is not readable either.
      expect(report.kind === 'skipped' ? report.cause : said(report)).toMatch(/^(held|UPSTREAM_SHAPE)$/);
      expect(after.monitors).toEqual(before.monitors);
    }
    await store.close();
  });

  it('shows nothing as well when every word is unknown', async () => {
    const { store, id, pass } = await bench(name);
    const before = await remembered(store, id);
    sandbox.faults.set(name, 'unknown-words');
    const report = await pass();
    sandbox.faults.clear();
    if (report.kind === 'skipped') {
      // Where a word says what an item is, all of them are gone at once, which is not believed yet.
      expect(report.cause).toBe('held');
      expect(await remembered(store, id)).toEqual(before);
      return store.close();
    }
    const monitors = [...(await store.monitors(id)).values()];
    const pages = (await store.upstreams()).get(id)?.definitions ?? [];
    expect(monitors.filter(({ state }) => state !== 'unknown' && state !== 'paused')).toEqual([]);
    expect(pages.filter(({ access }) => access !== 'closed')).toEqual([]);
    await store.close();
  });

  it('shows no monitor as well, and no page to everybody, when no item can be read', async () => {
    const { store, id, pass } = await bench(name);
    const before = await store.monitors(id);
    sandbox.faults.set(name, 'wrong-types');
    const report = await pass();
    sandbox.faults.clear();
    const after = await store.monitors(id);
    // Frames that cannot be read, and lists that lose most at once, leave everything as it was.
    if (report.kind !== 'ok') expect(after).toEqual(before);
    else expect([...after.values()].filter(({ state }) => state !== 'unknown' && state !== 'paused')).toEqual([]);
    expect(report.problems.length + Number(report.kind === 'failed')).toBeGreaterThan(0);
    const pages = (await store.upstreams()).get(id)?.definitions ?? [];
    if (report.kind !== 'failed')
      expect(pages.filter(({ access, published }) => published && access === 'public')).toEqual([]);
    await store.close();
  });

  it('never shows less trouble, or more to the public, when lists are missing or two records share an id', async () => {
    const { store, id, pass } = await bench(name);
    const before = await store.monitors(id);
    for (const fault of ['missing-arrays', 'duplicate-ids'] as const) {
      sandbox.faults.set(name, fault);
      await pass();
      sandbox.faults.clear();
      for (const monitor of (await store.monitors(id)).values()) {
        const was = before.get(monitor.id);
        // Of one key and two names, Gatus means an endpoint and its namesake on a remote instance.
        if (was === undefined && name === 'gatus') continue;
        expect([was?.state, 'unknown']).toContain(monitor.state);
        expect([was?.isPublic, false]).toContain(monitor.isPublic);
      }
    }
    await store.close();
  });
});
