/**
 * What visitors notice of a first publish: how long `/-/health` and a page take to answer while the same process publishes a
 * page with thousands of incidents for the first time.
 *
 * `PHAROS_BENCH_INCIDENTS=100` chooses fewer.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { judge, median, number, quantile, sizesFrom } from './budget.ts';
import { BIG, ENVIRONMENT, writeConfig, writePosts } from './posts-site.ts';

const [INCIDENTS = 2_000] = sizesFrom('PHAROS_BENCH_INCIDENTS', [2_000]);
/** design.md, budgets. */
const P99_MS_MAX = 50;
const EVERY_MS = 5;
const PATHS = ['/-/health', '/page-0/'];

export async function run(): Promise<void> {
  await compilePages();
  const folder = temporaryFolder();
  const options = { cwd: folder.path, env: ENVIRONMENT };
  try {
    writePosts(folder.path, 0);
    writeConfig(folder.path, { pages: 1, incidents: 0, out: null });
    const first = await startPharos(['start', '--port', '0', '--quiet'], options);
    await shows(first, '/page-0/');
    await first.stop();
    writePosts(folder.path, INCIDENTS);
    writeConfig(folder.path, { pages: 1, incidents: INCIDENTS, out: null });
    const pharos = await startPharos(['start', '--port', '0', '--quiet'], options);
    const startedAt = performance.now();
    let isPublished = false;
    const published = shows(pharos, `/${BIG}/`).then(() => {
      isPublished = true;
    });
    const times = await Promise.all(PATHS.map((path) => askUntil(pharos, path, () => isPublished)));
    await published;
    const seconds = (performance.now() - startedAt) / 1_000;
    for (const [index, path] of PATHS.entries()) {
      const taken = times[index] ?? [];
      judge({
        name: `${path} during a first publish of ${number(INCIDENTS)} incidents, p99`,
        figure: quantile(taken, 0.99),
        unit: 'ms',
        atMost: P99_MS_MAX,
        remark: `p50 ${number(median(taken))}, longest ${number(Math.max(...taken))}; ${taken.length} requests in ${number(seconds)} s`,
      });
    }
    await pharos.stop();
  } finally {
    folder.remove();
  }
}

async function askUntil({ url }: RunningPharos, path: string, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const askedAt = performance.now();
    const answer = await fetch(url + path);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
    times.push(performance.now() - askedAt);
    await wait(EVERY_MS);
  }
  return times;
}

async function shows({ url }: RunningPharos, path: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url + path);
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    await wait(50);
  }
}
