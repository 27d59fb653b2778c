/**
 * Requests per second and the slowest percent: `pharos serve` beside one nginx worker that has the same bytes and headers as
 * plain files, the same generator for both, in turns. What nginx is given needs no negotiation, since few builds of it know
 * brotli.
 *
 * `PHAROS_BENCH_SECONDS` (default 4) is the length of a round, `PHAROS_BENCH_ROUNDS` (default 5) their number.
 */

import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { createBigSite } from './big-site.ts';
import { judge, median, number, sizesFrom } from './budget.ts';
import { hasWrk, type LoadResult, load } from './load.ts';
import { hasNginx, startNginx } from './nginx.ts';

const COMPONENTS = 50;
const CUSTOM_DOMAIN = 'status.customer.example';
const [SECONDS = 4] = sizesFrom('PHAROS_BENCH_SECONDS', [4]);
const [ROUNDS = 5] = sizesFrom('PHAROS_BENCH_ROUNDS', [5]);
/** design.md, budgets, of one nginx worker. */
const PAGE_SHARE_MIN = 0.5;
const BADGE_SHARE_MIN = 0.7;

interface Case {
  readonly name: string;
  readonly path: string;
  readonly host: string;
  readonly isConditional?: boolean;
  /** Null: measured, not promised. */
  readonly shareMin: number | null;
}

const CASES: readonly Case[] = [
  { name: 'page', path: '/customer-0/', host: '127.0.0.1', shareMin: PAGE_SHARE_MIN },
  { name: 'badge', path: '/customer-0/badges/status.svg', host: '127.0.0.1', shareMin: BADGE_SHARE_MIN },
  { name: 'page, not modified', path: '/customer-0/', host: '127.0.0.1', isConditional: true, shareMin: null },
  { name: 'page by its own domain', path: '/', host: CUSTOM_DOMAIN, shareMin: PAGE_SHARE_MIN },
];

export async function run(): Promise<void> {
  if (!hasNginx) console.log('nginx is not installed, so our figures stand alone');
  if (!hasWrk)
    console.log(
      'wrk is not installed; our own generator is slower than nginx, so shares flatter us and are not judged',
    );
  const folder = temporaryFolder();
  try {
    await publishInto(folder.path);
    const pharos = await startPharos(['serve', '--port', '0', '--quiet'], {
      cwd: folder.path,
      env: { BENCH_KEY: 'never-used' },
    });
    try {
      await compare(pharos, join(folder.path, 'nginx'));
    } finally {
      await pharos.stop();
    }
  } finally {
    folder.remove();
  }
}

/** A real store and a real release of it; the configuration names the domain and an upstream that `serve` never asks. */
async function publishInto(folder: string): Promise<void> {
  const site = await createBigSite({ folder, pages: 1, components: COMPONENTS });
  await site.publisher.publish(await site.look());
  await site.publisher.settled();
  await site.close();
  const config = {
    site: { url: 'http://status.example', name: 'Example' },
    data: site.folder,
    upstreams: [{ id: 'u0', kind: 'server-monitor', baseUrl: 'http://127.0.0.1:9', apiKey: '${BENCH_KEY}' }],
    pages: [{ slug: 'customer-0', custom_domain: CUSTOM_DOMAIN }],
  };
  writeFileSync(join(folder, 'pharos.yaml'), JSON.stringify(config));
}

async function compare(pharos: RunningPharos, nginxFolder: string): Promise<void> {
  const ourPort = Number(new URL(pharos.url).port);
  const samples = await Promise.all(CASES.map((one) => ask(ourPort, one)));
  const nginx = hasNginx
    ? await startNginx(
        nginxFolder,
        CASES.flatMap((one, index) => {
          const sample = samples[index];
          return sample === undefined || one.isConditional === true ? [] : [{ ...one, ...sample }];
        }),
      )
    : null;
  try {
    for (const [index, one] of CASES.entries()) {
      const ours: LoadResult[] = [];
      const theirs: LoadResult[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        // The first round of each warms it up.
        const mine = await load({ port: ourPort, seconds: SECONDS, ...(await asked(ourPort, one)) });
        const its =
          nginx === null ? null : await load({ port: nginx.port, seconds: SECONDS, ...(await asked(nginx.port, one)) });
        if (round > 0) ours.push(mine);
        if (round > 0 && its !== null) theirs.push(its);
      }
      tell(one, { bytes: samples[index]?.body.length ?? 0, ours, theirs });
    }
  } finally {
    await nginx?.stop();
  }
}

function tell(
  { name, isConditional, shareMin }: Case,
  { bytes, ours, theirs }: { bytes: number; ours: readonly LoadResult[]; theirs: readonly LoadResult[] },
): void {
  const perSecond = (results: readonly LoadResult[]): number => median(results.map((result) => result.perSecond));
  const p99 = (results: readonly LoadResult[]): number => median(results.map((result) => result.p99Ms));
  judge({
    name: `${name}${isConditional === true ? '' : `, ${number(bytes)} B`}`,
    figure: perSecond(ours),
    unit: 'requests/s',
    remark: `99 % within ${number(p99(ours))} ms`,
  });
  if (theirs.length === 0) return;
  judge({
    name: `${name}, beside one nginx worker`,
    figure: perSecond(ours) / perSecond(theirs),
    unit: '×',
    atLeast: hasWrk ? shareMin : null,
    remark: `nginx ${number(perSecond(theirs))} requests/s, 99 % within ${number(p99(theirs))} ms`,
  });
}

interface Sample {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What is sent under load; a conditional request names the version that this server has. */
async function asked(port: number, one: Case): Promise<{ path: string; headers: Record<string, string> }> {
  // With a capital, by which wrk knows it.
  const headers = { Host: `${one.host}:${port}`, 'accept-encoding': 'gzip, deflate, br, zstd' };
  if (one.isConditional !== true) return { path: one.path, headers };
  const { headers: answered } = await ask(port, one);
  return { path: one.path, headers: { ...headers, 'if-none-match': answered['etag'] ?? '' } };
}

function ask(port: number, { path, host }: Case): Promise<Sample> {
  return new Promise((resolve, reject) => {
    const headers = { host: `${host}:${port}`, 'accept-encoding': 'gzip, deflate, br, zstd' };
    request({ port, path, host: '127.0.0.1', headers }, (response) => {
      response.toArray().then((chunks) => {
        if (response.statusCode !== 200) return reject(new Error(`${path} was answered ${response.statusCode}`));
        const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        return resolve({ status: 200, headers: Object.fromEntries(named), body: Buffer.concat(chunks) });
      }, reject);
    })
      .once('error', reject)
      .end();
  });
}
