import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTerminalAsker } from '../../src/cli/init/gather.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { currentNumber, releaseFolders } from '../../src/publish/releases/folders.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { runHere } from '../helpers/in-process.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

interface Finding {
  readonly name: string;
  readonly result: string;
  readonly message: string;
  readonly remedy: string | null;
}

describe('commands that set up, look after and foresee', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let env: Record<string, string>;
  let config: string;
  const run = (...args: string[]) => runHere(args, { cwd: folder.path, env });
  const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    env = { ...sandbox.environment() };
    config = `${sandbox
      .configText({ include: ['server-monitor'] })
      .replace('\npages:', '\n  - { id: posts, kind: markdown, path: ./posts }\npages:')}schedule: "0 0 1 * *"\n`;
    write('pharos.yaml', config);
    mkdirSync(join(folder.path, 'posts'));
    expect((await run('build', '--quiet')).status).toBe(0);
  });
  afterAll(async () => {
    await sandbox.stop();
    folder.remove();
  });

  describe('pharos init', () => {
    const edgeUrl = (): string => /baseUrl: "?([^"\s]+)/.exec(config)?.[1] ?? '';

    it('writes a configuration that is right, tries the upstream, and lets no secret into the file', async () => {
      const made = await run(
        ...['init', '--yes', '--out', 'first.yaml', '--name', 'Example', '--kind', 'server-monitor'],
        ...['--set', `baseUrl=${edgeUrl()}`, '--set', 'apiKey=EDGE_KEY'],
      );
      expect(made.status, made.stderr).toBe(0);
      expect(made.stdout).toMatch(/✓ edge: /);
      const text = readFileSync(join(folder.path, 'first.yaml'), 'utf8');
      const [, schema = ''] = /^# yaml-language-server: \$schema=(.+)$/m.exec(text) ?? [];
      expect(existsSync(join(folder.path, schema))).toBe(true);
      expect(text).toContain('apiKey: ${EDGE_KEY}');
      expect(text).not.toContain(env['EDGE_KEY']);
      const checked = await run('check', '--config', 'first.yaml', '--json');
      expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, upstreams: [{ upstream: 'edge', isOk: true }] });
    });

    it('says what is wrong with an upstream that does not answer as it should, and writes the file all the same', async () => {
      const made = await run(
        ...['init', '--yes', '--out', 'wrong.yaml', '--kind', 'server-monitor'],
        ...['--set', `baseUrl=${edgeUrl()}`, '--set', 'apiKey=SVC_KEY'],
      );
      expect(made.status).toBe(1);
      expect(made.stdout).toMatch(/✗ edge: UPSTREAM_REFUSED/);
      expect(existsSync(join(folder.path, 'wrong.yaml'))).toBe(true);
    });

    it('never writes over a file, and needs an answer to what it cannot guess', async () => {
      const again = await run('init', '--yes');
      expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('never overwrites a file')]);
      expect(readFileSync(join(folder.path, 'pharos.yaml'), 'utf8')).toBe(config);
      const missing = await run('init', '--yes', '--out', 'x.yaml', '--kind', 'uptime-service');
      expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('Address of its RPC API')]);
      expect((await run('init', '--yes', '--out', 'x.yaml', '--kind', 'nagios')).status).toBe(2);
      expect((await run('init', '--yes', '--out', 'x.yaml', '--kind', 'markdown', '--set', 'color=red')).status).toBe(
        2,
      );
      expect(existsSync(join(folder.path, 'x.yaml'))).toBe(false);
    });

    it('asks again until there is an answer, and takes the suggestion for an empty line', async () => {
      const input = new PassThrough();
      const asker = createTerminalAsker(input, new PassThrough());
      const name = asker.ask('Name', 'Status');
      input.write('\n');
      expect(await name).toBe('Status');
      const address = asker.ask('Address', null);
      input.write('\n');
      input.write('  https://x.example \n');
      expect(await address).toBe('https://x.example');
      const last = asker.ask('More', null);
      input.end();
      await expect(last).rejects.toThrow('No answer to "More"');
      asker.close();
    });
  });

  describe('pharos doctor', () => {
    let site: Server;
    beforeAll(async () => {
      const { cert, key } = makeCertificate('127.0.0.1', {
        from: new Date('2020-01-01T00:00:00Z'),
        to: new Date('2090-01-01T00:00:00Z'),
      });
      site = createServer({ cert, key }, (_request, response) => response.end());
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => {
      site.closeAllConnections();
      site.close();
    });

    const findings = async (...args: string[]): Promise<{ status: number; by: Map<string, Finding> }> => {
      const { status, stdout } = await run('doctor', '--json', ...args);
      const { findings: found } = JSON.parse(stdout) as { findings: Finding[] };
      return { status, by: new Map(found.map((finding) => [finding.name, finding])) };
    };

    it('looks at the machine where there is no configuration, and leaves nothing behind', async () => {
      const empty = temporaryFolder();
      const { status, stdout } = await runWarm(['doctor', '--json'], { cwd: empty.path });
      const {
        ok,
        config: file,
        findings: found,
      } = JSON.parse(stdout) as Record<string, unknown> & { findings: Finding[] };
      expect([status, ok, file]).toEqual([0, true, null]);
      expect(found.map(({ name, result }) => `${name}: ${result}`)).toEqual(
        expect.arrayContaining([
          'Node.js: ok',
          'SQLite: ok',
          'data folder: ok',
          'disk space: ok',
          'configuration: skipped',
        ]),
      );
      expect(readdirSync(empty.path)).toEqual([]);
      empty.remove();
    });

    it('finds nothing wrong where nothing is', async () => {
      write('sound.yaml', sandbox.configText({ include: ['server-monitor'], hasPages: false }));
      const { status, by } = await findings('--config', 'sound.yaml');
      expect([...by.values()].filter(({ result }) => result === 'fault' || result === 'warning')).toEqual([]);
      expect(status).toBe(0);
      for (const name of [
        'Node.js',
        'SQLite',
        'astro',
        'data folder',
        'disk space',
        'database',
        'upstream edge',
        'clock against edge',
      ])
        expect([name, by.get(name)?.result]).toEqual([name, 'ok']);
    });

    it('finds each fault and gives its remedy, and lets no secret out', async () => {
      const { port } = site.address() as AddressInfo;
      write(
        'sick.yaml',
        `${config
          .replace(/url: "?http[^\s"]+"?/, `url: "https://127.0.0.1:${port}"`)
          .replace('slug: acme', 'slug: acme\n    custom_domain: nowhere.invalid')
          .replace('${EDGE_KEY}', '${SVC_KEY}')
          .replace('${PHAROS_TOKEN}', '${SHORT}')}access: { smtp: "\${SMTP}", from: status@example.com }\n`,
      );
      Object.assign(env, { SHORT: 'short', SMTP: 'smtp://user:smtp-password@127.0.0.1:1' });
      const { status, by } = await findings('--config', 'sick.yaml');
      expect(status).toBe(1);
      const seen = ['certificate', 'mail server', 'upstream edge', 'operator token', 'proxy', 'DNS of nowhere.invalid'];
      const results = seen.map((name) => [name, by.get(name)?.result]);
      expect(results.slice(0, 5)).toEqual([
        ['certificate', 'fault'],
        ['mail server', 'fault'],
        ['upstream edge', 'fault'],
        ['operator token', 'warning'],
        ['proxy', undefined],
      ]);
      // Without a name server nothing can be said of a name.
      expect(['fault', 'skipped']).toContain(by.get('DNS of nowhere.invalid')?.result);
      for (const { result, remedy } of by.values())
        expect(remedy !== null).toBe(result === 'fault' || result === 'warning');
      expect(JSON.stringify([...by.values()])).not.toMatch(/smtp-password|short"/);
    });

    it('tells a damaged database without touching it', async () => {
      const data = join(folder.path, 'damaged');
      mkdirSync(data);
      writeFileSync(join(data, 'pharos.db'), 'this is no database'.repeat(500));
      write('damaged.yaml', `${config}data: ./damaged\n`);
      const before = readFileSync(join(data, 'pharos.db'));
      const { status, by } = await findings('--config', 'damaged.yaml', '--no-network');
      expect(status).toBe(1);
      expect(by.get('database')).toMatchObject({
        result: 'fault',
        remedy: expect.stringContaining('Restore a backup'),
      });
      expect(readdirSync(data)).toEqual(['pharos.db']);
      expect(readFileSync(join(data, 'pharos.db'))).toEqual(before);
    });

    it('tells how far the clock of an upstream is off', async () => {
      const proxy = createPlainServer(async (request, response) => {
        const answer = await fetch(new URL(request.url ?? '', sandbox.url), {
          headers: { 'x-api-key': String(request.headers['x-api-key']) },
        });
        const date = new Date(Date.now() + 600_000).toUTCString();
        response.writeHead(answer.status, { 'content-type': 'application/json', date });
        response.end(await answer.text());
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      write('skewed.yaml', config.replace(sandbox.url, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`));
      const { by } = await findings('--config', 'skewed.yaml');
      proxy.closeAllConnections();
      proxy.close();
      expect(by.get('clock against edge')).toMatchObject({
        result: 'warning',
        message: expect.stringMatching(/^its clock is (600|599|601) s ahead of ours$/),
      });
    });
  });

  describe('pharos diff', () => {
    const print = (): string => {
      const hash = createHash('sha256');
      const walk = (path: string): void => {
        for (const entry of readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
          hash.update(join(path, entry.name));
          if (entry.isDirectory()) walk(join(path, entry.name));
        }
      };
      walk(join(folder.path, 'data', 'releases'));
      return hash.digest('hex');
    };
    const plan = async (file: string) =>
      JSON.parse((await run('diff', '--json', '--config', file)).stdout) as {
        pages: {
          slug: string;
          kind: string;
          facts: { name: string; from: string; to: string }[];
          changed: string[];
          added: string[];
          removed: string[];
        }[];
      };

    it('shows what another configuration would change, and changes nothing', async () => {
      const before = print();
      write(
        'next.yaml',
        config
          .replace(/title: Acme\b/, 'title: Acme renamed')
          .replace('slug: partners', 'slug: friends')
          .replace('schedule: "0 0 1 * *"', 'schedule: "0 0 2 * *"'),
      );
      const { pages } = await plan('next.yaml');
      const by = new Map(pages.map((page) => [page.slug, page]));
      expect(by.get('friends')?.kind).toBe('new');
      expect(by.get('partners')?.kind).toBe('withdrawn');
      expect(by.get('acme')).toMatchObject({ kind: 'changed', facts: [] });
      expect(by.get('acme')?.changed).toContain('index.html');
      // The log goes on with every release.
      expect(by.get('acme')?.removed).toEqual([]);
      const text = await run('diff', '--config', 'next.yaml', '--files');
      expect(text.stdout).toMatch(/changed acme: files .*\n {2}~ /);
      expect(print()).toBe(before);
    });

    it('says that a page would go behind a gate', async () => {
      write(
        'gated.yaml',
        config.replace(
          /(slug: acme[\s\S]*?)access_type: public/,
          '$1access_type: password\n    password: "${PARTNERS_PASSWORD}"',
        ),
      );
      const acme = (await plan('gated.yaml')).pages.find(({ slug }) => slug === 'acme');
      expect(acme?.facts).toEqual([{ name: 'gate', from: 'public', to: 'password' }]);
    });

    it('says of a page on hold that nothing new of it will be shown', async () => {
      const release = String(currentNumber(releaseFolders(join(folder.path, 'data')), 'acme'));
      expect((await run('rollback', 'acme', release, '--hold')).status).toBe(0);
      const { stdout } = await run('diff');
      expect(stdout).toMatch(
        / acme: .*\n {2}on hold at release \d+: changes are not published\. .*rollback acme --release\.$/m,
      );
      expect((await run('rollback', 'acme', '--release')).status).toBe(0);
      expect((await run('diff')).stdout).not.toContain('on hold');
    });
  });

  it('pharos preview shows drafts to this machine while nothing of them is published or sent', async () => {
    const started = new Date().toISOString();
    const sent: (string | undefined)[] = [];
    const receiver = createPlainServer(({ url }, response) => {
      sent.push(url);
      response.end();
    });
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
    const { port } = receiver.address() as AddressInfo;
    write(
      'preview.yaml',
      `${config}notifications:\n  - { id: hook, kind: webhook, endpoint: "http://127.0.0.1:${port}/", allow_private_hosts: [127.0.0.1], secrets: ["\${HOOK}"] }\n`,
    );
    const draft = (title: string, isDraft: boolean): string =>
      `---\ntype: incident\ntitle: ${title}\ndraft: ${isDraft}\nstarted: ${started}\npages: [acme]\n---\n\nWe look into it.\n`;
    writeFileSync(join(folder.path, 'posts', 'one.md'), draft('Only a draft', true));
    const before = readdirSync(join(folder.path, 'data', 'releases', 'acme'));
    const pharos = await startWarm(['preview', '--config', 'preview.yaml'], {
      cwd: folder.path,
      env: { ...env, HOOK: `whsec_${'A'.repeat(32)}` },
    });
    try {
      const page = async (): Promise<string> => (await fetch(`${pharos.url}/acme/`)).text();
      expect(await page()).toContain('Only a draft');
      expect((await fetch(`${pharos.url}/partners/`)).status).toBe(404);
      expect((await fetch(`${pharos.url}/-/ops`)).status).toBe(404);
      writeFileSync(join(folder.path, 'posts', 'one.md'), draft('A better draft', true));
      expect(await eventually(page, (text) => text.includes('A better draft'))).toContain('A better draft');
      write('posts/two.md', draft('A later draft', true));
      expect(await eventually(page, (text) => text.includes('A later draft'))).toContain('A later draft');
      await wait(1_000);
      expect(sent).toEqual([]);
      expect(pharos.stderr()).not.toContain('secret.key');
    } finally {
      expect(await pharos.stop()).toBe(0);
      receiver.close();
    }
    expect(readdirSync(join(folder.path, 'data', 'releases', 'acme'))).toEqual(before);
    expect((await run('build', '--json')).status).toBe(0);
    const published = readFileSync(join(folder.path, 'out', 'acme', 'index.html'), 'utf8');
    expect(published).not.toMatch(/a draft|better draft|later draft/i);
  });

  it('shows an example with the help of every command', async () => {
    const { createProgram } = await import('../../src/cli/main.ts');
    const leaves = (command: ReturnType<typeof createProgram>, path: string[] = []): string[][] =>
      command.commands.length === 0
        ? [path]
        : command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
    for (const path of leaves(createProgram(() => undefined))) {
      const { stdout, status } = await run(...path, '--help');
      expect([path, status, stdout]).toEqual([
        path,
        0,
        expect.stringMatching(/\nExamples?:\n {2}(source <\()?pharos /),
      ]);
    }
  });

  it('colours a table only for a terminal, or when forced to', async () => {
    const coloured = await runHere(['check'], { cwd: folder.path, env: { ...env, FORCE_COLOR: '1' } });
    expect(coloured.stdout).toContain('\u001b[32m✓\u001b[39m');
    expect((await run('check')).stdout).not.toContain('\u001b');
  });
});
