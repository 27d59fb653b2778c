import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { folderFindings } from '../../../src/cli/doctor/machine.ts';
import { temporaryFolder } from '../../helpers/pharos.ts';

const folder = temporaryFolder();
const STEPS = ['mkdtempSync', 'writeFileSync', 'linkSync', 'symlinkSync', 'renameSync'] as const;
const originals = STEPS.map((name) => [name, fs[name]] as const);

afterEach(() => {
  for (const [name, original] of originals) Reflect.set(fs, name, original);
  syncBuiltinESMExports();
  folder.remove();
});

it.each(STEPS.flatMap((step) => ['ENOSPC', 'EDQUOT'].map((code) => [step, code] as const)))(
  'a disk that is full is named and nothing else, whatever fails first: %s, %s',
  async (step, code) => {
    const data = join(folder.path, 'data');
    Reflect.set(fs, step, () => {
      throw Object.assign(new Error(`${code}: no room`), { code });
    });
    syncBuiltinESMExports();
    expect(await folderFindings(data, true)).toEqual([
      expect.objectContaining({ name: 'disk space', result: 'fault', message: `the disk of ${data} is full` }),
    ]);
  },
);
