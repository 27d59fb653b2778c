import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { eventually, type RunningPharos, runPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';

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
          checks: [website, { ...website, name: 'Old', active: false }, { ...website, name: 'Far', regions: ['fra'], periodicity: '1h' }],
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

const run = (...args: string[]) => runPharos(args, { cwd: folder.path });

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
    const { readFileSync } = await import('node:fs');
    const summary = JSON.parse(readFileSync(join(folder.path, 'site/status/api/v2/components.json'), 'utf8')) as {
      components: { name: string; status: string }[];
    };
    return { components: Object.fromEntries(summary.components.map(({ name, status: is }) => [name, is])) };
  }
});

describe('pharos start', () => {
  it('publishes the first result at once, and a fall within its period', async () => {
    pharos = await startPharos(['start', '--port', '0'], { cwd: folder.path });
    const { url } = pharos;
    const stateOf = async (): Promise<string> => {
      const answer = await fetch(`${url}/status/api/v2/components.json`);
      if (!answer.ok) return `status ${answer.status}`;
      const { components } = (await answer.json()) as { components: { name: string; status: string }[] };
      return components.find(({ name }) => name === 'Website')?.status ?? 'missing';
    };
    expect(await eventually(stateOf, (is) => is === 'operational')).toBe('operational');
    status = 500;
    const fell = await eventually(stateOf, (is) => is === 'major_outage');
    const again = fell === 'major_outage' ? fell : await eventually(stateOf, (is) => is === 'major_outage');
    expect(again).toBe('major_outage');
  }, 60_000);
});
