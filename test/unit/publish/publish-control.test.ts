import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { createPublishControl } from '../../../src/publish/publish-control.ts';
import { raiseReleaseNumbers } from '../../../src/store/release-numbers.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

it('gives no number that a restored database has forgotten and that is known elsewhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-control-'));
  const { database } = openEmptySqlite(join(folder, 'pharos.db'), toEpochMs(Date.UTC(2026, 10, 22, 9)));
  const control = createPublishControl({
    database,
    numbersKnown: () => raiseReleaseNumbers(database, new Map([['acme', 7]])),
  } as unknown as Parameters<typeof createPublishControl>[0]);
  expect(await control.nextNumber('acme', 2)).toBe(8);
  await database.close();
  rmSync(folder, { recursive: true });
});
