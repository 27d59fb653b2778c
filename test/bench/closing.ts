/**
 * From the decision to close a page until nobody gets a word of it: in the process that publishes, in one that serves
 * beside it, and on a static host that is a folder. The page has thousands of incidents and a thousand others stand beside it.
 *
 * `PHAROS_BENCH_CLOSING_PAGES=10` and `PHAROS_BENCH_INCIDENTS=100` choose a smaller site.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { judge, number, sizesFrom } from './budget.ts';
import { BIG, ENVIRONMENT, writeConfig, writePosts } from './posts-site.ts';

const [PAGES = 1_000] = sizesFrom('PHAROS_BENCH_CLOSING_PAGES', [1_000]);
const [INCIDENTS = 2_000] = sizesFrom('PHAROS_BENCH_INCIDENTS', [2_000]);
/** design.md, budgets. */
const SECONDS_MAX = 1;
const ROUNDS = 3;
const PATIENCE_MS = 60_000;

/** Everything of the page, and what tells of it. */
const OF_PAGE = ['', 'history/', 'feed.atom', 'api/v2/summary.json', 'badges/status.svg'].map(
  (path) => `/${BIG}/${path}`,
);
const OF_SITE = ['/', '/sitemap.xml', '/llms.txt'];

export async function run(): Promise<void> {
  await compilePages();
  const folder = temporaryFolder();
  const out = join(folder.path, 'out');
  const options = { cwd: folder.path, env: ENVIRONMENT };
  const site = { pages: PAGES, incidents: INCIDENTS, out };
  writePosts(folder.path, INCIDENTS);
  writeConfig(folder.path, site);
  const running: RunningPharos[] = [];
  try {
    const main = await startPharos(['start', '--port', '0', '--quiet'], options);
    running.push(main);
    const isThere = async (): Promise<boolean> =>
      (await isOpen(main)) && mentions(out, 'sitemap.xml') && existsSync(join(out, `page-${PAGES - 1}`, 'index.html'));
    await until(isThere, 40 * PATIENCE_MS);
    const beside = await startPharos(['serve', '--port', '0', '--quiet'], options);
    running.push(beside);
    await until(() => isOpen(beside), PATIENCE_MS);
    const figures: Closing[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      writeConfig(folder.path, { ...site, closed: BIG });
      figures.push(await closing(running, out));
      writeConfig(folder.path, site);
      hangUp(running);
      await until(isThere, 40 * PATIENCE_MS);
      await until(() => isOpen(beside), PATIENCE_MS);
    }
    tell(figures);
  } finally {
    for (const one of running) await one.stop();
    folder.remove();
  }
}

/** Seconds until it is closed, by surface. */
interface Closing {
  readonly start: number;
  readonly serve: number;
  readonly firstOfFolder: number;
  readonly folder: number;
}

async function closing(running: readonly RunningPharos[], out: string): Promise<Closing> {
  const decidedAt = performance.now();
  hangUp(running);
  const seconds = async (isDone: () => Promise<boolean> | boolean): Promise<number> => {
    await until(isDone, PATIENCE_MS);
    return (performance.now() - decidedAt) / 1_000;
  };
  const [main, beside] = running as [RunningPharos, RunningPharos];
  const [start, serve, firstOfFolder, folder] = await Promise.all([
    seconds(() => isClosed(main)),
    seconds(() => isClosed(beside)),
    seconds(() => !existsSync(join(out, BIG, 'index.html'))),
    seconds(() => isGone(out)),
  ]);
  return { start, serve, firstOfFolder, folder };
}

function tell(figures: readonly Closing[]): void {
  const names: Readonly<Record<keyof Closing, string>> = {
    start: 'start: page, feeds, index, sitemap',
    serve: 'serve beside it',
    firstOfFolder: 'folder: its first page',
    folder: 'folder: every file, and every mention',
  };
  console.log(`${number(PAGES)} pages, one of ${number(INCIDENTS)} incidents closes; the slowest of ${ROUNDS}`);
  for (const [key, name] of Object.entries(names) as [keyof Closing, string][]) {
    const taken = figures.map((one) => one[key]);
    judge({ name, figure: Math.max(...taken), unit: 's', atMost: SECONDS_MAX, remark: taken.map(number).join(', ') });
  }
}

function hangUp(running: readonly RunningPharos[]): void {
  for (const { pid } of running) process.kill(pid, 'SIGHUP');
}

async function isOpen({ url }: RunningPharos): Promise<boolean> {
  return (await fetch(`${url}/${BIG}/`)).status === 200;
}

async function isClosed({ url }: RunningPharos): Promise<boolean> {
  const own = await Promise.all(OF_PAGE.map(async (path) => (await fetch(url + path)).status));
  if (own.includes(200)) return false;
  const others = await Promise.all(OF_SITE.map(async (path) => (await fetch(url + path)).text()));
  return others.every((text) => !text.includes(`/${BIG}/`) && !text.includes(`of ${BIG}`));
}

function isGone(out: string): boolean {
  const isEmpty = !existsSync(join(out, BIG)) || readdirSync(join(out, BIG)).length === 0;
  return isEmpty && !OF_SITE.some((path) => mentions(out, path === '/' ? 'index.html' : path.slice(1)));
}

function mentions(out: string, path: string): boolean {
  return existsSync(join(out, path)) && readFileSync(join(out, path), 'utf8').includes(`/${BIG}/`);
}

async function until(isDone: () => Promise<boolean> | boolean, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error('it took too long');
    await wait(5);
  }
}
