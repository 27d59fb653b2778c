/**
 * What a thousand HTTP checks every 30 seconds cost: CPU and memory of `pharos start` above the same process without checks,
 * how exactly they measure, and how soon a fall is published. Beside it, in the same run, prometheus-blackbox-exporter where it
 * is installed (or `PHAROS_BENCH_BLACKBOX` names it), asked by this process as Prometheus would.
 *
 * `PHAROS_BENCH_CHECKS` (default 1,000) says how many. The targets are hosts of their own on loopback, answered by a process of
 * its own, which notes how long it took for each answer.
 */

import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { judge, median, number, quantile, sizesFrom } from './budget.ts';

const [CHECKS = 1_000] = sizesFrom('PHAROS_BENCH_CHECKS', [1_000]);
const PERIOD_MS = 30_000;
/** Every check was made once, and code is compiled. */
const WARM_UP_MS = 45_000;
const MEASURED_MS = 65_000;
const IDLE_AFTER_MS = 20_000;
const FALLS = 10;
/** Checks are spread over their period in this order, and so are the falls. */
const FALLING = Array.from({ length: FALLS }, (_, index) => Math.floor((index * CHECKS) / FALLS));
/** The kernel counts the CPU of a process in these. */
const TICK_MS = 10;
const BLACKBOX = process.env['PHAROS_BENCH_BLACKBOX'] ?? 'prometheus-blackbox-exporter';

/** How long the answers to each path took, oldest first. */
type Took = Readonly<Record<string, readonly number[]>>;

interface Targets {
  readonly url: (index: number, kind: string) => string;
  /** Since the last call. */
  readonly took: () => Promise<Took>;
  readonly fail: (paths: readonly string[]) => void;
  readonly stop: () => void;
}

export async function run(): Promise<void> {
  const targets = await startTargets();
  try {
    const idle = await measurePharos(targets, false);
    const busy = await measurePharos(targets, true);
    const every = `${number(CHECKS)} HTTP checks every ${PERIOD_MS / 1_000} s`;
    judge({
      name: `${every}: CPU of one core`,
      figure: busy.cpuShare * 100,
      unit: '%',
      atMost: 25,
      remark: `without checks ${number(idle.cpuShare * 100)} %`,
    });
    judge({
      name: '  memory above idle',
      figure: busy.mb - idle.mb,
      unit: 'MB',
      atMost: 150,
      remark: `idle ${number(idle.mb)} MB`,
    });
    const { over } = busy;
    judge({
      name: '  measured total minus the server’s own delay, p99',
      figure: quantile(over, 0.99),
      unit: 'ms',
      atMost: 5,
      remark: `p50 ${number(median(over))} ms, of ${number(over.length)} answers, in whole milliseconds`,
    });
    judge({
      name: '  a run begins a period after the one before, furthest off',
      figure: Math.max(...busy.lateMs) / 1_000,
      unit: 's',
      atMost: 1,
      remark: `p99 ${number(quantile(busy.lateMs, 0.99))} ms`,
    });
    const [slowest, middle] = [Math.max(...busy.fallsMs), median(busy.fallsMs)];
    judge({
      name: `  fall until published, slowest of ${FALLS}`,
      figure: slowest / 1_000,
      unit: 's',
      atMost: (PERIOD_MS + 2_000) / 1_000,
      remark: `p50 ${number(middle / 1_000)} s`,
    });
    judge({
      name: '  the same from its first failed try, slowest',
      figure: Math.max(...busy.foundMs) / 1_000,
      unit: 's',
      atMost: 2,
    });
    if (spawnSync(BLACKBOX, ['--version']).error !== undefined)
      return console.log(`no ${BLACKBOX} here to compare with`);
    const peer = await measureBlackbox(targets);
    judge({ name: `${BLACKBOX}: CPU of one core`, figure: peer.cpuShare * 100, unit: '%' });
    judge({ name: '  memory', figure: peer.mb, unit: 'MB', remark: `idle ${number(peer.idleMb)} MB` });
    judge({
      name: '  measured total minus the server’s own delay, p99',
      figure: quantile(peer.over, 0.99),
      unit: 'ms',
      remark: `p50 ${number(median(peer.over))} ms`,
    });
  } finally {
    targets.stop();
  }
}

interface PharosFigures {
  readonly cpuShare: number;
  readonly mb: number;
  readonly over: readonly number[];
  readonly lateMs: readonly number[];
  readonly fallsMs: readonly number[];
  readonly foundMs: readonly number[];
}

async function measurePharos(targets: Targets, isActive: boolean): Promise<PharosFigures> {
  const folder = temporaryFolder();
  const checks = Array.from({ length: CHECKS }, (_, index) => ({
    ...{ id: `t${index}`, name: `Target ${index}`, type: 'http', url: targets.url(index, 'p') },
    ...{ periodicity: '30s', timeout: 10_000, active: isActive },
  }));
  const shown = FALLING.map((index) => ({ id: `t${index}`, monitor: `checks/t${index}` }));
  const config = {
    site: { url: 'http://127.0.0.1:4321' },
    upstreams: [{ id: 'checks', kind: 'checks', checks }],
    pages: [{ slug: 'status', title: 'Status', components: shown }],
  };
  // JSON is YAML.
  writeFileSync(join(folder.path, 'pharos.yaml'), JSON.stringify(config));
  const pharos = await startPharos(['start', '--port', '0', '--quiet'], { cwd: folder.path });
  try {
    await wait(isActive ? WARM_UP_MS : IDLE_AFTER_MS);
    await targets.took();
    const startedAt = Date.now();
    const before = cpuMs(pharos.pid);
    await wait(isActive ? MEASURED_MS : IDLE_AFTER_MS);
    const lastedMs = Date.now() - startedAt;
    const cpuShare = (cpuMs(pharos.pid) - before) / lastedMs;
    const mb = residentMb(pharos.pid);
    const took = await targets.took();
    if (!isActive) return { cpuShare, mb, over: [], lateMs: [], fallsMs: [], foundMs: [] };
    const results = resultsSince(join(folder.path, 'data/pharos.db'), startedAt);
    const [over, lateMs] = [overheadOf(results, took), latenessOf(results)];
    return { cpuShare, mb, over, lateMs, ...(await measureFalls(targets, pharos.url)) };
  } finally {
    await pharos.stop();
    folder.remove();
  }
}

interface Result {
  readonly name: string;
  /** Newest answers, oldest first. */
  readonly recent: readonly { readonly at: number; readonly ms: number }[];
}

function resultsSince(path: string, since: number): Result[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('SELECT document FROM check_result').all() as { document: string }[];
  database.close();
  return rows.map(({ document }) => {
    const { name, recent } = JSON.parse(document) as Result;
    return { name, recent: recent.filter(({ at }) => at >= since) };
  });
}

/** What was measured minus what the server took, pair by pair. */
function overheadOf(results: readonly Result[], took: Took): number[] {
  return results.flatMap(({ name, recent }) => {
    const served = took[`/p/${name.slice(1)}`] ?? [];
    // Answers on their way at an edge are in one list only.
    if (recent.length !== served.length) return [];
    return recent.map(({ ms }, index) => ms - (served[index] ?? Number.NaN));
  });
}

/** How far runs were from a period after the one before. */
function latenessOf(results: readonly Result[]): number[] {
  return results.flatMap(({ recent }) =>
    recent.slice(1).map(({ at }, index) => Math.abs(at - (recent[index]?.at ?? Number.NaN) - PERIOD_MS)),
  );
}

async function measureFalls(targets: Targets, url: string): Promise<Pick<PharosFigures, 'fallsMs' | 'foundMs'>> {
  targets.fail(FALLING.map((index) => `/p/${index}`));
  const failedAt = Date.now();
  const shownAt = new Map<string, number>();
  const since = new Map<string, number>();
  while (shownAt.size < FALLS) {
    if (Date.now() - failedAt > 4 * PERIOD_MS) throw new Error('the falls are not published');
    const answer = await fetch(`${url}/status/api/state.json`);
    const { components } = (await answer.json()) as { components: { id: string; state: string; since: string }[] };
    for (const one of components)
      if (one.state === 'major_outage' && !shownAt.has(one.id)) {
        shownAt.set(one.id, Date.now());
        since.set(one.id, Date.parse(one.since));
      }
    await wait(20);
  }
  return {
    fallsMs: [...shownAt.values()].map((at) => at - failedAt),
    foundMs: [...shownAt].map(([id, at]) => at - (since.get(id) ?? Number.NaN)),
  };
}

async function measureBlackbox(
  targets: Targets,
): Promise<{ cpuShare: number; mb: number; idleMb: number; over: readonly number[] }> {
  const folder = temporaryFolder();
  const file = join(folder.path, 'blackbox.json');
  writeFileSync(file, JSON.stringify({ modules: { http: { prober: 'http', timeout: '10s' } } }));
  const port = 20_000 + (process.pid % 20_000);
  const address = `127.0.0.1:${port}`;
  const child = spawn(BLACKBOX, [`--config.file=${file}`, `--web.listen-address=${address}`, '--log.level=error'], {
    stdio: 'ignore',
  });
  try {
    while (
      !(await fetch(`http://${address}/-/healthy`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await wait(100);
    const pid = child.pid ?? 0;
    const idleMb = residentMb(pid);
    const over: number[] = [];
    const probe = async (index: number): Promise<void> => {
      const target = encodeURIComponent(targets.url(index, 'b'));
      const text = await (await fetch(`http://${address}/probe?module=http&target=${target}`)).text();
      over.push(Number(/^probe_duration_seconds (\S+)$/m.exec(text)?.[1] ?? Number.NaN) * 1_000);
      indexes.push(index);
    };
    const indexes: number[] = [];
    await targets.took();
    const startedAt = Date.now();
    const before = cpuMs(pid);
    const probes: Promise<void>[] = [];
    for (let count = 0; count < (CHECKS * MEASURED_MS) / PERIOD_MS; count += 1) {
      await wait(Math.max(0, startedAt + (count * PERIOD_MS) / CHECKS - Date.now()));
      probes.push(probe(count % CHECKS));
    }
    await Promise.all(probes);
    const cpuShare = (cpuMs(pid) - before) / (Date.now() - startedAt);
    const served = await targets.took();
    const next = new Map<number, number>();
    return {
      ...{ cpuShare, mb: residentMb(pid), idleMb },
      over: over.map((ms, place) => {
        const index = indexes[place] ?? 0;
        const turn = next.get(index) ?? 0;
        next.set(index, turn + 1);
        return ms - (served[`/b/${index}`]?.[turn] ?? Number.NaN);
      }),
    };
  } finally {
    child.kill();
    folder.remove();
  }
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
}

async function startTargets(): Promise<Targets> {
  const child: ChildProcess = fork(import.meta.filename, ['targets']);
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: (index, kind) => `http://127.1.${index >> 8}.${index & 255}:${port}/${kind}/${index}`,
    took: async () => {
      child.send('took');
      const [took] = (await once(child, 'message')) as [Took];
      return took;
    },
    fail: (paths) => void child.send(paths),
    stop: () => void child.kill(),
  };
}

/** The process of the targets: each answers after its own time, from 5 to 100 ms. */
async function serveTargets(): Promise<void> {
  let took: Record<string, number[]> = {};
  const failing = new Set<string>();
  const server = createServer((request, response) => {
    const startedAt = performance.now();
    const path = request.url ?? '';
    const index = Number(path.split('/')[2]);
    setTimeout(
      () => {
        response.writeHead(failing.has(path) ? 500 : 200, { 'content-type': 'text/plain' }).end('x'.repeat(2_000));
        took[path] = [...(took[path] ?? []), performance.now() - startedAt];
      },
      5 + ((index * 37) % 96),
    );
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  process.on('message', (message) => {
    if (message === 'took') {
      process.send?.(took);
      took = {};
    } else for (const path of message as string[]) failing.add(path);
  });
  process.send?.((server.address() as AddressInfo).port);
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'targets') await serveTargets();
