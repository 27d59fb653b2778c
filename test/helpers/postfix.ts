/** A real Postfix with its defaults, on loopback, that hands every mail to a sink of the test. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why there is none to test with; null: there is. */
export const POSTFIX_MISSING: string | null =
  process.getuid?.() !== 0
    ? 'Postfix starts for root only'
    : spawnSync('postconf', ['-d', 'mail_version']).status === 0
      ? null
      : 'Postfix is not installed';

export interface Postfix {
  readonly port: number;
  /** Has it try again what waits. */
  readonly flush: () => void;
  readonly stop: () => void;
}

/** Starts it; what it accepts goes to the SMTP server on `sinkPort`, whatever the domain. */
export async function startPostfix(sinkPort: number): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-postfix-'));
  const port = await freePort();
  const [config, queue, data] = ['config', 'queue', 'data'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [config, queue, data]) mkdirSync(path);
  execFileSync('chmod', ['755', folder]);
  execFileSync('chown', ['postfix', data]);
  // Nothing is set that says how addresses are read: those are the defaults.
  writeFileSync(
    join(config, 'main.cf'),
    [
      'compatibility_level = 3.6',
      `queue_directory = ${queue}`,
      `data_directory = ${data}`,
      'inet_interfaces = 127.0.0.1',
      'mynetworks = 127.0.0.0/8',
      'myhostname = mail.pharos.example',
      'mydestination =',
      `relayhost = [127.0.0.1]:${sinkPort}`,
      `maillog_file = ${join('/var/log', `pharos-postfix-${process.pid}.log`)}`,
      'smtp_tls_security_level = none',
      'smtpd_tls_security_level = none',
      '',
    ].join('\n'),
  );
  const services = execFileSync('postconf', ['-M', '-c', '/etc/postfix'], { encoding: 'utf8' });
  writeFileSync(
    join(config, 'master.cf'),
    services
      .split('\n')
      .filter((line) => !/^smtp\s+inet/.test(line))
      // Without a cage, which would need a copy of the system's files.
      .map((line) => line.replace(/^((?:\S+\s+){4})y/, '$1n'))
      .concat(`127.0.0.1:${port} inet n - n - - smtpd`, '')
      .join('\n'),
  );
  const run = (...args: string[]): void => void execFileSync('postfix', ['-c', config, ...args], { stdio: 'pipe' });
  run('start');
  return {
    port,
    flush: () => run('flush'),
    stop: () => {
      run('stop');
      rmSync(folder, { recursive: true, force: true });
      rmSync(`/var/log/pharos-postfix-${process.pid}.log`, { force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
