/**
 * From `npm start` (already installed) to the first page, and what the process takes when idle with 1,000 monitors.
 *
 * `PHAROS_BENCH_IDLE_SECONDS` (default 120) says when it is idle.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { serverMonitorSandbox } from '../sandbox/kinds/server-monitor.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { judge, median, number, sizesFrom } from './budget.ts';

/** In the sandbox, and on a data folder that an earlier process left. */
const FIRST_PAGE_MS_MAX = 2_000;
const AGAIN_MS_MAX = 1_000;
const ROUNDS = 5;
/** Sites whose memory is looked at when idle: monitors, the pages that they are on, and the budget in MB. */
const SITES: readonly (readonly [monitors: number, pages: number, mbMax: number])[] = [
  [1_000, 20, 300],
  [1_000, 1, 300],
  [10_000, 200, 350],
];
/** After the first page is there: the others, pictures and the smallest variants follow, and then memory is given back. */
const [IDLE_AFTER_SECONDS = 120] = sizesFrom('PHAROS_BENCH_IDLE_SECONDS', [120]);
/** Then for half as long, in which there is a pass: what counts is the median, and the highest stands beside it. */
const SAMPLES = Math.ceil(IDLE_AFTER_SECONDS / 2);
const SAMPLE_EVERY_MS = 1_000;

export async function run(): Promise<void> {
  await compilePages();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await firstPageMs());
  times.sort((a, b) => a - b);
  judge({
    name: `first page of the sandbox, median of ${ROUNDS}`,
    figure: times[Math.floor(ROUNDS / 2)] ?? Number.NaN,
    unit: 'ms',
    atMost: FIRST_PAGE_MS_MAX,
    remark: `${number(times[0] ?? Number.NaN)} to ${number(times.at(-1) ?? Number.NaN)}`,
  });
  await tellIdle();
}

/** They are idle side by side, which costs no memory, and begin again one after the other. */
async function tellIdle(): Promise<void> {
  const all: IdleSite[] = [];
  for (const [monitors, pages] of SITES) all.push(await startIdle(monitors, pages));
  await new Promise((wait) => setTimeout(wait, IDLE_AFTER_SECONDS * SECOND_MS));
  const samples = all.map((): number[] => []);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    for (const [index, { pharos }] of all.entries()) samples[index]?.push(memoryMb(pharos, 'VmRSS'));
    await new Promise((wait) => setTimeout(wait, SAMPLE_EVERY_MS));
  }
  const peaks = all.map(({ pharos }) => memoryMb(pharos, 'VmHWM'));
  for (const { pharos } of all) await pharos.stop();
  for (const [index, [monitors, pages, mbMax]] of SITES.entries()) {
    const idle = samples[index] ?? [];
    judge({
      name: `resident memory, idle, ${number(monitors)} monitors on ${pages === 1 ? 'a single page' : `${pages} pages`}`,
      figure: median(idle),
      unit: 'MB',
      atMost: mbMax,
      remark: `median of ${SAMPLES} s after ${IDLE_AFTER_SECONDS} s; highest in it ${number(Math.max(...idle))} MB, since the start ${number(peaks[index] ?? Number.NaN)} MB`,
    });
    const againMs = (await all[index]?.again()) ?? Number.NaN;
    judge({ name: '  first page of the next start on its data', figure: againMs, unit: 'ms', atMost: AGAIN_MS_MAX });
  }
}

async function firstPageMs(): Promise<number> {
  const folder = temporaryFolder();
  const startedAt = performance.now();
  const pharos = await startPharos(['start', '--port', '0', '--quiet'], { cwd: folder.path });
  await page(pharos, '/acme/');
  const took = performance.now() - startedAt;
  await pharos.stop();
  folder.remove();
  return took;
}

interface IdleSite {
  readonly pharos: RunningPharos;
  /** Starts it once more and removes all of it; milliseconds until its first page. */
  readonly again: () => Promise<number>;
}

async function startIdle(monitors: number, pages: number): Promise<IdleSite> {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({
    port: 0,
    now: () => toEpochMs(Date.now()),
    services: monitors,
    isCalm: true,
    kinds: [serverMonitorSandbox({ limits: null })],
  });
  const config = sandbox.configText({ include: ['server-monitor'], hasPages: false });
  writeFileSync(join(folder.path, 'pharos.yaml'), `${config}${pagesText(monitors, pages)}`);
  const start = async (): Promise<RunningPharos> => {
    const begun = await startPharos(['start', '--port', '0', '--quiet'], {
      cwd: folder.path,
      env: sandbox.environment(),
    });
    await page(begun, '/acme/');
    return begun;
  };
  return {
    pharos: await start(),
    again: async () => {
      const startedAt = performance.now();
      const next = await start();
      const tookMs = performance.now() - startedAt;
      await next.stop();
      await sandbox.stop();
      folder.remove();
      return tookMs;
    },
  };
}

function memoryMb({ pid }: RunningPharos, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024);
}

/** As many monitors on each page; the first one is where the root leads. */
function pagesText(monitors: number, count: number): string {
  const size = monitors / count;
  const pages = Array.from({ length: count }, (_, page) => ({
    slug: page === 0 ? 'acme' : `page-${page}`,
    title: `Page ${page + 1}`,
    components: Array.from({ length: size }, (__, at) => ({
      type: 'monitor',
      monitor: `edge/${page * size + at + 1}`,
    })),
  }));
  return `pages: ${JSON.stringify(pages)}\n`;
}

async function page(pharos: RunningPharos, path: string): Promise<void> {
  for (;;) {
    const answer = await fetch(pharos.url + path);
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    await new Promise((wait) => setTimeout(wait, 20));
  }
}
