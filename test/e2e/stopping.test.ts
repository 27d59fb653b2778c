import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { eventually, runPharos, startPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { smallConfig, startUnlimitedSandbox } from '../helpers/sandbox.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** Far more than it takes on a busy machine; what does not end by then never does. */
const PATIENCE_MS = 30_000;
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);

describe('a server that can not start', () => {
  const folder = temporaryFolder();
  const other = createServer();

  beforeAll(async () => {
    mkdirSync(join(folder.path, 'posts'));
    const text = 'site: { name: Acme, url: http://localhost }\nupstreams: [{ id: w, kind: markdown, path: posts }]\n';
    writeFileSync(join(folder.path, 'pharos.yaml'), text);
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  });
  afterAll(() => {
    other.close();
    folder.remove();
  });

  it.each(['start', 'serve', 'start --role sync'])('%s closes what it opened and ends', async (command) => {
    const { port } = other.address() as AddressInfo;
    const args = [...command.split(' '), '--host', '127.0.0.1', '--port', String(port)];
    let pid = 0;
    const watch = setTimeout(() => process.kill(pid, 'SIGKILL'), PATIENCE_MS);
    const { status, stderr } = await runPharos(args, {
      cwd: folder.path,
      onStarted: (started) => {
        pid = started;
      },
    });
    clearTimeout(watch);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('is already in use') });
  });
});

describe('a server whose publishing thread has not loaded', () => {
  const folder = temporaryFolder();
  const page = '{ slug: acme, title: Acme, components: [{ id: web, type: static, name: Website }] }';
  const config = `site: { name: Acme, url: http://localhost }\nupstreams: [{ id: w, kind: markdown, path: posts }]\npages: [${page}]\n`;
  const begin = (first: string) => ({
    cwd: folder.path,
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(resolve(import.meta.dirname, '../helpers/late-publisher.mjs')).href}`,
      PHAROS_TEST_PUBLISHER: first,
    },
  });
  const args = ['start', '--host', '127.0.0.1', '--port', '0', '--quiet'];

  beforeAll(async () => {
    mkdirSync(join(folder.path, 'posts'));
    writeFileSync(join(folder.path, 'pharos.yaml'), config);
    expect(await runHere(['build', '--quiet'], { cwd: folder.path })).toMatchObject({ status: 0 });
  });
  afterAll(() => folder.remove());

  it('serves what is there meanwhile, and publishes afterwards', async () => {
    const gate = join(folder.path, 'gate');
    const first = `import { existsSync } from 'node:fs';
      while (!existsSync(${JSON.stringify(gate)})) await new Promise((wait) => setTimeout(wait, 20));`;
    const post =
      '---\ntype: incident\ntitle: Slow answers\nstarted: 2026-11-21T08:00:00Z\ncomponents: [acme/web]\n---\nWe look.\n';
    writeFileSync(join(folder.path, 'posts/slow.md'), post);
    const pharos = await startPharos(args, begin(first));
    const read = async () => (await fetch(`${pharos.url}/acme/`)).text();
    const before = await read();
    writeFileSync(gate, '');
    const after = await eventually(read, (text) => text.includes('Slow answers'));
    expect(await pharos.stop()).toBe(0);
    expect([before.includes('Website'), before.includes('Slow answers')]).toEqual([true, false]);
    expect(after).toContain('Slow answers');
  });

  it('ends if it can not load', async () => {
    const { status, stderr } = await runPharos(args, begin("throw new Error('cannot draw')"));
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('cannot draw') });
  });
});

describe('a server that npm started', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('ends when npm is ended', async () => {
    mkdirSync(join(folder.path, 'posts'), { recursive: true });
    const config = 'site: { name: Acme, url: http://localhost }\nupstreams: [{ id: w, kind: markdown, path: posts }]\n';
    writeFileSync(join(folder.path, 'pharos.yaml'), config);
    const bin = resolve(import.meta.dirname, '../../bin/pharos.js');
    const start = `node ${JSON.stringify(bin)} start --quiet --host 127.0.0.1 --port 0`;
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ scripts: { start } }));
    const npm = spawn('npm', ['run', 'start'], { cwd: folder.path, stdio: ['ignore', 'pipe', 'ignore'] });
    const url = await new Promise<string>((found) => {
      let text = '';
      npm.stdout.on('data', (chunk) => {
        text += String(chunk);
        const match = /Pharos serves (\S+)\//.exec(text);
        if (match?.[1] !== undefined) found(match[1]);
      });
    });
    npm.kill('SIGTERM');
    const isServing = await eventually(
      () =>
        fetch(`${url}/-/health`).then(
          () => true,
          () => false,
        ),
      (serves) => !serves,
    );
    expect(isServing).toBe(false);
  });
});

describe('a running server that is told to stop', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startUnlimitedSandbox();
    const config = smallConfig(sandbox);
    const pages = config.pages.filter(({ slug }) => slug === 'acme');
    writeFileSync(join(folder.path, 'pharos.yaml'), JSON.stringify({ ...config, pages, schedule: '0 0 1 * *' }));
  });
  afterAll(async () => {
    await sandbox?.stop();
    folder.remove();
  });

  const moments = [
    ['start', 0],
    ['start', 100],
    ['start', 400],
    ['serve', 0],
    ['serve', 50],
  ] as const;
  // At a smaller scale than 1, every other one.
  it.each(moments.filter((_, index) => SCALE >= 1 || index % 2 === 0))(
    'ends although it is reading its configuration again (%s, %d ms after SIGHUP)',
    async (command, afterMs) => {
      const pharos = await startPharos([command, '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
      await untilFresh(pharos);
      process.kill(pharos.pid, 'SIGHUP');
      await new Promise((later) => setTimeout(later, afterMs));
      const watch = setTimeout(pharos.kill, PATIENCE_MS);
      const status = await pharos.stop();
      clearTimeout(watch);
      expect({ status, errors: pharos.stderr().match(/"level":50.*/g) }).toEqual({ status: 0, errors: null });
    },
  );
});
