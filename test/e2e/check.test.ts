import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { startJsonServer } from '../helpers/json-server.ts';
import { type CommandResult, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

describe('pharos check', () => {
  let sandbox: Sandbox;
  const folder = temporaryFolder();
  const run = (...args: string[]): Promise<CommandResult> =>
    runWarm(args, { cwd: folder.path, env: sandbox.environment() });
  const configure = (text: string): void => writeFileSync(join(folder.path, 'pharos.yaml'), text);
  const post = (name: string, text: string): void => writeFileSync(join(folder.path, 'posts', name), text);

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    mkdirSync(join(folder.path, 'posts'));
  });
  afterAll(async () => {
    await sandbox?.stop();
    folder.remove();
  });

  it('names what the configuration and posts name and nothing has, before the first pass and after it', async () => {
    const typos = sandbox
      .configText()
      .replace('monitor: edge/4', 'monitor: edge/44444')
      .replace('home: acme', 'home: amce')
      .replace('upstreams:', 'upstreams:\n  - { id: posts, kind: markdown, path: ./posts }');
    const posted = (component: string) =>
      `---\ntype: incident\ntitle: X\nstarted: 2026-11-21T08:00:00Z\ncomponents: [${component}]\n---\nWe are looking.\n`;
    post('api.md', posted('acme/edgee-3'));
    post('auth.md', posted('acme/edge-3'));
    expect(typos).toContain('edge/44444');
    configure(`${typos}data: ./data-typos\n`);
    for (const _round of ['asked', 'remembered']) {
      const result = await run('check');
      expect(result.status).toBe(2);
      expect(result.stdout).toContain('pharos.yaml refers to something that does not exist');
      expect(result.stdout).toMatch(
        /✗ pages\[\d\]\.components\[\d\]\.monitor \(line \d+\): edge has no monitor edge\/44444\./,
      );
      expect(result.stdout).toContain(
        '✗ posts/api: components: There is no component acme/edgee-3. Did you mean acme/edge-3?',
      );
      expect(result.stdout).not.toContain('posts/auth');
      expect(result.stdout).toMatch(/✗ site\.home \(line \d+\): There is no page amce\. Did you mean acme\?/);
      const { ok, references } = JSON.parse((await run('check', '--json')).stdout);
      expect(ok).toBe(false);
      expect(references).toContainEqual({
        place: 'site.home',
        message: 'There is no page amce. Did you mean acme?',
        isPast: false,
        line: expect.any(Number),
      });
      expect((await run('sync')).status).toBe(0);
    }
    configure(sandbox.configText());
  });

  it('knows the own checks that the configuration has, whatever the last pass knew', async () => {
    const text = (checks: readonly string[], components: readonly string[]) =>
      JSON.stringify({
        site: { url: 'http://127.0.0.1:4321', name: 'Example' },
        data: './data-checks',
        upstreams: [
          {
            ...{ id: 'own', kind: 'checks' },
            checks: checks.map((name) => ({ name, type: 'tcp', uri: '127.0.0.1:9', periodicity: '1h' })),
          },
        ],
        pages: [{ slug: 'acme', components: components.map((id) => ({ id, monitor: `own/${id}` })) }],
      });
    configure(text(['shop'], ['shop']));
    expect((await run('sync')).status).toBe(0);
    const statuses: number[] = [];
    for (const checks of [['shop', 'mail'], ['shop'], ['mail']]) {
      configure(text(checks, ['shop', 'mail']));
      for (const how of [[], ['--offline']]) statuses.push((await run('check', ...how)).status);
    }
    const { stdout } = await run('sync', '--json');
    configure(sandbox.configText());
    expect(statuses).toEqual([0, 0, 2, 2, 2, 2]);
    // Nothing is waited for until the one that took another's place is known.
    expect(stdout).toContain('"own"');
    expect(stdout).not.toContain('disappeared at once');
  });

  it('asks an upstream that never answered for its lists once', async () => {
    const results = [{ success: true, duration: 1e6, timestamp: '2026-11-21T08:00:00Z' }];
    const server = await startJsonServer(() => [{ key: 'core_api', name: 'API', group: 'core', results }]);
    configure(
      JSON.stringify({
        site: { url: 'http://127.0.0.1:4321', name: 'Example' },
        data: './data-once',
        upstreams: [{ id: 'gatus', kind: 'gatus', url: server.url }],
        pages: [{ slug: 'acme', title: 'Acme', components: [{ type: 'monitor', monitor: 'gatus/core_api' }] }],
      }),
    );
    const { status, stdout } = await run('check', '--json');
    await server.stop();
    configure(sandbox.configText());
    expect([status, JSON.parse(stdout).upstreams]).toEqual([
      0,
      [expect.objectContaining({ isOk: true, summary: '1 monitor', monitorsTotal: 1 })],
    ]);
    expect(server.asked).toHaveLength(1);
  });
});
