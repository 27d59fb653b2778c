import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { runHere } from '../helpers/in-process.ts';
import { runPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const BIN = resolve(import.meta.dirname, '../../bin/pharos.js');

describe('the command line', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  /** In this process; what is a matter of processes begins one. */
  const run = (...args: string[]) => runHere(args, { cwd: folder.path, env: sandbox.environment() });
  const runAlone = (...args: string[]) => runPharos(args, { cwd: folder.path, env: sandbox.environment() });
  const runElsewhere = (...args: string[]) => runWarm(args, { cwd: folder.path, env: sandbox.environment() });
  const configure = (text: string): void => writeFileSync(join(folder.path, 'pharos.yaml'), text);

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
  });
  afterAll(async () => {
    await sandbox.stop();
    folder.remove();
  });

  it('lists every fault of a configuration with its path and line, starts nothing and ends with 2', async () => {
    configure(
      [
        'site: { url: "ftp://status.example.com", timezone: Mars/Olympus }',
        'surprise: 1',
        'upstreams:',
        '  - { id: edge, kind: server-monitor, apiKey: in-clear }',
        '  - { id: edge, kind: crystal-ball }',
        'pages:',
        '  - { slug: "Not A Slug", access_type: password }',
        '  - { slug: fine, components: [{ type: monitor, monitor: nobody/1 }, { type: monitor }] }',
        'operators: { token: "${NO_SUCH_VARIABLE}" }',
      ].join('\n'),
    );
    const result = await runAlone('start', '--port', '0');
    expect(result.status).toBe(2);
    expect(result.stdout).toBe('');
    for (const path of [
      'site.url',
      'site.timezone',
      'surprise',
      'upstreams[0].baseUrl',
      'upstreams[0].apiKey',
      'upstreams[1].kind',
      'pages[0].slug',
      'pages[0].password',
      'pages[1].components[1].monitor',
      'operators.token',
    ]) {
      expect(result.stderr).toContain(path);
    }
    expect(result.stderr).toMatch(/upstreams\[1\]\.kind: .*server-monitor.*\(line 5\)/);
    expect(result.stderr).toContain('NO_SUCH_VARIABLE is not set');
    expect(existsSync(join(folder.path, 'data'))).toBe(false);
  });

  it.each([[['start', '--workers', '4']], [['start', '--role', 'web', '--workers=2']], [['serve', '--workers']]])(
    'says of %j what to use instead of workers',
    async (args) => {
      const result = await run(...args);
      expect([result.status, result.stdout]).toEqual([2, '']);
      expect(result.stderr).toMatch(/^--workers no longer exists: .*docs\/operating\.md.*docs\/nodes\.md.*\n$/);
    },
  );

  it('gives the same faults as JSON when asked', async () => {
    configure('site: {}\n');
    const result = await run('check', '--json');
    expect(result.status).toBe(2);
    expect(JSON.parse(result.stdout)).toMatchObject({
      ok: false,
      code: 'CONFIG_INVALID',
      issues: [{ path: 'site.url' }],
    });
  });

  it('ends with 2 for a command or an option that there is not', async () => {
    expect((await run('dance')).status).toBe(2);
    expect((await run('sync', '--dance')).status).toBe(2);
    expect((await runAlone('start', '--port', 'many')).status).toBe(2);
    expect((await run('sync', '--config', 'nowhere.yaml')).status).toBe(2);
    expect((await run('--help')).status).toBe(0);
  });

  it('says what was probably meant by a command, an option and an upstream', async () => {
    configure(sandbox.configText());
    expect((await run('biuld')).stderr).toBe(
      "Unknown command 'biuld'. Did you mean build?\nRun `pharos --help` for a list of commands.\n",
    );
    expect((await run('build', '--oflline')).stderr).toBe(
      "Unknown option '--oflline'. Did you mean --offline?\nRun `pharos build --help` for its options.\n",
    );
    expect((await run('store', 'mirgate')).stderr).toContain('Did you mean migrate?');
    expect((await run('sync', '--upstream', 'egde')).stderr).toBe(
      'There is no upstream "egde". Did you mean edge? Use one of: edge, svc, backups, crm.\n',
    );
  });

  it.each([['--help'], ['completion', 'bash'], ['check', '--offline']])(
    'is silent when nobody reads on: %s',
    async (...args) => {
      configure(sandbox.configText());
      // Closes its end before anything is written.
      const child = spawn(process.execPath, [BIN, ...args], {
        cwd: folder.path,
        env: { ...process.env, ...sandbox.environment() },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stdout.destroy();
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      const status = await new Promise((done) => child.once('close', done));
      expect([status, stderr]).toEqual([0, '']);
    },
  );

  it.skipIf(!existsSync('/dev/full'))('fails with a sentence when its output cannot be written', async () => {
    configure(sandbox.configText());
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [BIN, 'check', '--offline'], {
      cwd: folder.path,
      env: { ...process.env, ...sandbox.environment() },
      stdio: ['ignore', full, 'pipe'],
    });
    let stderr = '';
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    const status = await new Promise((done) => child.once('close', done));
    closeSync(full);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Can’t write the output: ENOSPC.*\n$/)]);
  });

  it('offers the names of the configuration here, also of one that is not valid', async () => {
    configure('upstreams: [{ id: edge }, { id: "$(reboot)" }, 5]\npages: [{ slug: acme, nope: 1 }]\n');
    expect((await run('complete', 'upstreams')).stdout).toBe('edge\n');
    expect((await run('complete', 'pages')).stdout).toContain('acme\n');
    expect((await run('complete', 'kinds')).stdout).toContain('server-monitor\n');
    writeFileSync(join(folder.path, 'next.yaml'), 'upstreams: [{ id: core }]\nnotifications: [{ id: team }]\n');
    for (const line of [['-c', 'next.yaml'], ['--config=next.yaml'], ['--config', '=', 'next.yaml', '-u']])
      expect((await run('complete', 'upstreams', '--', 'pharos', 'sync', ...line)).stdout).toBe('core\n');
    expect((await run('complete', 'channels', '--', 'pharos', '-c', 'next.yaml')).stdout).toBe('team\n');
    configure('upstreams: [');
    expect(await run('complete', 'upstreams')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('checks the file by itself when it is to contact nobody', async () => {
    sandbox.requests.clear();
    mkdirSync(join(folder.path, 'offline-posts'));
    const post =
      '---\ntype: incident\ntitle: X\nstarted: 2026-11-21T08:00:00Z\ncomponents: [acme/dsek]\n---\nWe look.\n';
    writeFileSync(join(folder.path, 'offline-posts', 'a.md'), post);
    configure(`site: { url: "https://status.example.com", home: amce }
data: ./data-offline
upstreams:
  - { id: edge, kind: server-monitor, baseUrl: "${sandbox.url}/server-monitor/api", apiKey: "\${EDGE_KEY}" }
  - { id: posts, kind: markdown, path: ./offline-posts }
pages: [{ slug: acme, components: [{ type: static, id: desk, name: Desk }] }]
`);
    const wrong = await run('check', '--offline');
    expect(wrong.stdout).toMatch(/✗ site\.home \(line \d+\): There is no page amce\. Did you mean acme\?/);
    expect(wrong.stdout).toContain('✗ posts/a: components: There is no component acme/dsek. Did you mean acme/desk?');
    expect(wrong.stdout).toContain('no upstream and no target was contacted');
    expect(wrong.status).toBe(2);
    configure(sandbox.configText());
    expect((await run('check', '--offline')).status).toBe(0);
    expect(['server-monitor', 'uptime', 'backup', 'crm'].map((name) => sandbox.requests.count(name))).toEqual([
      0, 0, 0, 0,
    ]);
  });

  it('checks every upstream with one request and prints a row for each', async () => {
    configure(sandbox.configText());
    const result = await run('check');
    expect(result.stdout).toMatch(/✓ +edge +server-monitor/);
    expect(result.stdout).toMatch(/✓ +svc +uptime-service.*read scope/);
    expect(result.stdout, 'of each it is known how fresh it stays').not.toContain('–');
    expect(result.stdout).toMatch(/pharos\.yaml is valid/);
    expect(result.status).toBe(0);
  });

  it('tells by what passes really ask, once there was one, how fresh details stay', async () => {
    const ages = async (): Promise<number> => {
      const { upstreams } = JSON.parse((await run('check', '--json')).stdout) as {
        upstreams: { upstream: string; detailAgeMaxMs: number }[];
      };
      return upstreams.find(({ upstream }) => upstream === 'edge')?.detailAgeMaxMs ?? 0;
    };
    // Several lists instead of the one call of a probe leave fewer requests for details.
    const limited = 'auth: x-api-key\n    limits: { perMinute: 60, perHour: 360 }';
    configure(`${sandbox.configText().replace('auth: x-api-key', limited)}data: ./data-probed\n`);
    const guessed = await ages();
    expect((await run('sync')).status).toBe(0);
    expect(await ages()).toBeGreaterThanOrEqual(guessed);
    configure(sandbox.configText());
  });

  it('names the fastest schedule that also gets details and history where the one there is asks too often', async () => {
    const upstream = sandbox.configText().replace('auth: x-api-key', 'auth: x-api-key\n    schedule: "*/5 * * * * *"');
    configure(`${upstream}data: ./data-hasty\n`);
    const hasty = (await run('check')).stdout;
    expect(hasty).toMatch(/is faster than its rate limit allows.*every 15 s, schedule: "\*\/15 \* \* \* \* \*"/);
    expect(hasty).not.toMatch(/Infinity|NaN/);
    const limited = 'auth: x-api-key\n    limits: { perMinute: 60, perHour: 246 }';
    configure(`${sandbox.configText().replace('auth: x-api-key', limited)}data: ./data-tight\n`);
    const tight = (await run('check')).stdout;
    expect(tight).toMatch(/the lists use up the rate limit.*every 120 s, schedule: "\*\/2 \* \* \* \*"/);
    expect(tight).not.toMatch(/Infinity|NaN/);
    configure(sandbox.configText());
  });

  it('syncs into the store and prints the report', async () => {
    const result = await run('sync', '--json');
    expect(result.status).toBe(0);
    expect(JSON.parse(result.stdout).pass.upstreams.map((item: { kind: string }) => item.kind)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      // What operators wrote.
      'ok',
    ]);
    expect(existsSync(join(folder.path, 'data', 'pharos.db'))).toBe(true);
    expect((await run('sync', '--upstream', 'nobody')).status).toBe(2);
  });

  it('builds a folder, keeps gated pages out of it, and keeps it when every upstream lies', async () => {
    expect((await runElsewhere('build', '--out', 'out')).status).toBe(0);
    const page = readFileSync(join(folder.path, 'out', 'acme', 'index.html'), 'utf8');
    expect(page).toContain('Website');
    for (const badge of ['status.svg', 'status-dark.svg', 'uptime-90d.json', 'status.png', 'history-90d.svg']) {
      expect(existsSync(join(folder.path, 'out', 'acme', 'badges', badge))).toBe(true);
    }
    expect(existsSync(join(folder.path, 'out', 'partners'))).toBe(false);
    expect(existsSync(join(folder.path, 'out', 'staff'))).toBe(false);

    for (const upstream of ['server-monitor', 'openstatus', 'backup', 'journeys'] as const)
      sandbox.faults.set(upstream, 'html');
    const lied = await run('build', '--out', 'out', '--json');
    for (const upstream of ['server-monitor', 'openstatus', 'backup', 'journeys'] as const)
      sandbox.faults.set(upstream, null);
    expect(lied.status).toBe(1);
    expect(readFileSync(join(folder.path, 'out', 'acme', 'index.html'), 'utf8')).toContain('Website');
    const after = await run('build', '--out', 'out', '--offline');
    expect(after.status).toBe(0);
  });

  it('seals password pages into one file each when asked, and takes them away when not', async () => {
    expect((await run('build', '--out', 'sealed', '--offline', '--sealed')).status).toBe(0);
    const page = readFileSync(join(folder.path, 'sealed', 'partners', 'index.html'), 'utf8');
    expect(page).toContain('Password');
    expect(page).not.toContain('partners');
    expect(existsSync(join(folder.path, 'sealed', 'partners', 'api'))).toBe(false);
    expect(existsSync(join(folder.path, 'sealed', 'staff'))).toBe(false);
    expect((await run('build', '--out', 'sealed', '--offline')).status).toBe(0);
    expect(existsSync(join(folder.path, 'sealed', 'partners', 'index.html'))).toBe(false);
  });

  it('writes no page with addresses or an identity provider, not even sealed', async () => {
    const elsewhere = temporaryFolder();
    const password = '${PAGE_PASSWORD}';
    const oidc = { allow: { groups: ['sre'] } };
    const pages = {
      plain: { password },
      office: { allow_ips: ['192.0.2.0/24'] },
      both: { password, allow_ips: ['192.0.2.0/24'] },
      either: { password, allow_ips: ['192.0.2.0/24'], access: 'any' },
      staff: { oidc },
      strict: { oidc, password },
    };
    const config = {
      site: { url: 'https://status.example', name: 'Site' },
      access: { oidc: { issuer: 'https://id.example', client_id: 'pharos', client_secret: '${PAGE_PASSWORD}' } },
      pages: Object.entries(pages).map(([slug, gate]) => ({
        ...{ slug, title: slug, ...gate },
        components: [{ type: 'static', name: 'Part' }],
      })),
    };
    writeFileSync(join(elsewhere.path, 'pharos.yaml'), JSON.stringify(config));
    const options = { cwd: elsewhere.path, env: { PAGE_PASSWORD: 'a pass phrase of pages' } };
    const built = await runHere(['build', '--out', 'out', '--offline', '--sealed'], options);
    expect([built.status, built.stderr]).toEqual([0, '']);
    const there = Object.keys(pages).filter((slug) => existsSync(join(elsewhere.path, 'out', slug)));
    expect(there).toEqual(['plain']);
    elsewhere.remove();
  });

  it('ends sync with 1 when an upstream cannot be reached, names it and keeps what is known', async () => {
    configure(
      sandbox
        .configText({ include: ['server-monitor', 'openstatus'] })
        .replace(/baseUrl: .*/, 'baseUrl: http://127.0.0.1:9'),
    );
    const result = await run('sync', '--json');
    expect(result.status).toBe(1);
    const upstreams = JSON.parse(result.stdout).pass.upstreams as { upstreamId: string; kind: string; code?: string }[];
    expect(upstreams.find((item) => item.upstreamId === 'edge')).toMatchObject({
      kind: 'failed',
      code: 'UPSTREAM_UNREACHABLE',
    });
    expect(upstreams.find((item) => item.upstreamId === 'svc')?.kind).toBe('ok');
    expect((await run('build', '--out', 'out', '--offline')).status).toBe(0);
    expect(readFileSync(join(folder.path, 'out', 'acme', 'index.html'), 'utf8')).toContain('Website');
  });

  it('never prints a secret', async () => {
    configure(sandbox.configText());
    const outputs = await Promise.all([
      runElsewhere('check'),
      runElsewhere('check', '--json'),
      runElsewhere('sync', '--json'),
      runElsewhere('build', '--offline'),
    ]);
    const secrets = Object.values(sandbox.environment());
    for (const { stdout, stderr } of outputs)
      for (const secret of secrets) expect((stdout + stderr).includes(secret)).toBe(false);
  });

  it('draws a badge', async () => {
    const result = await runAlone('badge', 'uptime', '99.98%', '--color', 'green');
    expect(result.status).toBe(0);
    expect(result.stdout).toMatch(/^<svg[^>]* role="img"/);
    expect(result.stdout).toContain('<title>uptime: 99.98%</title>');
    expect((await run('badge', 'only one')).status).toBe(2);
    expect(await run('badge', 'a', 'b', '--style', 'flt')).toEqual({
      status: 2,
      stdout: '',
      stderr:
        '--style expects one of flat, square, pill, tall, dot, flat-text, square-text, pill-text, tall-text; got "flt". Did you mean flat?\n',
    });
    expect((await run('badge', 'a', 'b', '--color', 'grn')).stderr).toContain('#rrggbb; got "grn"');
  });

  it('names the page that was probably meant', async () => {
    configure(sandbox.configText());
    expect((await run('sync', '--upstream', 'svc')).status).toBe(0);
    const meant = (slug: string): string => `Did you mean ${slug}? Use one of: acme, partners, staff.`;
    for (const [args, slug] of [
      [['rollback', 'acmee'], 'acme'],
      [['badges', 'token', 'partnrs'], 'partners'],
      [['tokens', 'create', '--scope', 'read', '--page', 'staf'], 'staff'],
    ] as const)
      expect(await run(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(meant(slug)) });
  });
});
