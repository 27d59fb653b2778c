import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { startUnlimitedSandbox, unlimitedConfig } from '../helpers/sandbox.ts';
import { startWarm } from '../helpers/warm.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

describe('a node behind a balancer', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;
  const statusOf = async (path: string): Promise<number> => (await fetch(`${pharos.url}${path}`)).status;
  const configure = (accessLog: string): void => {
    const server = `server: { accessLog: ${accessLog}, drainSeconds: 3 }`;
    const config = unlimitedConfig(sandbox);
    expect(config).not.toContain('server:');
    writeFileSync(join(folder.path, 'pharos.yaml'), `${config}${server}\nschedule: "0 0 1 * *"\n`);
  };

  beforeAll(async () => {
    sandbox = await startUnlimitedSandbox();
    configure('json');
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
    await untilFresh(pharos);
  });
  afterAll(async () => {
    await sandbox?.stop();
    folder.remove();
  });

  it('logs each answer in one line, without its query, and follows its configuration', async () => {
    const agent = 'visitor "of" tests';
    await fetch(`${pharos.url}/acme/login/link/?token=CANARY`, { headers: { 'user-agent': agent } });
    const logged = async (): Promise<string> => pharos.stdout().slice(pharos.stdout().indexOf('{'));
    const lines = (await eventually(logged, (text) => text.includes('/login/link/'))).trim().split('\n');
    const answered = lines.map((text) => JSON.parse(text)).find(({ path }) => path === '/acme/login/link/');
    expect(answered).toMatchObject({ client: '127.0.0.1', method: 'GET', host: new URL(pharos.url).host, agent });
    expect(answered).toMatchObject({ status: expect.any(Number), bytes: expect.any(Number), ms: expect.any(Number) });
    expect(pharos.stdout()).not.toContain('CANARY');

    configure('common');
    process.kill(pharos.pid, 'SIGHUP');
    const line =
      /^127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET \/no-such-page HTTP\/1\.1" \d{3} \d+$/m;
    // What was written may end in the middle of a line.
    const written = await eventually(
      async () => {
        await fetch(`${pharos.url}/no-such-page`);
        return pharos.stdout();
      },
      (text) => line.test(text),
    );
    expect(written).toMatch(line);
  });

  it('goes on although clients go away before they are answered, and in the middle of it', async () => {
    const { hostname, port } = new URL(pharos.url);
    const request = `GET /acme/ HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`;
    const leave = async (rest: string, pauseMs: number): Promise<void> => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(request + rest);
      await wait(pauseMs);
      socket.destroy();
    };
    for (const rest of ['', 'NONSENSE\r\n\r\n', `${request}${request}`])
      for (const pauseMs of [0, 1, 5]) await leave(rest, pauseMs);
    expect(await statusOf('/-/health')).toBe(200);
    // Each of them may have been answered before it left.
    const logged = await eventually(
      async () => {
        await leave(`${request}${request}`, 0);
        return pharos.stdout();
      },
      (text) => text.includes(' 499 '),
    );
    expect(logged).toContain(' 499 ');
  });

  it('is not ready from SIGTERM on, serves on for as long as it was told to, then ends', async () => {
    expect(await statusOf('/-/ready')).toBe(200);
    const ended = pharos.stop();
    expect(
      await eventually(
        () => statusOf('/-/ready'),
        (status) => status === 503,
      ),
    ).toBe(503);
    const page = await fetch(`${pharos.url}/acme/`);
    expect([page.status, page.headers.get('connection')]).toEqual([200, 'close']);
    expect(await statusOf('/-/health')).toBe(200);
    expect(await ended).toBe(0);
    await expect(statusOf('/acme/')).rejects.toThrow();
  });
});
