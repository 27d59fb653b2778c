import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { createPublishControl } from '../../../src/publish/publish-control.ts';
import type { Database } from '../../../src/store/database.ts';
import { raiseReleaseNumbers } from '../../../src/store/identities.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

let folder: string;
let database: Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-control-'));
  ({ database } = openEmptySqlite(join(folder, 'pharos.db'), toEpochMs(Date.UTC(2026, 10, 22, 9))));
});

afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

function controlWith(parts: Partial<Parameters<typeof createPublishControl>[0]>) {
  return createPublishControl({ database, ...parts } as Parameters<typeof createPublishControl>[0]);
}

it('gives no number that a restored database has forgotten and that is known elsewhere', async () => {
  const control = controlWith({ numbersKnown: () => raiseReleaseNumbers(database, new Map([['acme', 7]])) });
  expect(await control.nextNumber('acme', 2)).toBe(8);
});

describe('a release is served', () => {
  const release = { slug: 'acme', page: null, access: 'public', listed: [] } as const;
  const asked = vi.fn(async () => true);

  it('only once its number is on disk', async () => {
    const flushing = Promise.withResolvers<void>();
    const control = controlWith({ database: { ...database, flush: () => flushing.promise }, mayServe: asked });
    expect(await control.nextNumber('acme', 0)).toBe(1);
    const may = control.mayServe(release);
    await new Promise(setImmediate);
    expect(asked).not.toHaveBeenCalled();
    flushing.resolve();
    expect(await may).toBe(true);
  });

  it('not if its number could not be written to disk, until there is another', async () => {
    const flush = vi.fn(async () => undefined).mockRejectedValueOnce(new Error('EIO'));
    const control = controlWith({ database: { ...database, flush }, mayServe: asked });
    await control.nextNumber('acme', 0);
    await expect(control.mayServe(release)).rejects.toThrow('EIO');
    expect(await control.mayServe({ ...release, slug: 'other' })).toBe(true);
    expect(await control.nextNumber('acme', 0)).toBe(2);
    expect(await control.mayServe(release)).toBe(true);
  });
});
