/**
 * Requests per second, the slowest percent and processor time a request: `pharos serve` beside a bare Node server that has
 * the same answer in memory, in turns, and one nginx worker that has it as a plain file. What nginx is given needs no
 * negotiation, since few builds of it know brotli.
 *
 * Each case warms up both programs for the same time, in turns, until V8 compiles no more. A figure is the middle one of the
 * shares of all rounds, since what disturbs a round mostly disturbs its neighbour.
 *
 * `PHAROS_BENCH_SECONDS` (default 1) is the length of a round, `PHAROS_BENCH_ROUNDS` (default 9) their number.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { startBareNode } from './bare-node.ts';
import { createBigSite } from './big-site.ts';
import { judge, median, number, sizesFrom } from './budget.ts';
import { hasWrk, type LoadResult, load } from './load.ts';
import { hasNginx, startNginx } from './nginx.ts';

const COMPONENTS = 50;
const CUSTOM_DOMAIN = 'status.customer.example';
const [SECONDS = 1] = sizesFrom('PHAROS_BENCH_SECONDS', [1]);
const [ROUNDS = 9] = sizesFrom('PHAROS_BENCH_ROUNDS', [9]);
/** V8 compiles the paths of a request several times, the last time after about 60,000 of them. */
const WARM_UP_SECONDS = 4;
/** design.md, budgets, of a bare Node server. */
const SHARE_MIN = 0.9;
const P99_TIMES_MAX = 1.2;
/** For a badge that nobody asked for before. */
const FIRST_BADGE_MS_MAX = 0.3;
const FIRST_BADGES = 500;
const PASSWORD = 'correct horse battery';

interface Case {
  readonly name: string;
  readonly path: string;
  readonly host: string;
  readonly isConditional?: boolean;
  /** Of whoever is signed in. */
  readonly cookie?: string;
  /** Whether it must keep up with a bare server; the others say what a part costs. */
  readonly isJudged: boolean;
}

const PAGE: Case = { name: 'page', path: '/customer-0/', host: '127.0.0.1', isJudged: true };
const CASES: readonly Case[] = [
  PAGE,
  { ...PAGE, name: 'page by its own domain', path: '/', host: CUSTOM_DOMAIN },
  { ...PAGE, name: 'page, not modified', isConditional: true },
  { ...PAGE, name: 'badge', path: '/customer-0/badges/status.svg' },
];

export async function run(): Promise<void> {
  if (!hasNginx) console.log('nginx is not installed, so it is left out');
  if (!hasWrk) console.log('wrk is not installed; our own generator is slower than what it asks, so shares flatter us');
  const folder = temporaryFolder();
  try {
    await publishInto(folder.path);
    const place = (name: string): string => join(folder.path, name);
    await withPharos(['serve'], folder.path, async (pharos) => {
      const costs = new Map<Case, number>();
      for (const [index, one] of CASES.entries()) costs.set(one, await compare(pharos, one, place(`nginx-${index}`)));
      const [whole = Number.NaN, , conditional = Number.NaN] = CASES.map((one) => costs.get(one));
      judge({
        name: 'a page not modified beside the whole page, processor time',
        figure: conditional / whole,
        unit: '×',
        atMost: 1,
      });
      await tellFirstBadges(pharos);
    });
    await withPharos(['serve', '--config', 'logging.yaml'], folder.path, async (pharos) => {
      await compare(pharos, { ...PAGE, name: 'page, with an access log', isJudged: false }, place('nginx-log'));
    });
    await withPharos(['start', '--config', 'gated.yaml'], folder.path, async (pharos) => {
      const gated = { ...PAGE, name: 'page behind a password, signed in', path: '/vault/', isJudged: false };
      await compare(pharos, { ...gated, cookie: await signIn(pharos, gated) }, place('nginx-gate'));
    });
  } finally {
    folder.remove();
  }
}

async function withPharos(
  args: readonly string[],
  cwd: string,
  measure: (pharos: RunningPharos) => Promise<void>,
): Promise<void> {
  const env = { BENCH_KEY: 'never-used', BENCH_PASSWORD: PASSWORD };
  const pharos = await startPharos([...args, '--port', '0', '--quiet'], { cwd, env });
  try {
    await measure(pharos);
  } finally {
    await pharos.stop();
  }
}

/** Each badge with a label of its own, asked for twice, one after the other. */
async function tellFirstBadges(pharos: RunningPharos): Promise<void> {
  const [first, again]: [number[], number[]] = [[], []];
  for (let index = 0; index < FIRST_BADGES; index += 1) {
    for (const times of [first, again]) {
      const before = performance.now();
      const response = await fetch(`${pharos.url}/customer-0/badges/status.svg?label=Label+${index}`);
      await response.arrayBuffer();
      times.push(performance.now() - before);
    }
  }
  judge({
    name: 'badge that nobody asked for before, longer than the same once more, p50',
    figure: median(first) - median(again),
    unit: 'ms',
    atMost: FIRST_BADGE_MS_MAX,
    remark: `${number(median(first))} and ${number(median(again))} ms with this client`,
  });
}

async function signIn({ url }: RunningPharos, { path }: Case): Promise<string> {
  while ((await fetch(`${url}/-/fresh`)).status !== 200) await new Promise((wait) => setTimeout(wait, 100));
  const response = await fetch(`${url}${path}login/`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ password: PASSWORD }).toString(),
  });
  const cookie = response.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ');
  // Until it is there compressed.
  while ((await fetch(`${url}${path}`, { headers: { cookie } })).headers.get('content-encoding') === null)
    await new Promise((wait) => setTimeout(wait, 100));
  return cookie;
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
    pages: [{ slug: 'customer-0', from: 'u0', custom_domain: CUSTOM_DOMAIN }],
  };
  writeFileSync(join(folder, 'pharos.yaml'), JSON.stringify(config));
  writeFileSync(join(folder, 'logging.yaml'), JSON.stringify({ ...config, server: { accessLog: 'common' } }));
  const components = Array.from({ length: COMPONENTS }, (_, index) => ({ type: 'static', name: `Service ${index}` }));
  const vault = { slug: 'vault', title: 'Vault', access_type: 'password', password: '${BENCH_PASSWORD}', components };
  const gated = { site: config.site, data: join(folder, 'gated'), pages: [vault] };
  writeFileSync(join(folder, 'gated.yaml'), JSON.stringify(gated));
}

interface Round extends LoadResult {
  /** Processor time of the server for one request, in µs. */
  readonly costUs: number;
}

interface Server {
  readonly name: string;
  readonly port: number;
  /** Null: its processor time is not looked at. */
  readonly pid: number | null;
}

/** Prints the figures of one case; gives what one request costs us, in µs of processor time. */
async function compare(pharos: RunningPharos, one: Case, nginxFolder: string): Promise<number> {
  const ours: Server = { name: 'pharos', port: Number(new URL(pharos.url).port), pid: pharos.pid };
  const headers = await headersOf(ours.port, one);
  const sample = await ask(ours.port, one.path, headers);
  const bare = await startBareNode({ status: sample.status, headers: sample.own, body: sample.body });
  const nginx =
    hasNginx && one.isConditional !== true
      ? await startNginx(nginxFolder, [{ ...one, headers: sample.headers, body: sample.body ?? Buffer.alloc(0) }])
      : null;
  try {
    const servers: Server[] = [ours, { name: 'bare Node', port: bare.port, pid: bare.pid }];
    if (nginx !== null) servers.push({ name: 'nginx', port: nginx.port, pid: null });
    const rounds = new Map<string, Round[]>(servers.map(({ name }) => [name, []]));
    const question = { path: one.path, headers };
    for (let second = 0; second < WARM_UP_SECONDS; second += 1)
      for (const { port } of servers) await load({ port, ...question, seconds: 1 });
    for (let round = 0; round < ROUNDS; round += 1)
      // Who is first in one round is last in the next.
      for (const server of round % 2 === 0 ? servers : servers.toReversed())
        rounds.get(server.name)?.push(await measure(server, question));
    return tell(one, sample, rounds);
  } finally {
    await bare.stop();
    await nginx?.stop();
  }
}

async function measure(
  { port, pid }: Server,
  { path, headers }: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
): Promise<Round> {
  const before = processorUs(pid);
  const result = await load({ port, path, headers, seconds: SECONDS });
  return { ...result, costUs: (processorUs(pid) - before) / (result.perSecond * SECONDS) };
}

const CLOCK_TICK_US = 10_000;

/** Processor time of a process so far, its threads and the kernel's work for it included; Linux tells. */
function processorUs(pid: number | null): number {
  if (pid === null || process.platform !== 'linux') return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US;
}

function tell(
  { name, isConditional, isJudged }: Case,
  { body }: Sample,
  rounds: ReadonlyMap<string, readonly Round[]>,
): number {
  const middle = (server: string, of: (round: Round) => number): number => median((rounds.get(server) ?? []).map(of));
  const size = isConditional === true ? '' : `, ${number(body?.length ?? 0)} B`;
  const said = (server: string): string =>
    `${server} ${number(middle(server, ({ perSecond }) => perSecond))} requests/s, 99 % within ${number(middle(server, ({ p99Ms }) => p99Ms))} ms`;
  const share = (of: (round: Round) => number, server = 'bare Node'): number => {
    const theirs = rounds.get(server) ?? [];
    return median((rounds.get('pharos') ?? []).map((ours, index) => of(ours) / of(theirs[index] ?? ours)));
  };
  judge({
    name: `${name}${size}, requests/s of a bare Node's`,
    figure: share(({ perSecond }) => perSecond),
    unit: '×',
    atLeast: hasWrk && isJudged ? SHARE_MIN : null,
    remark: `${said('pharos')}; ${said('bare Node')}`,
  });
  judge({
    name: `${name}, 99 % within, of a bare Node's`,
    figure: share(({ p99Ms }) => p99Ms),
    unit: '×',
    atMost: hasWrk && isJudged ? P99_TIMES_MAX : null,
  });
  const costUs = middle('pharos', (round) => round.costUs);
  judge({
    name: `${name}, processor time a request`,
    figure: costUs,
    unit: 'µs',
    remark: `bare Node ${number(middle('bare Node', (round) => round.costUs))} µs: ${number(share((round) => round.costUs))} ×`,
  });
  if (rounds.has('nginx'))
    judge({
      name: `${name}, requests/s of one nginx worker's`,
      figure: share(({ perSecond }) => perSecond, 'nginx'),
      unit: '×',
      remark: said('nginx'),
    });
  return costUs;
}

interface Sample {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As they came, without what Node adds by itself. */
  readonly own: readonly string[];
  readonly body: Buffer | null;
}

/** What is sent under load; a conditional request names the version that is served. */
async function headersOf(port: number, one: Case): Promise<Record<string, string>> {
  // With a capital, by which wrk knows it.
  const headers = {
    Host: `${one.host}:${port}`,
    'accept-encoding': 'gzip, deflate, br, zstd',
    ...(one.cookie === undefined ? {} : { cookie: one.cookie }),
  };
  if (one.isConditional !== true) return headers;
  const { headers: answered } = await ask(port, one.path, headers);
  return { ...headers, 'if-none-match': answered['etag'] ?? '' };
}

const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

function ask(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<Sample> {
  return new Promise((resolve, reject) => {
    request({ port, path, host: '127.0.0.1', headers, agent: false }, (response) => {
      response.toArray().then((chunks) => {
        const { statusCode: status = 0, rawHeaders } = response;
        if (status !== 200 && status !== 304) return reject(new Error(`${path} was answered ${status}`));
        const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        const own = rawHeaders.filter(
          (_, index) => !ADDED_BY_NODE.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ''),
        );
        const body = status === 304 ? null : Buffer.concat(chunks);
        return resolve({ status, headers: Object.fromEntries(named), own, body });
      }, reject);
    })
      .once('error', reject)
      .end();
  });
}
