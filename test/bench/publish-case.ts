/** One site in a process of its own: everything published, nothing changed, then one monitor after the other. */

import { once } from 'node:events';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawingWith } from '../../src/app/workers/drawing.ts';
import type { State } from '../../src/model/state.ts';
import { SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import { POOL_PAGES_MIN } from '../../src/publish/page-release.ts';
import type { PublisherOptions, PublishReport } from '../../src/publish/publisher.ts';
import { type Batch, DISK, type Disk } from '../../src/publish/releases/disk.ts';
import { currentNumber } from '../../src/publish/releases/folders.ts';
import { readManifest } from '../../src/publish/releases/manifest.ts';
import { type BigSite, createBigSite } from './big-site.ts';

export interface PublishCase {
  /** Where the site is made; it stays. */
  readonly folder: string;
  readonly pages: number;
  readonly components: number;
  /** Of the first page. */
  readonly incidents: number;
  /** Pages with all of their files; the others have their status page only, so that the site fits a disk. */
  readonly fullPages: number;
  /** Languages of all pages, the default first. Default: English alone. */
  readonly locales?: readonly string[];
  /** Nothing but HTML, in this thread as in one of the pool, which draw all that a page has, and not synced. Default: false. */
  readonly isHtmlOnly?: boolean;
  /** Changes measured; before them, `warmUps`. */
  readonly changes: number;
  readonly warmUps: number;
}

/** What the process says once its site is filled, and what it then waits for. */
export const FILLED = 'filled';
export const BEGIN = 'begin';

/** Milliseconds of each part of a change, in this order. */
export const STEPS = ['commit', 'look', 'model', 'draw', 'write', 'fsync', 'check + rename'] as const;
export type Step = (typeof STEPS)[number];

export interface Change {
  /** From the answer in hand until the link leads to the new release. */
  readonly publishedMs: number;
  readonly steps: Readonly<Record<Step, number>>;
  /** Of all threads of the process, until then. */
  readonly cpuMs: number;
  /** What follows until the next change can begin. */
  readonly afterMs: number;
  readonly filesDrawn: number;
}

export interface PublishFigures {
  readonly htmlFiles: number;
  readonly files: number;
  /** Of all files, without their variants. */
  readonly bytes: number;
  readonly fillSeconds: number;
  readonly publishSeconds: number;
  /** Until pictures are drawn, too. */
  readonly settleSeconds: number;
  readonly unchangedSeconds: number;
  readonly bytesOnDisk: number;
  readonly idleMb: number;
  readonly peakMb: number;
  readonly changes: readonly Change[];
}

/** Between two changes on the clock of the site: so little that no page is due for its heartbeat meanwhile. */
const STEP_MS = 10;
/** More than the pictures and the list of 1,000 pages take; and than eight languages' pictures and figures. */
const SETTLE_MS_MAX = 300;
const SETTLE_LANGUAGES_MS_MAX = 3_000;

async function measure(task: PublishCase): Promise<PublishFigures> {
  const isWhole = task.fullPages >= task.pages && task.isHtmlOnly !== true;
  const filling = performance.now();
  const overrides = isWhole ? {} : await partly(task);
  const isMany = task.pages >= POOL_PAGES_MIN;
  const team = isWhole && isMany ? 'threads' : task.isHtmlOnly === true ? 'here' : undefined;
  // Of the signed log, nothing is HTML.
  const fullPages = task.isHtmlOnly === true ? 0 : task.fullPages;
  const site = await createBigSite({ ...task, fullPages, ...(team === undefined ? {} : { team }), overrides });
  try {
    const fillSeconds = secondsSince(filling);
    await warmUp(task, site);
    if (process.send !== undefined) {
      process.send(FILLED);
      await once(process, 'message');
    }
    const idleMb = process.memoryUsage.rss() / 1e6;
    const freeBefore = freeBytes(site.folder);
    const publishSeconds = await publishAll(site);
    const peakMb = process.resourceUsage().maxRSS / 1e3;
    const settling = performance.now();
    await site.publisher.settled();
    const settleSeconds = secondsSince(settling);
    const bytesOnDisk = freeBefore - freeBytes(site.folder);
    await site.publisher.close();
    const marks = createMarks();
    await site.reopen({ ...overrides, ...marks.watching(await filesOfCase(task)) });
    const unchangedSeconds = await publishAll(site, 'unchanged');
    await site.publisher.settled();
    const changes: Change[] = [];
    for (let index = 0; index < (task.changes === 0 ? 0 : task.warmUps + task.changes); index += 1) {
      const change = await changeOne(task, { site, marks, index });
      if (index >= task.warmUps) changes.push(change);
    }
    const counts = countFiles(site, task);
    return {
      ...counts,
      fillSeconds,
      publishSeconds,
      settleSeconds,
      unchangedSeconds,
      bytesOnDisk,
      idleMb,
      peakMb,
      changes,
    };
  } finally {
    await site.close();
  }
}

/** A process that serves has drawn pages before: the last one, twice, so that the clock does not run for the compiler. */
async function warmUp({ pages }: PublishCase, site: BigSite): Promise<void> {
  // Of one page, everything is measured.
  if (pages !== 2) return;
  const state = await site.look();
  await site.publisher.publish(state, { slug: `customer-${pages - 1}` });
  await site.publisher.settled();
}

async function publishAll({ clock, publisher, look }: BigSite, expected?: 'unchanged'): Promise<number> {
  const started = performance.now();
  const report = await publisher.publish(await look());
  const seconds = secondsSince(started);
  refuseFaults(report);
  const others = report.pages.filter(
    ({ kind, slug }) => expected !== undefined && kind !== expected && slug !== '_site',
  );
  if (others.length > 0)
    throw new Error(`${others.length} pages were published again at ${clock.now}: ${others[0]?.slug}`);
  return seconds;
}

interface Going {
  readonly site: BigSite;
  readonly marks: Marks;
  readonly index: number;
}

/** Another page each time, as far as there are pages; a page's second change takes back its first. */
async function changeOne(task: PublishCase, { site, marks, index }: Going): Promise<Change> {
  const page = index % Math.min(task.pages, task.fullPages);
  const slug = `customer-${page}`;
  const state: State =
    Math.floor(index / Math.min(task.pages, task.fullPages)) % 2 === 0 ? 'major_outage' : 'operational';
  site.clock.now = toEpochMs(site.clock.now + STEP_MS);
  const before = currentNumber(site.folders, slug);
  const answer = site.answer(page, state);
  marks.begin(join(site.folders.publicSite, slug));
  await answer.commit();
  marks.mark('commit');
  const seen = await site.look();
  marks.mark('look');
  const report = await site.publisher.publish(seen);
  const ended = performance.now();
  refuseFaults(report);
  const published = report.pages.find((one) => one.slug === slug);
  if (published?.kind !== 'published' || currentNumber(site.folders, slug) === before)
    throw new Error(`${slug} was ${published?.kind ?? 'not'} published`);
  // The next change does not wait for the pictures of this one, nor for a list of pages that takes long and so is drawn less often.
  const settleMsMax = task.locales === undefined ? SETTLE_MS_MAX : SETTLE_LANGUAGES_MS_MAX;
  await Promise.race([site.publisher.settled(), sleep(settleMsMax)]);
  return { ...marks.steps(), afterMs: ended - marks.switchedAt(), filesDrawn: published.filesDrawn };
}

interface Marks {
  readonly begin: (link: string) => void;
  readonly mark: (step: Step) => void;
  readonly switchedAt: () => number;
  readonly steps: () => Pick<Change, 'publishedMs' | 'cpuMs' | 'steps'>;
  /** The real disk and the real files of a page, which say when they are come to. */
  readonly watching: (filesOf: PublisherOptions['filesOf']) => Pick<PublisherOptions, 'disk' | 'filesOf'>;
}

/** Instants of the first time that each step of a change is over. */
function createMarks(): Marks {
  let startedAt = 0;
  let cpuAtStart = process.cpuUsage();
  let cpuMs = 0;
  let link = '';
  const at = new Map<Step, number>();
  const mark = (step: Step): void => {
    if (!at.has(step)) at.set(step, performance.now());
  };
  const batch = (): Batch => {
    const real = DISK.batch();
    return {
      ...real,
      flush: async () => {
        mark('write');
        await real.flush();
        mark('fsync');
      },
    };
  };
  const disk: Disk = {
    ...DISK,
    batch,
    claimFolder: (path) => {
      mark('draw');
      DISK.claimFolder(path);
    },
    rename: (from, to) => {
      DISK.rename(from, to);
      // The picture that follows is switched to in the same way.
      if (to !== link || at.has('check + rename')) return;
      mark('check + rename');
      const { user, system } = process.cpuUsage(cpuAtStart);
      cpuMs = (user + system) / 1_000;
    },
  };
  return {
    begin: (path) => {
      link = path;
      at.clear();
      cpuAtStart = process.cpuUsage();
      startedAt = performance.now();
    },
    mark,
    switchedAt: () => at.get('check + rename') ?? Number.NaN,
    steps: () => {
      let last = startedAt;
      const steps = STEPS.map((step) => {
        const from = last;
        last = at.get(step) ?? last;
        return [step, last - from] as const;
      });
      return { publishedMs: last - startedAt, cpuMs, steps: Object.fromEntries(steps) as Record<Step, number> };
    },
    watching: (filesOf) => ({
      disk,
      filesOf: (model, page) => {
        mark('model');
        return filesOf(model, page);
      },
    }),
  };
}

async function filesOfCase(task: PublishCase): Promise<PublisherOptions['filesOf']> {
  const { filesOf } = drawingWith(await loadRenderer());
  const full = new Set(Array.from({ length: task.fullPages }, (_, page) => `customer-${page}`));
  return (model, page) => {
    const files = filesOf(model, page).filter(({ path }) => task.isHtmlOnly !== true || path.endsWith('.html'));
    return full.has(page.definition.slug) ? files : files.filter(({ path }) => path === 'index.html');
  };
}

async function partly(task: PublishCase): Promise<Partial<PublisherOptions>> {
  return { filesOf: await filesOfCase(task), ...(task.isHtmlOnly === true ? { disk: UNSYNCED } : {}) };
}

/** Other generators leave it to the system when files are on the disk. */
const UNSYNCED: Disk = {
  ...DISK,
  batch: () => {
    const real = DISK.batch();
    return { ...real, flush: async () => real.close() };
  },
  syncFolder: () => Promise.resolve(),
};

function countFiles(
  { folders }: BigSite,
  { pages }: PublishCase,
): Pick<PublishFigures, 'files' | 'htmlFiles' | 'bytes'> {
  const counts = { files: 0, htmlFiles: 0, bytes: 0 };
  for (let page = 0; page < pages; page += 1) {
    const slug = `customer-${page}`;
    const files = Object.entries(readManifest(folders, slug, currentNumber(folders, slug) ?? 0)?.files ?? {});
    counts.files += files.length;
    counts.htmlFiles += files.filter(([path]) => path.endsWith('.html')).length;
    counts.bytes += files.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  }
  return counts;
}

function refuseFaults({ pages }: PublishReport): void {
  const fault = pages.find(({ kind }) => kind === 'failed');
  if (fault !== undefined) throw new Error(`${fault.slug}: ${fault.message}`);
}

function freeBytes(folder: string): number {
  const { bsize, bfree } = statfsSync(folder);
  return bsize * bfree;
}

function secondsSince(instant: number): number {
  return (performance.now() - instant) / SECOND_MS;
}

if (import.meta.main) process.send?.(await measure(JSON.parse(process.argv[2] ?? '') as PublishCase));
