import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOTHING_LEARNED } from '../../src/model/observation.ts';
import { MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { statuspage } from '../../src/sync/connectors/statuspage/connector.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import { type PassOptions, runPass } from '../../src/sync/pass/pass.ts';
import { bindUpstream, type Upstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { ToyClock, toyUpstream } from '../helpers/toy-upstream.ts';

const VENDORS = 50;
const START = Date.UTC(2026, 10, 21, 9);

interface Sent {
  readonly at: number;
  readonly vendor: string;
  readonly path: string;
  readonly isConditional: boolean;
}

let folder: string;
let store: Store;
let server: Server;
let http: Http;
let clock: ToyClock;
let sent: Sent[];
let underWay: number;
let underWayMax: number;

/** Fifty pages that never change, on one server; each says so when it is asked. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-vendors-'));
  store = createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);
  clock = new ToyClock();
  http = createHttp({ limits: { connectionsMax: 100 } });
  sent = [];
  underWay = 0;
  underWayMax = 0;
  server = createServer((request, response) => {
    const [, vendor = '', path = ''] = /^\/(v\d+)\/api\/v2\/(.*)$/.exec(request.url ?? '') ?? [];
    const tag = `"${vendor}/${path}"`;
    sent.push({ at: clock.now() - START, vendor, path, isConditional: request.headers['if-none-match'] === tag });
    underWay += 1;
    underWayMax = Math.max(underWayMax, underWay);
    // As long as it takes for everything that is to be sent at once to be there.
    setTimeout(() => {
      underWay -= 1;
      if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
      else {
        const components = [{ id: `c-${vendor}`, name: 'Compute', status: 'operational' }];
        const body = { page: { name: vendor }, components, incidents: [], scheduled_maintenances: [] };
        response.writeHead(200, { 'content-type': 'application/json', etag: tag }).end(JSON.stringify(body));
      }
    }, 2);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await http.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await store.close();
  rmSync(folder, { recursive: true });
});

function vendors(): Upstream[] {
  const { port } = server.address() as AddressInfo;
  return Array.from({ length: VENDORS }, (_, index) =>
    bindUpstream(statuspage, {
      id: `v${index}`,
      options: statuspage.optionsSchema.parse({ url: `http://127.0.0.1:${port}/v${index}` }),
      limits: null,
      intervalMs: MINUTE_MS,
    }),
  );
}

async function pass(upstreams: readonly Upstream[], options: PassOptions = {}) {
  const deps = { store, http, now: clock.now, sleep: clock.sleep, random: () => 0.5 };
  return runPass(upstreams, deps, options);
}

describe(`${VENDORS} vendors' pages in one process`, () => {
  it('are asked in turn over half of the interval, a few at once, and each once a minute', async () => {
    const upstreams = vendors();
    const minutes = 6;
    for (let minute = 0; minute < minutes; minute += 1) {
      clock.advance(START + minute * MINUTE_MS - clock.now());
      const { upstreams: reports } = await pass(upstreams);
      expect(reports.map(({ kind }) => kind)).toEqual(reports.map(() => 'ok'));
      expect(clock.now() - START - minute * MINUTE_MS).toBeLessThanOrEqual(MINUTE_MS / 2);
    }
    expect(underWayMax).toBeLessThanOrEqual(4);
    const later = sent.filter(({ at }) => at >= MINUTE_MS);
    // Nothing else waits here: one begins every 600 ms, so that all fifty have within half a minute.
    expect(clock.slept).toEqual(Array.from({ length: minutes * (VENDORS - 1) }, () => 600));
    // The two lists of what is over once at first; then one question a minute.
    const past = ['incidents.json', 'scheduled-maintenances.json'];
    const expected = ['summary.json', ...past, ...Array.from({ length: minutes - 1 }, () => 'summary.json')];
    for (const [vendor, requests] of Map.groupBy(sent, (one) => one.vendor))
      expect(
        requests.map(({ path }) => path),
        vendor,
      ).toEqual(expected);
    expect(later.every(({ isConditional }) => isConditional)).toBe(true);
  });

  it('do not hold up what is ours, and are not spread where somebody waits, though never all at once', async () => {
    const ours: Upstream = {
      ...toyUpstream('ours'),
      // biome-ignore lint/correctness/useYield: it has nothing to ask
      pull: function* () {
        return NOTHING_LEARNED;
      },
    };
    const done: string[] = [];
    await pass([...vendors(), ours], { isManual: true, onReport: ({ upstreamId }) => done.push(upstreamId) });
    expect(done.indexOf('ours')).toBeLessThan(VENDORS - 1);
    expect(clock.slept).toEqual([]);
    expect(underWayMax).toBeLessThanOrEqual(4);
    expect(new Set(sent.map(({ vendor }) => vendor)).size).toBe(VENDORS);
  });

  it('are not waited for once the process stops', async () => {
    const stop = new AbortController();
    stop.abort();
    const deps = { store, http, now: clock.now, sleep: clock.sleep, random: () => 0.5, signal: stop.signal };
    await runPass(vendors(), deps);
    expect(clock.now()).toBe(toEpochMs(START));
  });
});
