import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { metricsText } from '../helpers/metrics.ts';
import { eventually, type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const SLOW_MS = 20_000;
/**
 * How soon what the other says must be on the page. It takes a second; a machine with other work gets more, and still it is
 * half of what passes before the first question to the slow one is given up.
 */
const SOON_MS = 5_000;
const HOOK = 'hook-secret-333333333333';

describe('an upstream that hangs', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;
  let token: string;
  let config: string;

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    const env: Record<string, string> = { ...sandbox.environment(), HOOK };
    token = env['PHAROS_TOKEN'] ?? '';
    config = sandbox
      .configText({ include: ['server-monitor', 'uptime'] })
      .replace('auth: x-api-key', 'auth: x-api-key\n    hook: { secrets: ["${HOOK}"] }');
    writeFileSync(join(folder.path, 'pharos.yaml'), `${config}schedule: "0 0 1 * *"\n`);
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    await untilFresh(pharos);
  });
  afterAll(async () => {
    // It waits for no answer that does not come.
    const startedAt = performance.now();
    await pharos?.stop();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await sandbox?.stop();
    folder.remove();
  });

  /** What the page says of a service of the upstream that is well. */
  const stateOf = async (name: string): Promise<string> => {
    const { components } = (await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json()) as {
      components: { name: string; status: string }[];
    };
    return components.find((component) => component.name === name)?.status ?? 'missing';
  };
  const runsTotal = async (): Promise<number> => {
    const text = await metricsText(pharos.url, token);
    return [...text.matchAll(/^pharos_runs_total\{[^}]*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  const post = async (path: string, headers: Record<string, string>): Promise<{ run: string }> =>
    (await fetch(`${pharos.url}/-/${path}`, { method: 'POST', headers })).json() as Promise<{ run: string }>;

  it('holds back neither what others answered nor a notification, and all of it is one run', async () => {
    const [name, key] = ['CDN', 'cdn'] as const;
    expect(await stateOf(name)).toBe('operational');
    // Pages are ready a moment before the first run has ended.
    const runsBefore = await eventually(runsTotal, (count) => count === 1);
    sandbox.faults.set('uptime', { name: 'slow', delayMs: SLOW_MS });

    sandbox.world.force(key, 'down');
    const rebuilt = await post('rebuild', { authorization: `Bearer ${token}` });
    await expect.poll(() => stateOf(name), { timeout: SOON_MS, interval: 50 }).toBe('major_outage');

    sandbox.world.force(key, 'up');
    const hooked = await post('hooks/edge', { 'x-webhook-secret': HOOK });
    await expect.poll(() => stateOf(name), { timeout: SOON_MS, interval: 50 }).toBe('operational');

    expect(hooked.run).toBe(rebuilt.run);
    expect(await runsTotal()).toBe(runsBefore);
  });

  it('does not keep a page open that the configuration closes, also when a reload waits for it already', async () => {
    const status = async (): Promise<number> => (await fetch(`${pharos.url}/acme/`)).status;
    sandbox.faults.set('uptime', { name: 'slow', delayMs: SLOW_MS });
    await post('rebuild', { authorization: `Bearer ${token}` });
    process.kill(pharos.pid, 'SIGHUP');
    // It has been begun, and waits for the run.
    await new Promise((later) => setTimeout(later, 500));
    expect(await status()).toBe(200);
    const closed = config.replace('slug: acme', 'slug: acme\n    password: "${PARTNERS_PASSWORD}"');
    writeFileSync(join(folder.path, 'pharos.yaml'), `${closed}schedule: "0 0 1 * *"\n`);
    process.kill(pharos.pid, 'SIGHUP');
    await expect.poll(status, { timeout: SOON_MS, interval: 50 }).toBe(404);
  });
});
