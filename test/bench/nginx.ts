/** One nginx worker that serves given files, with its configuration and everything else in a temporary folder. */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

export const hasNginx: boolean = spawnSync('nginx', ['-v']).error === undefined;

/** One address, answered from one file with the headers that ours would have. */
export interface NginxFile {
  readonly path: string;
  readonly host: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Nginx {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** What nginx writes by itself. */
const ITS_OWN = new Set([
  'content-length',
  'content-type',
  'etag',
  'date',
  'connection',
  'keep-alive',
  'accept-ranges',
]);

export async function startNginx(folder: string, files: readonly NginxFile[]): Promise<Nginx> {
  mkdirSync(folder);
  const port = await freePort();
  const locations = Map.groupBy(files, ({ host }) => host);
  const servers = [...locations].map(([host, those], server) => {
    const rules = those.map(({ path, body, headers }, index) => {
      const file = `${server}-${index}`;
      writeFileSync(join(folder, file), body);
      const added = Object.entries(headers)
        .filter(([name]) => !ITS_OWN.has(name))
        .map(([name, value]) => `add_header ${name} ${JSON.stringify(value)};`);
      return `location = ${path} { try_files /${file} =404; types {} default_type ${JSON.stringify(headers['content-type'])}; ${added.join(' ')} }`;
    });
    return `server { listen 127.0.0.1:${port}; server_name ${host}; root ${folder}; ${rules.join('\n')} }`;
  });
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, servers.join('\n')));
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  await untilOpen(port);
  return {
    port,
    stop: () => {
      child.kill('SIGQUIT');
      return exited;
    },
  };
}

/** As its own documentation tunes it for static files; nothing is logged, as nothing is by ours. */
function configuration(folder: string, servers: string): string {
  // Begun by root it would serve as somebody who cannot read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log crit;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_timeout 65; keepalive_requests 100000000;
  open_file_cache max=1000 inactive=60s; open_file_cache_valid 30s;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  ${servers}
}`;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function untilOpen(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const isOpen = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true)).once('error', () => done(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((wait) => setTimeout(wait, 50));
  }
  throw new Error('nginx did not begin to listen');
}
