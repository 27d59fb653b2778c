/** Asks one address again and again over kept connections: with wrk when it is installed, otherwise with a loop of ours. */

import { fork, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { SECOND_MS } from '../../src/model/time.ts';
import { quantile } from './budget.ts';

export interface LoadTarget {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** As many visitors at once; more only wait longer. */
const CONNECTIONS = 32;

export const hasWrk: boolean = spawnSync('wrk', ['-v']).error === undefined;

/** Throws when anything but a good answer came. */
export function load(target: LoadTarget): Promise<LoadResult> {
  return hasWrk ? loadByWrk(target) : loadByOurs(target);
}

async function loadByWrk({ port, path, headers, seconds }: LoadTarget): Promise<LoadResult> {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const child = spawn(
    'wrk',
    ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', ...given, `http://127.0.0.1:${port}${path}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`${path} was not always answered well:\n${text}`);
  const [, p99 = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const scale = { us: 1 / 1_000, ms: 1, s: SECOND_MS }[unit] ?? Number.NaN;
  return { perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]), p99Ms: Number(p99) * scale };
}

/** In a process of its own, so that it does not share a core's time with who is measured. */
async function loadByOurs(target: LoadTarget): Promise<LoadResult> {
  const child = fork(import.meta.filename, [JSON.stringify(target)]);
  return new Promise((resolve, reject) => {
    child.once('message', (result) => resolve(result as LoadResult));
    child.once('exit', (status) => reject(new Error(`the load on ${target.path} ended with ${status}`)));
  });
}

async function askAll({ port, path, headers, seconds }: LoadTarget): Promise<LoadResult> {
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const times: number[] = [];
  const until = performance.now() + seconds * SECOND_MS;
  const visit = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let askedAt = 0;
      let missing = -1;
      const ask = (): void => {
        askedAt = performance.now();
        missing = -1;
        socket.write(request);
      };
      socket
        .once('connect', ask)
        .once('error', reject)
        .once('close', () => resolve());
      socket.on('data', (bytes: Buffer) => {
        // Headers come in one piece over loopback; a body may come in several.
        missing = missing === -1 ? bodyMissing(bytes) : missing - bytes.length;
        if (missing > 0) return;
        const now = performance.now();
        times.push(now - askedAt);
        if (now < until) ask();
        else socket.end();
      });
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, visit));
  return { perSecond: times.length / seconds, p99Ms: quantile(times, 0.99) };
}

/** Bytes of the body that have not come with the headers. */
function bodyMissing(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, end);
  if (end === -1 || !/^HTTP\/1\.1 (200|304) /.test(head)) throw new Error(`answered: ${head.split('\r\n', 1)[0]}`);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return length - (bytes.length - end - 4);
}

if (import.meta.main) process.send?.(await askAll(JSON.parse(process.argv[2] ?? '') as LoadTarget));
