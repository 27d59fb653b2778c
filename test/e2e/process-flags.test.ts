import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startPharos, temporaryFolder } from '../helpers/pharos.ts';

/** What the command line of a running server says. */
describe.runIf(process.platform === 'linux')('a process that stays', () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  // Where it is set, as for other tests, no process begins again.
  beforeAll(() => void vi.stubEnv('MALLOC_TRIM_THRESHOLD_', undefined));
  afterAll(() => void vi.unstubAllEnvs());

  it('collects before its heap has grown much, with no other limit than it is told, and warns of nothing', async () => {
    const env = { NODE_OPTIONS: '--max-old-space-size=3000' };
    const pharos = await startPharos(['start', '--port', '0', '--quiet'], { cwd: folder.path, env });
    const flags = readFileSync(`/proc/${pharos.pid}/cmdline`, 'utf8').split('\0');
    await pharos.stop();
    const wanted = ['--max-semi-space-size=8', '--heap-growing-percent=25', '--expose-gc'];
    expect(flags).toEqual(expect.arrayContaining(wanted));
    expect(flags.filter((flag) => flag.includes('old-space'))).toEqual([]);
    expect(pharos.stderr()).not.toContain('ExperimentalWarning');
  });
});
