import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../src/app/sandbox.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { metricsText } from '../helpers/metrics.ts';
import { eventually, type RunningPharos, runPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';

const TOKEN = 'a-token-of-thirty-two-characters-x';
const PASSWORD = 'a pass phrase of one page';
const WORKERS = 3;
/** Enough connections that the system gives each worker some. */
const VISITS = 60;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe.runIf(process.platform === 'linux')('pharos start with workers', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;

  function writeConfig({ isOpenGated }: { isOpenGated: boolean }): void {
    const component = { monitor: 'edge/1', id: 'api', name: 'api' };
    const edge = { id: 'edge', kind: 'server-monitor', baseUrl: `${sandbox.url}/server-monitor`, auth: 'x-api-key' };
    const gate = { password: '${STAFF_PASSWORD}' };
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      stringify({
        site: { url: 'http://127.0.0.1:4321' },
        schedule: '0 0 1 1 *',
        upstreams: [{ ...edge, apiKey: '${EDGE_KEY}' }],
        pages: [
          { slug: 'open', components: [component], ...(isOpenGated ? gate : {}) },
          { slug: 'staff', components: [component], ...gate },
        ],
        operators: { token: '${PHAROS_TOKEN}' },
        server: { drainSeconds: 2, accessLog: 'common' },
      }),
    );
  }

  const environment = (): Record<string, string> => ({
    ...sandbox.environment(),
    PHAROS_TOKEN: TOKEN,
    STAFF_PASSWORD: PASSWORD,
  });

  /** Each on a connection of its own, so that any worker may get it. */
  function ask(path: string, headers: Record<string, string> = {}, form: string | null = null): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const asked = request(pharos.url + path, {
        method: form === null ? 'GET' : 'POST',
        agent: false,
        headers: { ...headers, ...sent },
      });
      asked.once('error', reject).once('response', (response) => {
        response.toArray().then((chunks) => {
          const body = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
        }, reject);
      });
      asked.end(form);
    });
  }

  async function statuses(path: string, headers: Record<string, string> = {}): Promise<number[]> {
    const answers = await Promise.all(Array.from({ length: VISITS }, () => ask(path, headers)));
    return [...new Set(answers.map(({ status }) => status))].toSorted();
  }

  const workers = (): number[] =>
    readFileSync(`/proc/${pharos.pid}/task/${pharos.pid}/children`, 'utf8').trim().split(' ').map(Number);

  /** Answers of good requests so far, by all processes. */
  async function counted(): Promise<number> {
    const text = await metricsText(pharos.url, TOKEN);
    return Number(/^pharos_http_request_seconds_count\{status="2xx"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    writeConfig({ isOpenGated: false });
    pharos = await startPharos(['start', '--port', '0', '--workers', String(WORKERS)], {
      cwd: folder.path,
      env: environment(),
    });
    const isReady = async (): Promise<boolean> => (await ask('/-/ready')).status === 200;
    if (!(await eventually(isReady, (ready) => ready))) throw new Error(`not ready:\n${pharos.stderr()}`);
  });
  afterAll(async () => {
    pharos?.kill();
    await sandbox?.stop();
    folder.remove();
  });

  it('is answered by several processes, and counts and logs each answer once', async () => {
    expect(workers()).toHaveLength(WORKERS);
    const before = await counted();
    expect(await statuses('/open/?once')).toEqual([200]);
    // The look at the figures before this one is an answer too.
    expect((await counted()) - before).toBe(VISITS + 1);
    const text = await metricsText(pharos.url, TOKEN);
    expect(text.match(/^pharos_pages_published .*$/gm)).toEqual(['pharos_pages_published 2']);
    expect(text.match(/^pharos_process_start_time_seconds .*$/gm)).toHaveLength(1);
    const resident = Number(/^pharos_process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]);
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pharos.pid}/status`, 'utf8'))?.[1]) * 1_024;
    expect(resident).toBeGreaterThan(own * 1.5);
    const logged = await eventually(
      async () => pharos.stdout().match(/^127\.0\.0\.1 .*"GET \/open\/ HTTP\/1\.1" 200 \d+$/gm)?.length ?? 0,
      (lines) => lines >= VISITS,
    );
    expect(logged).toBe(VISITS);
  });

  it('hands on what operators ask, and what they are answered', async () => {
    const bearer = { authorization: `Bearer ${TOKEN}` };
    expect((await ask('/-/rebuild?wait=1', bearer, '')).status).toBe(200);
    expect((await ask('/-/rebuild', {}, '')).status).toBe(401);
    expect((await ask('/-/ops')).status).toBe(401);
    expect((await ask('/-/nothing')).status).toBe(404);
  });

  it('knows a session and counts wrong passwords whichever process they come to', async () => {
    expect(await statuses('/staff/')).toEqual([404]);
    const origin = { origin: pharos.url, 'sec-fetch-site': 'same-origin' };
    const answer = await ask('/staff/login/', origin, `password=${encodeURIComponent(PASSWORD)}`);
    expect(answer.status).toBe(303);
    const cookie = String(answer.headers['set-cookie']).split(';', 1)[0] ?? '';
    expect(await statuses('/staff/', { cookie })).toEqual([200]);
    const tries: number[] = [];
    for (let index = 0; index < 15; index += 1)
      tries.push((await ask('/staff/login/', origin, `password=wrong${index}`)).status);
    expect(tries).toEqual([...Array(10).fill(403), ...Array(5).fill(429)]);
  });

  it('replaces a process that is killed, and forgets nothing that it counted', async () => {
    expect(await statuses('/open/')).toEqual([200]);
    const before = await counted();
    // Every second each says what it counted.
    await wait(1_500);
    const [victim = 0] = workers();
    process.kill(victim, 'SIGKILL');
    const now = await eventually(
      async () => workers(),
      (pids) => pids.length === WORKERS && !pids.includes(victim),
    );
    expect(now).toHaveLength(WORKERS);
    expect(now).not.toContain(victim);
    await eventually(
      async () => pharos.stderr(),
      (text) => text.includes('starting another'),
    );
    expect(await statuses('/open/')).toEqual([200]);
    expect(await counted()).toBeGreaterThanOrEqual(before + VISITS);
  });

  it('closes a page in every process at once', async () => {
    expect(await statuses('/open/')).toEqual([200]);
    writeConfig({ isOpenGated: true });
    process.kill(pharos.pid, 'SIGHUP');
    const closedAt = await eventually(
      async () => pharos.stderr().includes('pages made private or removed'),
      (isClosed) => isClosed,
    );
    expect(closedAt).toBe(true);
    // From the moment that it says so, on every connection, and it stays so.
    for (let round = 0; round < 5; round += 1) {
      expect(await statuses('/open/')).not.toContain(200);
      expect(await statuses('/open/badges/status.svg')).toEqual([404]);
      await wait(100);
    }
    const reloaded = (): Promise<boolean> =>
      eventually(
        async () => pharos.stderr().includes('configuration reloaded'),
        (isReloaded) => isReloaded,
      );
    expect(await reloaded()).toBe(true);
    expect(await statuses('/open/')).toEqual([404]);
  });

  it('hands on whom it heard from, whatever that one says of others', async () => {
    const tries: number[] = [];
    for (let index = 0; index < 40; index += 1)
      tries.push(
        (await ask('/-/metrics', { authorization: 'Bearer wrong', 'x-forwarded-for': `192.0.2.${index}` })).status,
      );
    expect(tries.at(0)).toBe(401);
    expect(tries.at(-1)).toBe(429);
  });

  it('drains in all processes and ends with them, whoever gets the signals', async () => {
    const pids = workers();
    // As a terminal and a supervisor do it.
    for (const pid of pids) process.kill(pid, 'SIGTERM');
    const ended = pharos.stop();
    const ready = await eventually(
      () => ask('/-/ready'),
      ({ status }) => status === 503,
    );
    expect(ready.status).toBe(503);
    const answers = await Promise.all(Array.from({ length: VISITS }, () => keepOpen(pharos.url)));
    for (const head of answers) expect(head).toMatch(/^HTTP\/1\.1 (200|404) [\s\S]*\r\nconnection: close\r\n/i);
    expect(await ended).toBe(0);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('says what is wrong where it cannot listen, and that the sandbox is one process', async () => {
    const other = await startPharos(['serve', '--port', '0', '--workers', '1'], {
      cwd: folder.path,
      env: environment(),
    });
    try {
      const { port } = new URL(other.url);
      const second = await runPharos(['serve', '--port', port, '--workers', '2'], {
        cwd: folder.path,
        env: environment(),
      });
      expect([second.status, second.stderr]).toEqual([2, expect.stringContaining(`Port ${port} on`)]);
    } finally {
      expect(await other.stop()).toBe(0);
    }
    const empty = temporaryFolder();
    const sandboxed = await runPharos(['start', '--workers', '2'], { cwd: empty.path });
    empty.remove();
    expect([sandboxed.status, sandboxed.stderr]).toEqual([2, expect.stringContaining('--workers needs')]);
  });
});

/** What comes back for one request of a client that would stay: up to the end of the head. */
function keepOpen(url: string): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let said = '';
    socket.once('connect', () => socket.write('GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'));
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1');
      if (!said.includes('\r\n\r\n')) return;
      socket.destroy();
      resolve(said);
    });
    socket.once('error', reject);
  });
}
