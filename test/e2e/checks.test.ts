import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { SHORT_PERIODS } from '../helpers/nodes.ts';
import { eventually, type RunningPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';

const BIN = resolve(import.meta.dirname, '../../bin/pharos.js');
const folder = temporaryFolder();
let status = 200;
let shop: Server;
let pharos: RunningPharos | null = null;

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

beforeAll(async () => {
  shop = createServer((_, response) => response.writeHead(status).end('fine')).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const website = { name: 'Website', type: 'http', url: addressOf(shop), periodicity: '30s' };
  writeFileSync(
    join(folder.path, 'pharos.yaml'),
    stringify({
      site: { url: 'http://127.0.0.1:4321' },
      upstreams: [
        {
          id: 'checks',
          kind: 'checks',
          checks: [
            website,
            { ...website, name: 'Old', active: false },
            { ...website, name: 'Far', regions: ['fra'], periodicity: '1h' },
          ],
        },
      ],
    }),
  );
});
afterAll(async () => {
  await pharos?.stop();
  shop.close();
  folder.remove();
});

const run = (...args: string[]) => runWarm(args, { cwd: folder.path });

describe('pharos checks run', () => {
  it('prints what came of each, and fails when something is down', async () => {
    const good = await run('checks', 'run');
    expect([good.status, good.stderr]).toEqual([0, '']);
    expect(good.stdout).toMatch(/✓ +checks\/website +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms +operational/);
    expect(good.stdout).not.toContain('checks/old');
    status = 503;
    const bad = await run('checks', 'run', 'Website', '--json');
    expect(bad.status).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      ok: false,
      place: 'local',
      checks: [
        {
          id: 'checks/website',
          state: 'major_outage',
          fault: 'status 503',
          milliseconds: { total: expect.any(Number) },
        },
      ],
    });
    status = 200;
  });

  it('refuses a name that nothing has', async () => {
    const refused = await run('checks', 'run', 'websit');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('There is no check "websit". Did you mean website?');
  });
});

describe('pharos build', () => {
  it('makes the checks that are due, once', async () => {
    const { components } = await built();
    expect(components).toEqual({ Website: 'operational', Old: 'under_maintenance', Far: 'operational' });
    status = 500;
    // Not due again yet.
    expect((await built()).components['Far']).toBe('operational');
    status = 200;
  });

  async function built(): Promise<{ readonly components: Readonly<Record<string, string>> }> {
    const result = await run('build', '--out', 'site', '--json');
    expect(result.stderr).toBe('');
    const summary = JSON.parse(readFileSync(join(folder.path, 'site/status/api/v2/components.json'), 'utf8')) as {
      components: { name: string; status: string }[];
    };
    return { components: Object.fromEntries(summary.components.map(({ name, status: is }) => [name, is])) };
  }
});

describe('pharos init --check', () => {
  it('asks nothing, and its workflow publishes a page without any other service', async () => {
    const repository = temporaryFolder();
    let answer = 200;
    const site = createServer((_, response) => response.writeHead(answer).end('fine')).listen(0, '127.0.0.1');
    await once(site, 'listening');
    try {
      const made = await runWarm(['init', '--check', addressOf(site), '--deploy', 'github-pages'], {
        cwd: repository.path,
      });
      expect([made.status, made.stderr]).toEqual([0, '']);
      expect(made.stdout).not.toContain('export ');
      const workflow = parse(readFileSync(join(repository.path, '.github/workflows/pharos.yml'), 'utf8')) as {
        jobs: { build: { steps: { run?: string; if?: string; env?: object | null }[] } };
      };
      const { steps } = workflow.jobs.build;
      expect(steps.filter(({ env }) => env !== undefined)).toEqual([]);
      const scripts = steps.flatMap(({ run: script, if: when }) =>
        script === undefined || when !== undefined || script.startsWith('npm ci') ? [] : [script],
      );
      expect(scripts).toHaveLength(2);
      // What `npm ci` installs.
      const bin = join(repository.path, 'bin');
      mkdirSync(bin);
      writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
      const runWorkflow = async (): Promise<string> => {
        for (const script of scripts)
          await promisify(execFile)('bash', ['-e', '-c', script], {
            cwd: repository.path,
            env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
          });
        const file = join(repository.path, '_site/status/api/v2/components.json');
        return (
          (JSON.parse(readFileSync(file, 'utf8')) as { components: { status: string }[] }).components[0]?.status ?? ''
        );
      };
      expect(await runWorkflow()).toBe('operational');
      answer = 500;
      // As if the next run came ten minutes later.
      const database = new DatabaseSync(join(repository.path, 'data/pharos.db'));
      database.exec(
        "UPDATE check_result SET document = json_set(document, '$.at', json_extract(document, '$.at') - 600000)",
      );
      database.close();
      expect(await runWorkflow()).toBe('major_outage');
    } finally {
      site.close();
      repository.remove();
    }
  });
});

describe('pharos start', () => {
  it('publishes the first result at once, and a fall within its period', async () => {
    pharos = await startPharos(['start', '--port', '0'], { cwd: folder.path, env: { NODE_OPTIONS: SHORT_PERIODS } });
    const { url } = pharos;
    const stateOf = async (): Promise<string> => {
      const answer = await fetch(`${url}/status/api/v2/components.json`);
      if (!answer.ok) return `status ${answer.status}`;
      const { components } = (await answer.json()) as { components: { name: string; status: string }[] };
      return components.find(({ name }) => name === 'Website')?.status ?? 'missing';
    };
    expect(await eventually(stateOf, (is) => is === 'operational')).toBe('operational');
    status = 500;
    expect(await eventually(stateOf, (is) => is === 'major_outage')).toBe('major_outage');
  });
});
