import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { startPharos, temporaryFolder } from '../helpers/pharos.ts';

const LIMIT = '--max-old-space-size=1024';

/** What the command line of a running server says, its experimental calls included. */
describe.runIf(process.platform === 'linux')('a process that stays', () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);

  async function begun(options?: string): Promise<{ readonly flags: readonly string[]; readonly stderr: string }> {
    const env = { NODE_OPTIONS: options ?? '' };
    const pharos = await startPharos(['start', '--port', '0', '--quiet'], { cwd: folder.path, env });
    const flags = readFileSync(`/proc/${pharos.pid}/cmdline`, 'utf8').split('\0');
    await pharos.stop();
    return { flags, stderr: pharos.stderr() };
  }

  it('has a heap that is limited, where V8 would let it have more', async () => {
    const script = 'console.log(v8.getHeapStatistics().heap_size_limit > 2 ** 30)';
    const hasMore = execFileSync(process.execPath, ['-e', script], { env: {}, encoding: 'utf8' }).trim() === 'true';
    const { flags, stderr } = await begun();
    expect(flags).toContain('--expose-gc');
    expect(flags.includes(LIMIT)).toBe(hasMore);
    expect(stderr).not.toContain('ExperimentalWarning');
  });

  it.each(['--max-old-space-size=3000', '--max_old_space_size=600'])(
    'keeps a limit that it is told (%s)',
    async (told) => {
      const { flags } = await begun(told);
      expect(flags).toContain('--expose-gc');
      expect(flags.filter((flag) => flag.includes('old-space'))).toEqual([]);
    },
  );
});
