/**
 * What a pass costs: CPU and peak memory over 1,000 and 10,000 monitors, by what changed and by how much is remembered.
 *
 * The upstream answers over HTTP from this process; the passes run in a child, so that only they are measured.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { connectorOf } from '../../src/sync/connectors/index.ts';
import { createHttp } from '../../src/sync/http/http.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import { judge } from './budget.ts';

const START = Date.UTC(2026, 10, 21, 9, 0, 0);
const RUNS = 5;
/** Spans of each monitor that are remembered already, for the last case. */
const SPANS_EACH = 300;

/** The last one bounds what V8 lets pile up before it looks; what is alive after a pass is about 25 MB. */
const CASES = [
  { monitorsTotal: 1_000, spansEach: 0, flags: [] },
  { monitorsTotal: 1_000, spansEach: SPANS_EACH, flags: [] },
  { monitorsTotal: 10_000, spansEach: 0, flags: [] },
  { monitorsTotal: 10_000, spansEach: 0, flags: ['--max-semi-space-size=8'] },
] as const;

interface Task {
  readonly baseUrl: string;
  readonly spansEach: number;
  readonly monitorsTotal: number;
  /** Monitors that change their state from each pass to the next. */
  readonly changes: readonly number[];
}

interface Figure {
  readonly name: string;
  readonly cpuMs: number;
}

/** Prints CPU per pass (median of five) and the peak of memory above what the idle process holds. */
export async function run(): Promise<void> {
  for (const { monitorsTotal, spansEach, flags } of CASES) {
    const upstream = await startUpstream(monitorsTotal);
    const changes = [0, monitorsTotal / 100, monitorsTotal];
    const child = fork(import.meta.filename, { stdio: 'inherit', execArgv: [...flags] });
    child.on('message', (told) => process.send?.(told));
    child.send({ baseUrl: upstream.url, monitorsTotal, spansEach, changes } satisfies Task);
    const [status] = await once(child, 'exit');
    await upstream.stop();
    if (status !== 0) throw new Error(`the passes over ${monitorsTotal} monitors ended with ${status}`);
  }
}

/** A server monitor whose first `?` monitors are down in every other pass; how many, `/change/<n>` says. */
async function startUpstream(monitorsTotal: number): Promise<{ url: string; stop: () => Promise<unknown> }> {
  let downTotal = 0;
  let body = '';
  const write = (): void => {
    const monitors = Array.from({ length: monitorsTotal }, (_, id) => ({
      id,
      name: `Service ${id}`,
      type: 'http',
      target: `https://service-${id}.example.com/health`,
      status: id < downTotal ? 'down' : 'up',
      is_active: 1,
      created_at: '2026-01-01 00:00:00',
      updated_at: '2026-11-20 00:00:00',
    }));
    body = JSON.stringify({ success: true, data: { monitors, count: monitorsTotal } });
  };
  write();
  const answers: Readonly<Record<string, () => string>> = {
    '/status': () =>
      JSON.stringify({
        success: true,
        data: {
          status: { total: monitorsTotal, up: 0, down: 0, pending: 0, paused: 0, overall_status: 'operational' },
          active_incidents: [],
          timestamp: '2026-11-21T09:00:00+00:00',
        },
      }),
    '/monitors': () => body,
    '/incidents': () =>
      JSON.stringify({
        success: true,
        data: { incidents: [], pagination: { total: 0, per_page: 100, current_page: 1, total_pages: 0 } },
      }),
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    if (pathname.startsWith('/change/')) {
      downTotal = Number(pathname.slice('/change/'.length));
      write();
    }
    const answer = answers[pathname];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(answer?.() ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function measure(task: Task): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'));
  const { database } = openSqlite(join(folder, 'pharos.db'), START);
  const store = createStore(database);
  const http = createHttp();
  let now = toEpochMs(START);
  const connector = connectorOf('server-monitor');
  if (connector === undefined) throw new Error('no connector server-monitor');
  const upstream = bindUpstream(connector, {
    id: 'edge',
    options: connector.optionsSchema.parse({ baseUrl: task.baseUrl, apiKey: 'k' }),
    limits: { perMinute: 600, perHour: 36_000 },
    intervalMs: MINUTE_MS,
  });
  const pass = async (): Promise<void> => {
    const deps = { store, http, now: () => now, random: () => 0, sleep: async () => undefined };
    const { upstreams } = await runPass([upstream], deps);
    if (upstreams[0]?.kind !== 'ok') throw new Error(JSON.stringify(upstreams[0]));
    now = toEpochMs(now + MINUTE_MS);
  };
  globalThis.gc?.();
  const idleBytes = process.memoryUsage.rss();
  const figures: Figure[] = [{ name: 'first pass', cpuMs: await cpuMsOf(pass) }];
  if (task.spansEach > 0) await remember(task);
  for (const changed of task.changes) {
    const times: number[] = [];
    for (let turn = 0; turn < RUNS; turn += 1) {
      await fetch(`${task.baseUrl}/change/${turn % 2 === 0 ? changed : 0}`);
      times.push(await cpuMsOf(pass));
    }
    figures.push({ name: `${changed} changed`, cpuMs: times.toSorted((a, b) => a - b)[RUNS >> 1] ?? 0 });
  }
  // Linux gives kibibytes.
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const young = process.execArgv.length === 0 ? '' : `, ${process.execArgv.join(' ')}`;
  const name = `${task.monitorsTotal} monitors, ${task.spansEach} spans each remembered${young}`;
  for (const figure of figures) judge({ name: `${name}: ${figure.name}`, figure: figure.cpuMs, unit: 'ms CPU' });
  judge({ name: `${name}: peak above idle`, figure: (peakBytes - idleBytes) / 1e6, unit: 'MB' });
  await http.close();
  await store.close();
  rmSync(folder, { recursive: true });

  /** Fills in a past, so that a cost that grows with history would show. */
  async function remember({ monitorsTotal, spansEach }: Task): Promise<void> {
    const rows = Array.from({ length: monitorsTotal }, (_, monitor) =>
      Array.from({ length: spansEach }, (_, span) => {
        const from = START - (spansEach - span) * HOUR_MS;
        return [`edge/${monitor}`, from, from + HOUR_MS, span % 2 === 0 ? 'operational' : 'degraded'];
      }),
    ).flat();
    await database.transaction((tx) =>
      tx.runMany('INSERT INTO span (monitor, from_at, to_at, state) VALUES (?, ?, ?, ?)', rows),
    );
  }
}

async function cpuMsOf(task: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  process.once('message', (task) => {
    measure(task as Task).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
