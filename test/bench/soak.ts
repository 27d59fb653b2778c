/**
 * Minutes of random faults: upstreams fail in every way the sandbox knows, services go up and down, notifications,
 * rebuilds and SIGHUPs come in between, while visitors read. Pages are there at every moment, memory stays flat, and a page
 * whose upstream went stale says so within one pass.
 *
 * `PHAROS_SOAK_MINUTES` (default 10) says how long, `PHAROS_SOAK_SEED` (default 1) which faults.
 */

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toEpochMs } from '../../src/model/time.ts';
import type { ServiceStatus } from '../../src/sandbox/services.ts';
import { metricsText } from '../helpers/metrics.ts';
import { type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { FAULT_NAMES } from '../sandbox/faults.ts';
import { serverMonitorSandbox } from '../sandbox/kinds/server-monitor.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { judge, number, quantile } from './budget.ts';

const MINUTES = Number(process.env['PHAROS_SOAK_MINUTES'] ?? 10);
const SEED = Number(process.env['PHAROS_SOAK_SEED'] ?? 1);
const READERS = 4;
const PATHS = ['', 'history/', 'api/state.json', 'api/v2/summary.json', 'badges/status.svg', 'feed.atom', 'build.json'];
const UPSTREAMS = ['server-monitor', 'uptime'] as const;
const STATUSES: readonly ServiceStatus[] = ['up', 'down'];
const SCHEDULE_MS = 2_000;
/** One pass after an upstream turned stale its page says so: the next tick, and the time that a publish takes. */
const MARKED_MS_MAX = SCHEDULE_MS + 2_000;
/** What the page of the sandbox shows of each. */
const COMPONENTS: Readonly<Record<string, readonly string[]>> = {
  edge: ['Sign-in', 'CDN'],
  svc: ['Website', 'Public API', 'Search', 'Mail'],
};
/** Longer than upstreams are waited for, so that it is a timeout and not an answer. */
const SLOW_MS = 12_000;
const SAMPLE_MS = 500;
/** Of the run, before memory is looked at: code is compiled, caches fill. */
const WARM_SHARE = 0.3;
const GROWTH_RATIO_MAX = 1.15;

interface Findings {
  readonly answers: number[];
  readonly failures: string[];
  readonly unmarked: string[];
  readonly memoryMb: number[];
  readonly heapMb: number[];
  faults: number;
  staleTimes: number;
}

/** The same faults for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export async function run(): Promise<void> {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({
    port: 0,
    now: () => toEpochMs(Date.now()),
    isCalm: true,
    kinds: [serverMonitorSandbox({ limits: null })],
  });
  const env: Readonly<Record<string, string>> = { ...sandbox.environment(), HOOK: 'hook-secret-000000000000' };
  const file = join(folder.path, 'pharos.yaml');
  // Asked on every tick, so that what turns stale does so by a fault and not for want of quota.
  const config = `${sandbox
    .configText({ include: [...UPSTREAMS] })
    .replace(
      'auth: x-api-key',
      'auth: x-api-key\n    hook: { secrets: ["${HOOK}"] }\n    limits: { perMinute: 10000, perHour: 100000 }',
    )}schedule: "*/${SCHEDULE_MS / 1_000} * * * * *"\n`;
  writeFileSync(file, config);
  const pharos = await startPharos(['start', '--port', '0', '--quiet'], { cwd: folder.path, env });
  const found: Findings = {
    answers: [],
    failures: [],
    unmarked: [],
    memoryMb: [],
    heapMb: [],
    faults: 0,
    staleTimes: 0,
  };
  try {
    await untilReady(pharos);
    const until = performance.now() + MINUTES * 60_000;
    const isOn = (): boolean => performance.now() < until;
    await Promise.all([
      ...Array.from({ length: READERS }, (_, reader) => read(pharos, { reader, found, isOn })),
      breakThings(sandbox, pharos, { found, isOn, file, config, env }),
      watch(pharos, { found, isOn, token: env['PHAROS_TOKEN'] ?? '' }),
    ]);
  } finally {
    await pharos.stop();
    await sandbox.stop();
    folder.remove();
  }
  tell(found);
}

async function untilReady(pharos: RunningPharos): Promise<void> {
  while ((await fetch(`${pharos.url}/-/fresh`)).status !== 200) await pause(100);
}

interface Going {
  readonly found: Findings;
  readonly isOn: () => boolean;
}

/** A visitor who never stops. What is answered is whole, of status 200, and says what it is. */
async function read(
  pharos: RunningPharos,
  { reader, found, isOn }: Going & { readonly reader: number },
): Promise<void> {
  for (let count = reader; isOn(); count += 1) {
    const path = `/acme/${PATHS[count % PATHS.length]}`;
    const startedAt = performance.now();
    try {
      const answer = await fetch(pharos.url + path);
      const body = await answer.text();
      found.answers.push(performance.now() - startedAt);
      if (answer.status !== 200 || body.length < 100)
        found.failures.push(`${path}: ${answer.status}, ${body.length} B`);
    } catch (error) {
      found.failures.push(`${path}: ${String(error)}`);
    }
    await pause(5);
  }
}

/** Breaks and mends, by chance. */
async function breakThings(
  sandbox: Sandbox,
  pharos: RunningPharos,
  { found, isOn, file, config, env }: Going & { file: string; config: string; env: Readonly<Record<string, string>> },
): Promise<void> {
  const random = createRandom(SEED);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const ask = (path: string, init: RequestInit): Promise<unknown> =>
    fetch(`${pharos.url}/-/${path}`, { method: 'POST', ...init }).then((answer) => answer.text());
  const spoil = (): void => {
    const name = pick(FAULT_NAMES);
    found.faults += 1;
    sandbox.faults.set(pick(UPSTREAMS), name === 'slow' ? { name, delayMs: SLOW_MS } : { name });
  };
  // Faults more often than the rest.
  const deeds: (() => unknown)[] = [
    spoil,
    spoil,
    spoil,
    () => sandbox.faults.set(pick(UPSTREAMS), null),
    () => sandbox.world.force(pick(['website', 'auth', 'cdn']), pick(STATUSES)),
    () =>
      Promise.all(
        Array.from({ length: 50 }, (_, id) =>
          ask('hooks/edge', { headers: { 'x-webhook-secret': env['HOOK'] ?? '' }, body: `{"id":${id + random()}}` }),
        ),
      ),
    () => ask('rebuild', { headers: { authorization: `Bearer ${env['PHAROS_TOKEN']}` } }),
    () => process.kill(pharos.pid, 'SIGHUP'),
    () => {
      // A wrong one is refused, and the right one read again a moment later.
      appendFileSync(file, 'colour: red\n');
      process.kill(pharos.pid, 'SIGHUP');
      setTimeout(() => writeFileSync(file, config), 300).unref();
    },
  ];
  while (isOn()) {
    await pick(deeds)();
    await pause(300 + random() * 3_000);
  }
  for (const name of UPSTREAMS) sandbox.faults.set(name, null);
}

/** What the metrics and the page say at about the same moment. */
interface Look {
  readonly stale: ReadonlySet<string>;
  readonly memoryMb: number;
  readonly heapMb: number;
}

async function look(pharos: RunningPharos, token: string): Promise<Look> {
  const text = await metricsText(pharos.url, token);
  const stale = [...text.matchAll(/^pharos_upstream_stale\{upstream="(\w+)"\} 1$/gm)].map(([, id = '']) => id);
  const megabytes = (name: string): number =>
    Number(new RegExp(`^pharos_${name}_bytes (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20;
  return {
    stale: new Set(stale),
    memoryMb: megabytes('process_resident_memory'),
    heapMb: megabytes('nodejs_heap_size_used'),
  };
}

/** Compares what Pharos knows of its upstreams with what the page says, and looks at its memory. */
async function watch(pharos: RunningPharos, { found, isOn, token }: Going & { readonly token: string }): Promise<void> {
  const since = new Map<string, number>();
  while (isOn()) {
    const before = await look(pharos, token);
    const page = (await (await fetch(`${pharos.url}/acme/api/state.json`)).json()) as {
      components: { name: string; state: string; stale: boolean }[];
    };
    const after = await look(pharos, token);
    found.memoryMb.push(before.memoryMb);
    found.heapMb.push(before.heapMb);
    for (const [id, names] of Object.entries(COMPONENTS)) {
      if (!before.stale.has(id)) {
        since.delete(id);
        continue;
      }
      if (!since.has(id)) found.staleTimes += 1;
      const startedAt = since.get(id) ?? performance.now();
      since.set(id, startedAt);
      const ms = performance.now() - startedAt;
      // One that answered just now may be on the page before the metrics are asked again.
      if (!after.stale.has(id) || ms < MARKED_MS_MAX) continue;
      // An outage that is known stays one, what was well is unknown; either says that it is not current.
      const wrong = page.components.filter(
        (one) => names.includes(one.name) && (!one.stale || !['unknown', 'major_outage'].includes(one.state)),
      );
      for (const { name, state, stale } of wrong)
        found.unmarked.push(
          `${name} is ${state}, ${stale ? 'stale' : 'as if current'}, ${id} stale for ${Math.round(ms)} ms`,
        );
    }
    await pause(SAMPLE_MS);
  }
}

function tell({ answers, failures, unmarked, memoryMb, heapMb, faults, staleTimes }: Findings): void {
  const total = answers.length + failures.length;
  const remark = `${MINUTES} minutes, ${faults} faults, an upstream became stale ${staleTimes} times`;
  judge({ name: 'pages served', figure: (100 * answers.length) / total, unit: '%', atLeast: 100, remark });
  for (const share of [0.5, 0.99, 1])
    judge({ name: `  of ${number(total)}, ${100 * share} % within`, figure: quantile(answers, share), unit: 'ms' });
  const memory = growthOf(memoryMb, 0.5);
  // What is left after a collection is the least that was seen.
  const heap = growthOf(heapMb, 0.1);
  tellGrowth('resident memory', memory, `highest ${number(Math.max(...memoryMb))} MB`);
  tellGrowth('heap after collections', heap, '');
  judge({ name: 'stale pages not marked within one pass, or green', figure: unmarked.length, unit: '', atMost: 0 });
  for (const line of [...failures.slice(0, 5), ...unmarked.slice(0, 5)]) console.log(`  ${line}`);
}

interface Growth {
  /** Of the first and the last third once warm, MB. */
  readonly first: number;
  readonly last: number;
  /** Of the line that fits best, MB a minute. */
  readonly slope: number;
}

/** @param quantile which figure stands for a third: 0.5 its median, 0.1 one of its least */
function growthOf(figures: readonly number[], quantile: number): Growth {
  const warm = figures.slice(Math.floor(figures.length * WARM_SHARE));
  const third = Math.floor(warm.length / 3);
  const of = (part: readonly number[]): number =>
    part.toSorted((a, b) => a - b)[Math.floor(part.length * quantile)] ?? 0;
  return {
    first: of(warm.slice(0, third)),
    last: of(warm.slice(-third)),
    slope: (slopeOf(warm) * figures.length) / MINUTES,
  };
}

function tellGrowth(name: string, { first, last, slope }: Growth, remark: string): void {
  judge({ name: `${name}, once warm`, figure: first, unit: 'MB', remark });
  const atMost = first * GROWTH_RATIO_MAX;
  judge({ name: '  at the end', figure: last, unit: 'MB', atMost, remark: `${slope.toFixed(2)} MB a minute` });
}

/** Of the straight line that fits best, by sample. */
function slopeOf(figures: readonly number[]): number {
  const middle = (figures.length - 1) / 2;
  const mean = figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
  const spread = figures.reduce((sum, _figure, at) => sum + (at - middle) ** 2, 0);
  return figures.reduce((sum, figure, at) => sum + (at - middle) * (figure - mean), 0) / spread;
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
