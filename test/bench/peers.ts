/**
 * `npm run bench:peers`: the same content published by Pharos, by plain `astro build` and, where it is installed, by Hugo.
 * Each begins as a new process; templates of the others are ours and minimal, with as many HTML files and one feed a page.
 * Pharos makes more of it: feeds, JSON and calendars of every component, three compressed variants of each file, all synced.
 *
 * `PHAROS_BENCH_PEER_PAGES` (default 300) and `PHAROS_BENCH_PEER_INCIDENTS` (default 1,000) say how much content.
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECOND_MS } from '../../src/model/time.ts';
import { releaseFolders } from '../../src/publish/releases/folders.ts';
import { type BigSiteInit, listedIncidentsOf } from './big-site.ts';
import { judge, median, number, sizesFrom } from './budget.ts';
import { type PeerPage, peerPageOf, writeAstroSite, writeHugoSite, writePeerData } from './peer-site.ts';
import { publishInProcess } from './publish.ts';

const [PAGES = 300] = sizesFrom('PHAROS_BENCH_PEER_PAGES', [300]);
const [INCIDENTS = 1_000] = sizesFrom('PHAROS_BENCH_PEER_INCIDENTS', [1_000]);
const COMPONENTS = 50;
const CHANGES = 50;
/** Of a page without incidents. */
const HTML_FILES_OF_PAGE = 65;
/** design.md, budgets: our HTML takes at most so many times as long as Hugo's. */
const HUGO_RATIO_MAX = 1;
/** The middle of so many builds, each into what the one before left. */
const BUILDS = 3;

interface Peer {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly output: string;
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-peers-'));
  try {
    const ours = join(folder, 'pharos');
    mkdirSync(ours);
    const init: BigSiteInit = { pages: PAGES, components: COMPONENTS, incidents: INCIDENTS };
    const figures = await publishInProcess({ ...init, folder: ours, changes: CHANGES });
    const fullSeconds = figures.publishSeconds;
    const changeSeconds = median(figures.changes.map(({ publishedMs }) => publishedMs)) / SECOND_MS;
    judge({
      name: `Pharos, ${number(PAGES)} pages × ${COMPONENTS} components × 90 days, ${number(INCIDENTS)} incidents`,
      figure: fullSeconds,
      unit: 's',
      remark: `${number(figures.htmlFiles)} HTML files of ${number(figures.files)}, ${number(figures.bytes / 1e6)} MB without variants`,
    });
    judge({ name: '  one monitor changed, p50', figure: changeSeconds, unit: 's' });
    const htmlSeconds = await tellHtmlAlone(folder, init);
    const pages = readBack(ours, init);
    for (const peer of await peersOf(folder, pages))
      await tellPeer(peer, pages, { folder, fullSeconds, htmlSeconds, changeSeconds });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * In two processes at the same time, each with half of the files, since threads draw all files of a page. The one with the page that
 * has the incidents has fewer other pages.
 */
async function tellHtmlAlone(folder: string, init: BigSiteInit): Promise<number> {
  const first = Math.max(1, Math.round(PAGES / 2 - INCIDENTS / (2 * HTML_FILES_OF_PAGE)));
  const halves = [first, PAGES - first].filter((pages) => pages > 0);
  const all = Promise.withResolvers<void>();
  let filled = 0;
  const ready = (): Promise<void> => {
    filled += 1;
    if (filled === halves.length) all.resolve();
    return all.promise;
  };
  const figures = await Promise.all(
    halves.map((pages, half) => {
      const place = join(folder, `pharos-html-${half}`);
      mkdirSync(place);
      const incidents = half === 0 ? INCIDENTS : 0;
      return publishInProcess({ ...init, pages, incidents, folder: place, changes: 0, isHtmlOnly: true }, ready);
    }),
  );
  const seconds = Math.max(...figures.map(({ publishSeconds }) => publishSeconds));
  judge({
    name: '  the HTML alone, in two processes at once',
    figure: seconds,
    unit: 's',
    remark: `${number(figures.reduce((sum, { htmlFiles }) => sum + htmlFiles, 0))} HTML files`,
  });
  return seconds;
}

function readBack(folder: string, init: BigSiteInit): PeerPage[] {
  const folders = releaseFolders(join(folder, readdirSync(folder)[0] ?? ''));
  return Array.from({ length: PAGES }, (_, page) =>
    peerPageOf(folders, `customer-${page}`, page === 0 ? listedIncidentsOf(init) : []),
  );
}

async function peersOf(folder: string, pages: readonly PeerPage[]): Promise<Peer[]> {
  const peers: Peer[] = [];
  const place = (name: string): string => {
    const root = join(folder, name);
    mkdirSync(root);
    for (const page of pages) writePeerData(root, page);
    return root;
  };
  const astro = place('astro');
  writeAstroSite(astro);
  const bin = join(import.meta.dirname, '../../node_modules/astro/bin/astro.mjs');
  peers.push({ name: 'astro', command: [process.execPath, bin, 'build', '--root', '.'], output: 'dist' });
  if (spawnSync('hugo', ['version']).error !== undefined) {
    console.log('Hugo is not installed, so nothing is compared with it');
    return peers;
  }
  writeHugoSite(place('hugo'), pages);
  peers.push({
    name: 'hugo',
    command: ['hugo', '--quiet', '--cacheDir', join(folder, 'hugo', 'cache')],
    output: 'public',
  });
  return peers;
}

interface Beside {
  readonly folder: string;
  readonly fullSeconds: number;
  readonly htmlSeconds: number;
  readonly changeSeconds: number;
}

/** A change is a full build to them: neither keeps what it drew from data that did not change. */
async function tellPeer(
  { name, command, output }: Peer,
  pages: readonly PeerPage[],
  { folder, fullSeconds, htmlSeconds, changeSeconds }: Beside,
): Promise<void> {
  const root = join(folder, name);
  const first = await seconds(root, command);
  const html = filesIn(join(root, output)).filter(({ path }) => path.endsWith('.html'));
  const expected = pages.reduce((sum, { files }) => sum + files.length, 0);
  if (html.length !== expected) throw new Error(`${name} made ${html.length} HTML files instead of ${expected}`);
  const again: number[] = [];
  for (let build = 0; build < BUILDS; build += 1) {
    const [page] = pages;
    if (page !== undefined) writePeerData(root, changed(page, build));
    again.push(await seconds(root, command));
  }
  const bytes = filesIn(join(root, output)).reduce((sum, file) => sum + file.bytes, 0);
  judge({
    name: `${name}, everything`,
    figure: first,
    unit: 's',
    remark: `${number(html.length)} HTML files, ${number(bytes / 1e6)} MB, ${number(first / fullSeconds)} × ours`,
  });
  judge({
    name: '  our HTML alone beside it',
    figure: htmlSeconds / first,
    unit: '×',
    atMost: name === 'hugo' ? HUGO_RATIO_MAX : null,
  });
  judge({
    name: '  one monitor changed, which is everything again',
    figure: median(again),
    unit: 's',
    remark: `${number(median(again) / changeSeconds)} × ours`,
  });
}

function changed(page: PeerPage, build: number): PeerPage {
  const [first, ...others] = page.components;
  if (first === undefined) return page;
  return { ...page, components: [{ ...first, state: build % 2 === 0 ? 'major_outage' : 'operational' }, ...others] };
}

function seconds(root: string, [command, ...args]: readonly [string, ...string[]]): Promise<number> {
  const started = performance.now();
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (status) => {
      if (status === 0) resolve((performance.now() - started) / SECOND_MS);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${status}`));
    });
  });
}

function filesIn(folder: string): { readonly path: string; readonly bytes: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, bytes: statSync(path).size }));
}
