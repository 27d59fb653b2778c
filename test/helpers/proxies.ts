/** Proxies that may be installed: run in the foreground, on loopback, with all their files in a folder of the test. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { makeCertificate } from './certificate.ts';
import { ROOT } from './documents.ts';

export interface RunningProxy {
  /** Without a slash at the end. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Where a program is; null when it is not installed. */
export function programPath(name: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not here.
    }
  }
  return null;
}

/** What a test says of itself where a program that it needs is not there. */
export function skippedWithout(name: string): string {
  return programPath(name) === null ? ` (skipped: ${name} is not installed)` : '';
}

export function readDeploy(name: string): string {
  return readFileSync(join(ROOT, 'deploy', name), 'utf8');
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs a server until it is stopped; it has a few seconds to listen. */
async function run(name: string, args: readonly string[], { port, cwd }: { port: number; cwd: string }) {
  const child = spawn(programPath(name) ?? name, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: cwd },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const deadline = performance.now() + 20_000;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${name} does not listen:\n${output}`);
    await new Promise((wait) => setTimeout(wait, 50));
  }
  return { stop: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (is: boolean): void => {
      socket.destroy();
      answer(is);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** The temporary files that nginx would otherwise look for where it was installed. */
function nginxFrame(folder: string, http: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  return [
    'daemon off;',
    // Workers of root's nginx would be another user, who may not read folders of a test.
    process.getuid?.() === 0 ? 'user root;' : '',
    'worker_processes 1;',
    `pid ${join(folder, 'pid')};`,
    `error_log ${join(folder, 'error.log')};`,
    'events {}',
    // As in the nginx.conf that comes with nginx.
    `http {\ndefault_type application/octet-stream;\n${temporary.join('\n')}\naccess_log off;\n${http}\n}`,
  ].join('\n');
}

/** Checks and runs a configuration for nginx's http context. */
export async function startNginx({
  http,
  folder,
  port,
  scheme = 'http',
}: {
  readonly http: string;
  readonly folder: string;
  readonly port: number;
  readonly scheme?: 'http' | 'https';
}): Promise<RunningProxy> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, nginxFrame(folder, http));
  const args = ['-p', folder, '-e', join(folder, 'early.log'), '-c', file];
  execFileSync(programPath('nginx') ?? 'nginx', ['-t', '-q', ...args], { stdio: 'pipe' });
  const { stop } = await run('nginx', args, { port, cwd: folder });
  return { url: `${scheme}://127.0.0.1:${port}`, stop };
}

export interface DeployedBefore {
  readonly folder: string;
  readonly pharosPort: number;
  readonly data: string;
  /** What is written beside serving; default: nothing is. */
  readonly output?: string;
  /** Domains of single pages, and where the files of each are below site/public. */
  readonly domains?: Readonly<Record<string, string>>;
  /** What else is different. */
  readonly changes?: readonly (readonly [string, string])[];
}

/** deploy/nginx.conf as it is, but for names, ports and paths. */
export async function startDeployedNginx({
  folder,
  pharosPort,
  data,
  output = join(data, 'static'),
  domains = {},
  changes = [],
}: DeployedBefore): Promise<RunningProxy> {
  mkdirSync(folder, { recursive: true });
  const [port, plainPort] = [await freePort(), await freePort()];
  const certificate = makeCertificate('status.example.com', {
    from: new Date(Date.now() - 3_600_000),
    to: new Date(Date.now() + 3_600_000),
  });
  writeFileSync(join(folder, 'cert.pem'), certificate.cert);
  writeFileSync(join(folder, 'key.pem'), certificate.key);
  const lines = Object.entries(domains).map(([host, home]) => `${host} ${home};`);
  const http = replaced(readDeploy('nginx.conf'), [
    ['server 127.0.0.1:4321;', `server 127.0.0.1:${pharosPort};`],
    ['/var/cache/nginx/pharos', join(folder, 'cache')],
    ['/var/lib/pharos-static', output],
    ['/var/lib/pharos', data],
    ['/etc/ssl/status.example.com.pem', join(folder, 'cert.pem')],
    ['/etc/ssl/private/status.example.com.key', join(folder, 'key.pem')],
    ['# status.customer.example /customer;', lines.join('\n')],
    ['server_name status.example.com;', `server_name status.example.com ${Object.keys(domains).join(' ')};`],
    ['listen 80 ', `listen 127.0.0.1:${plainPort} `],
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    ...changes,
  ]).replaceAll(/^\s*listen \[::\].*$/gm, '');
  return startNginx({ http, folder, port, scheme: 'https' });
}

/** Replaces every occurrence; what is not there is a mistake of the test. */
export function replaced(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`there is no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}

/** Varnish with nothing but its built-in rules. */
export async function startVarnish({
  folder,
  pharosPort,
}: {
  readonly folder: string;
  readonly pharosPort: number;
}): Promise<RunningProxy> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const vcl = join(folder, 'default.vcl');
  writeFileSync(vcl, `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${pharosPort}"; }\n`);
  const args = ['-F', '-j', 'none', '-f', vcl, '-a', `127.0.0.1:${port}`, '-n', folder, '-s', 'malloc,32m'];
  const { stop } = await run('varnishd', args, { port, cwd: folder });
  return { url: `http://127.0.0.1:${port}`, stop };
}

export async function startCaddy({
  caddyfile,
  folder,
  port,
}: {
  readonly caddyfile: string;
  readonly folder: string;
  readonly port: number;
}): Promise<RunningProxy> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, caddyfile);
  const { stop } = await run('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { port, cwd: folder });
  return { url: `http://127.0.0.1:${port}`, stop };
}

export interface Relay {
  readonly port: number;
  /** Paths of the requests that came through, in their order. */
  readonly seen: readonly string[];
  /** While it is away, connections are refused with a reset. */
  isAway: boolean;
  readonly close: () => Promise<void>;
}

/**
 * Stands between a proxy and Pharos: counts what a cache lets through, goes away when told, and makes what a cache may
 * keep for half a minute last a second, so that a test need not wait for it.
 */
export async function startRelay(pharosPort: number): Promise<Relay> {
  const seen: string[] = [];
  const server = createHttpServer((incoming, outgoing) => {
    if (relay.isAway) {
      incoming.socket.destroy();
      return;
    }
    seen.push(incoming.url ?? '');
    const { method, url, headers } = incoming;
    const passed = request({ host: '127.0.0.1', port: pharosPort, method, path: url, headers }, (answer) => {
      const cacheControl = answer.headers['cache-control']
        ?.replace('max-age=30, stale-while-revalidate=30', 'max-age=1, stale-while-revalidate=1')
        .replace('max-age=60, s-maxage=60', 'max-age=1, s-maxage=1');
      outgoing.writeHead(answer.statusCode ?? 502, {
        ...answer.headers,
        ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
      });
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: Relay = {
    port: (server.address() as AddressInfo).port,
    seen,
    isAway: false,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return relay;
}
