import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { runPharos, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { serverMonitorSandbox } from '../sandbox/kinds/server-monitor.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

/** A site that takes longer to build than memory is given back. */
const PAGES = 15;
const EACH = 30;
const MEMORY_GIVEN_BACK_EVERY_MS = 2_000;

/** What the command line of a running server says, its experimental calls included. */
describe.runIf(process.platform === 'linux')('a process that stays', () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);

  it('collects before its heap has grown much, with no other limit than it is told, and warns of nothing', async () => {
    const env = { NODE_OPTIONS: '--max-old-space-size=3000' };
    const pharos = await startPharos(['start', '--port', '0', '--quiet'], { cwd: folder.path, env });
    const flags = readFileSync(`/proc/${pharos.pid}/cmdline`, 'utf8').split('\0');
    await pharos.stop();
    expect(flags).toEqual(expect.arrayContaining(['--expose-gc', '--heap-growing-percent=50']));
    expect(flags.filter((flag) => flag.includes('old-space'))).toEqual([]);
    expect(pharos.stderr()).not.toContain('ExperimentalWarning');
  });

  it('or builds for some seconds warns of nothing', async () => {
    const now = () => toEpochMs(Date.now());
    const kinds = [serverMonitorSandbox({ limits: null })];
    const sandbox = await startSandbox({ port: 0, now, services: PAGES * EACH, isCalm: true, kinds });
    const pages = Array.from({ length: PAGES }, (_, page) => ({
      slug: `page-${page}`,
      title: `Page ${page}`,
      components: Array.from({ length: EACH }, (__, at) => ({
        type: 'monitor',
        monitor: `edge/${page * EACH + at + 1}`,
      })),
    }));
    const config = sandbox.configText({ include: ['server-monitor'], hasPages: false });
    writeFileSync(join(folder.path, 'pharos.yaml'), `${config}pages: ${JSON.stringify(pages)}\n`);
    const startedAt = performance.now();
    const built = await runPharos(['build', '--quiet'], { cwd: folder.path, env: sandbox.environment() });
    await sandbox.stop();
    expect(performance.now() - startedAt).toBeGreaterThan(MEMORY_GIVEN_BACK_EVERY_MS);
    expect([built.status, built.stderr]).toEqual([0, '']);
  });
});
