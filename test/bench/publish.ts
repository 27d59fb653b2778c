/**
 * What publishing costs: one change in a site of any size, everything at once, nothing changed, one page with many
 * incidents. Each site is filled and published in a process of its own that is set up as `pharos start` is.
 *
 * Everything is removed at the end and not between: ext4 takes up to fifty times as long to make a file where many were
 * removed in the last five minutes.
 *
 * `PHAROS_BENCH_PAGES=10,100` and `PHAROS_BENCH_INCIDENTS=100` choose smaller ones, `PHAROS_BENCH_CHANGES=20` fewer changes,
 * `PHAROS_BENCH_FULL_PAGES` how many pages of a larger site have all of their files.
 */

import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DRAWING_GROWTH, YOUNG_MB } from '../../src/app/workers/threads.ts';
import { counted } from '../../src/schema/counted.ts';
import { judge, median, number, quantile, sizesFrom } from './budget.ts';
import { BEGIN, FILLED, type PublishCase, type PublishFigures, STEPS } from './publish-case.ts';

const PAGES = sizesFrom('PHAROS_BENCH_PAGES', [10, 100, 1_000, 10_000]);
const INCIDENTS = sizesFrom('PHAROS_BENCH_INCIDENTS', [100, 1_000, 3_000]);
const [CHANGES = 100] = sizesFrom('PHAROS_BENCH_CHANGES', [100]);
/** All 10,000 pages with all of their files would take 13 million names and about 100 GB. */
const [FULL_PAGES = 1_000] = sizesFrom('PHAROS_BENCH_FULL_PAGES', [1_000]);
const FULL_PAGES_OF_LARGER = 150;
const COMPONENTS = 50;
const WARM_UPS = 30;

/** design.md, budgets. */
const PUBLISHED_MEDIAN_MS_MAX = 20;
const PUBLISHED_MS_MAX = 40;
const PUBLISHED_MS_MAX_PAGES = 1_000;
const GROWTH_MAX = 1.2;
const HTML_FILES_PER_SECOND_MIN = 800;
const UNCHANGED_SECONDS_MAX = 2;
const HTML_FILES_PAGES = 1_000;
const INCIDENT_SECONDS_MAX: Readonly<Record<number, number>> = { 3000: 2.5 };

const LOCALES = ['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'zh-Hans', 'ar'];
const LANGUAGES_ROUNDS = 3;
const LANGUAGES_CHANGE_MAX = 3;
const LANGUAGES_FIRST_MAX = 5;
const LARGE_MB_MAX = 512;

/** As `bin/pharos.js` begins a process that stays, with what its publishing thread has, or a thread that draws whole sites. */
const ENVIRONMENT = {
  ...{ MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_MMAP_THRESHOLD_: '65536' },
  UV_THREADPOOL_SIZE: '24',
};
const USUAL_GROWTH = '--heap-growing-percent=25';
const FLAGS = [`--max-semi-space-size=${YOUNG_MB.publisher}`, USUAL_GROWTH, '--expose-gc'];
const DRAWING_FLAGS = [`--max-semi-space-size=${YOUNG_MB.pages}`, DRAWING_GROWTH ?? USUAL_GROWTH];

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-publish-'));
  try {
    const [smallest = 0, ...larger] = PAGES;
    // Languages after the smallest, since they remove many files, and before the many files of large sites keep the disk busy.
    const medians = [await tellSite(folder, smallest)];
    await tellLanguages(folder);
    for (const pages of larger) medians.push(await tellSite(folder, pages));
    tellGrowth(medians);
    await tellIncidents(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of one change, in milliseconds. */
interface Medians {
  readonly pages: number;
  readonly p50: number;
  readonly p95: number;
}

async function tellSite(folder: string, pages: number): Promise<Medians> {
  const figures = await publishInProcess({
    folder,
    pages,
    fullPages: pages <= FULL_PAGES ? pages : FULL_PAGES_OF_LARGER,
  });
  if (pages <= FULL_PAGES) tellWhole(pages, figures);
  else
    console.log(
      `${name(pages)}: ${FULL_PAGES_OF_LARGER} of them with all of their files, the others with their status page only, since all would not fit; ${number(figures.files)} files in ${number(figures.publishSeconds)} s`,
    );
  return tellChanges(pages, figures);
}

/**
 * Fills and publishes a site in a process of its own, set up as one that stays.
 *
 * @param ready  asked once the site is filled; publishing begins when it resolves. Default: at once
 */
export async function publishInProcess(
  task: Partial<PublishCase> & Pick<PublishCase, 'pages' | 'folder'>,
  ready: () => Promise<void> = () => Promise.resolve(),
): Promise<PublishFigures> {
  const whole = { components: COMPONENTS, incidents: 0, fullPages: task.pages, changes: CHANGES, warmUps: WARM_UPS };
  const child = fork(join(import.meta.dirname, 'publish-case.ts'), [JSON.stringify({ ...whole, ...task })], {
    execArgv: task.isHtmlOnly === true ? DRAWING_FLAGS : FLAGS,
    env: { ...process.env, ...ENVIRONMENT },
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (message === FILLED) ready().then(() => child.send(BEGIN), reject);
      else resolve(message as unknown as PublishFigures);
    });
    child.once('exit', (status) => reject(new Error(`publishing ${task.pages} pages ended with ${status}`)));
  });
}

/** Everything at once, then the same process anew over the same data. */
function tellWhole(pages: number, figures: PublishFigures): void {
  const { htmlFiles, files, publishSeconds, settleSeconds, unchangedSeconds, bytesOnDisk, idleMb, peakMb } = figures;
  judge({
    name: `${name(pages)}: everything at once, HTML files`,
    figure: htmlFiles / publishSeconds,
    unit: '/s',
    atLeast: pages === HTML_FILES_PAGES ? HTML_FILES_PER_SECOND_MIN : null,
    remark: `${number(htmlFiles)} HTML files of ${number(files)} in ${number(publishSeconds)} s`,
  });
  judge({
    name: '  all files, without their compressed variants',
    figure: files / publishSeconds,
    unit: '/s',
    remark: `pictures follow in ${number(settleSeconds)} s; ${number(bytesOnDisk / 1e9)} GB on disk`,
  });
  judge({ name: '  highest memory', figure: peakMb, unit: 'MB', remark: `${number(idleMb)} MB before` });
  judge({
    name: '  a new process that finds nothing changed',
    figure: unchangedSeconds,
    unit: 's',
    atMost: UNCHANGED_SECONDS_MAX,
  });
}

/** From the upstream's answer in hand: commit, look, inputs and model, files drawn and compressed, written, synced, checked, renamed. */
function tellChanges(pages: number, { changes }: PublishFigures): Medians {
  const times = changes.map(({ publishedMs }) => publishedMs);
  const p50 = median(times);
  const p95 = quantile(times, 0.95);
  const drawn = median(changes.map(({ filesDrawn }) => filesDrawn));
  const parts = STEPS.map((step) => `${step} ${number(median(changes.map(({ steps }) => steps[step])))}`);
  judge({
    name: `${name(pages)}: one monitor changes, until the page is switched, p50`,
    figure: p50,
    unit: 'ms',
    atMost: pages <= PUBLISHED_MS_MAX_PAGES ? PUBLISHED_MEDIAN_MS_MAX : null,
    remark: `medians: ${parts.join(', ')}; then ${number(median(changes.map(({ afterMs }) => afterMs)))} for what is pruned and the site's own files`,
  });
  judge({
    name: '  the same, p95',
    figure: p95,
    unit: 'ms',
    atMost: pages <= PUBLISHED_MS_MAX_PAGES ? PUBLISHED_MS_MAX : null,
    remark: `longest ${number(Math.max(...times))}, CPU of all threads ${number(median(changes.map(({ cpuMs }) => cpuMs)))}; ${changes.length} changes, ${drawn} files drawn each`,
  });
  return { pages, p50, p95 };
}

function tellGrowth(medians: readonly { readonly pages: number; readonly p50: number }[]): void {
  for (const [index, { pages, p50 }] of medians.entries()) {
    const before = medians[index - 1];
    if (before === undefined) continue;
    judge({
      name: `one change, ${number(pages)} pages beside ${number(before.pages)}, p50`,
      figure: p50 / before.p50,
      unit: '×',
      atMost: GROWTH_MAX,
    });
  }
}

async function tellIncidents(folder: string): Promise<void> {
  let before: { readonly incidents: number; readonly seconds: number } | null = null;
  for (const incidents of INCIDENTS) {
    // Two pages: the second one warms the process up.
    const { publishSeconds, files, peakMb } = await publishInProcess({ folder, pages: 2, incidents, changes: 0 });
    judge({
      name: `one page with ${number(incidents)} incidents, everything`,
      figure: publishSeconds,
      unit: 's',
      atMost: INCIDENT_SECONDS_MAX[incidents] ?? null,
      remark: `${number(files)} files with the second page's, highest memory ${number(peakMb)} MB${before === null ? '' : `; ${number(publishSeconds / before.seconds)} × as long for ${number(incidents / before.incidents)} × as many`}`,
    });
    before = { incidents, seconds: publishSeconds };
  }
}

/** The same page in one language and in eight, by turns: what a change, the first publish and memory cost. */
async function tellLanguages(folder: string): Promise<void> {
  const cases = [LOCALES.slice(0, 1), LOCALES].map((locales) => ({ locales, figures: [] as PublishFigures[] }));
  // The very first process finds nothing of ours in the memory of the disk.
  await publishInProcess({ folder, pages: 2, changes: 0 });
  for (let round = 0; round < LANGUAGES_ROUNDS; round += 1)
    for (const { locales, figures } of cases) figures.push(await publishInProcess({ folder, pages: 2, locales }));
  const costs = cases.map(({ locales, figures }) => {
    const changes = figures.flatMap((one) => one.changes);
    const change = median(changes.map(({ publishedMs }) => publishedMs));
    const first = median(figures.map(({ publishSeconds }) => publishSeconds));
    const title = `${COMPONENTS} components in ${counted(locales.length, 'languages')}`;
    const drawn = median(changes.map(({ filesDrawn }) => filesDrawn));
    judge({ name: `${title}, one change, p50`, figure: change, unit: 'ms', remark: `${number(drawn)} files` });
    const remark = `${number(figures[0]?.files ?? 0)} files`;
    judge({ name: '  everything at once', figure: first, unit: 's', remark });
    return { change, first };
  });
  const [one, eight] = costs;
  if (one === undefined || eight === undefined) return;
  judge({
    name: '  a change in eight beside one',
    figure: eight.change / one.change,
    unit: '×',
    atMost: LANGUAGES_CHANGE_MAX,
  });
  judge({
    name: '  everything in eight beside one',
    figure: eight.first / one.first,
    unit: '×',
    atMost: LANGUAGES_FIRST_MAX,
  });
  const large = await publishInProcess({ folder, pages: 1, components: 300, changes: 0, locales: LOCALES });
  judge({
    name: '300 components in eight languages, highest memory',
    figure: large.peakMb,
    unit: 'MB',
    atMost: LARGE_MB_MAX,
    remark: `${number(large.files)} files in ${number(large.publishSeconds)} s`,
  });
}

function name(pages: number): string {
  return `${number(pages)} pages`;
}
