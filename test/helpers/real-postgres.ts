/**
 * A Postgres server of its own, from the programs that this machine has: on the PATH or where Debian puts them. It is made
 * in a temporary folder, listens on loopback, and is removed again.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

export interface RealPostgres {
  /** Of a role that may do everything, and an empty database. */
  readonly url: string;
  /** Another empty database on the same server. */
  readonly database: () => Promise<string>;
  /** Ends every connection and listens no more. */
  readonly goAway: () => Promise<void>;
  /** Listens again at the same address. */
  readonly comeBack: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Debian's, newest first. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of `initdb` and `postgres`; null: there are none, and whoever needs them says so and does without. */
export function postgresPrograms(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)))) ?? null;
}

export async function startRealPostgres(programs: string): Promise<RealPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-postgres-'));
  const user = unprivileged();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, env: { PATH: programs, LC_ALL: 'C' }, cwd: folder };
  execFileSync('cp', ['-r', emptyData(programs, user), data], { ...user, cwd: folder });
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off'];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`;
  const comeBack = async (): Promise<void> => {
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
    server = spawn(join(programs, 'postgres'), args, { ...options, stdio: 'ignore' });
    await answering(url, server);
  };
  const goAway = async (): Promise<void> => {
    if (server === null) return;
    const ended = once(server, 'exit');
    // Fast: whoever is connected is cut off.
    server.kill('SIGINT');
    await ended;
    server = null;
  };
  let server: ChildProcess | null = null;
  await comeBack();
  let count = 0;
  return {
    url,
    database: async () => {
      count += 1;
      await inServer(url, `CREATE DATABASE pharos_${count} TEMPLATE template0`);
      return url.replace('/postgres?', `/pharos_${count}?`);
    },
    goAway,
    comeBack,
    stop: async () => {
      await goAway();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let empty: string | null = null;

/** What `initdb` makes, once for all test files of this process: it takes longer than any of them takes to copy it. */
function emptyData(programs: string, user: ReturnType<typeof unprivileged>): string {
  if (empty !== null) return empty;
  const folder = mkdtempSync(join(tmpdir(), 'pharos-postgres-'));
  if (user !== null) chownSync(folder, user.uid, user.gid);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const options = { ...user, env: { PATH: programs, LC_ALL: 'C' }, cwd: folder };
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...options,
    stdio: 'ignore',
  });
  empty = data;
  return data;
}

/** Postgres refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const idOf = (flag: string, name: string): number => Number(execFileSync('id', [flag, name]).toString());
  return { uid: idOf('-u', 'nobody'), gid: idOf('-g', 'nobody') };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function answering(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await inServer(url, 'SELECT 1');
    } catch (error) {
      if (tries > 200 || server.exitCode !== null) throw error;
      await wait(50);
    }
  }
}

async function inServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}
