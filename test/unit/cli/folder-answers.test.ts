import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireAnswer } from '../../../src/cli/doctor/machine.ts';
import { createFolder } from '../../../src/publish/targets/object-store.ts';

describe('a folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-answers-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('that answers is made where it is missing', async () => {
    await requireAnswer(join(folder, 'a', 'b'));
    expect(existsSync(join(folder, 'a', 'b'))).toBe(true);
  });

  // Node's recursive mkdir never returns there, as a share does whose server is gone.
  it.skipIf(!existsSync('/proc/self'))('that never answers is given up in time (Linux only)', async () => {
    await expect(requireAnswer('/proc/nosuch/site', 500)).rejects.toMatchObject({
      code: 'TARGET_UNREACHABLE',
      message: expect.stringContaining('/proc/nosuch/site did not respond within 0.5 seconds'),
    });
  });

  it.skipIf(!existsSync('/proc/self'))(
    'below /proc is refused as a target, and hangs nothing (Linux only)',
    async () => {
      await expect(createFolder('/proc/nosuch/site').put('index.html', Buffer.from('x'))).rejects.toMatchObject({
        code: 'TARGET_UNREACHABLE',
        message: expect.stringContaining('Can’t write to the folder /proc/nosuch/site: '),
      });
    },
  );

  it('is made with all above it by the first file, also by several at once', async () => {
    const store = createFolder(join(folder, 'x', 'y'));
    const keys = Array.from({ length: 20 }, (_, index) => `a/b/c/${index % 4}/${index}`);
    await Promise.all(keys.map((key) => store.put(key, Buffer.from(key))));
    for (const key of keys) expect((await store.get(key))?.toString()).toBe(key);
  });
});
