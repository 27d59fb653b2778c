import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { createPublishControl } from '../../../src/publish/publish-control.ts';
import { releaseFolders } from '../../../src/publish/releases/folders.ts';
import type { Database } from '../../../src/store/database.ts';
import { raiseReleaseNumbers } from '../../../src/store/release-numbers.ts';
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
  const folders = releaseFolders(folder);
  return createPublishControl({ database, folders, ...parts } as Parameters<typeof createPublishControl>[0]);
}

it('gives no number that a restored database has forgotten and that is known elsewhere', async () => {
  const control = controlWith({ numbersKnown: () => raiseReleaseNumbers(database, new Map([['acme', 7]])) });
  expect(await control.nextNumber('acme', 2)).toBe(8);
});

it('switches to a release only once its number is on disk', async () => {
  const flushing = Promise.withResolvers<void>();
  const control = controlWith({ database: { ...database, flush: () => flushing.promise }, now: () => toEpochMs(0) });
  const switching = vi.fn(async () => undefined);
  expect(await control.nextNumber('acme', 0)).toBe(1);
  const switched = control.withLease(({ pass }) => pass(switching));
  await database.transaction(async () => undefined);
  await new Promise(setImmediate);
  expect(switching).not.toHaveBeenCalled();
  flushing.resolve();
  await switched;
  expect(switching).toHaveBeenCalledOnce();
});

it('does not switch to a release whose number could not be written to disk', async () => {
  const control = controlWith({
    database: { ...database, flush: () => Promise.reject(new Error('EIO')) },
    now: () => toEpochMs(0),
  });
  const switching = vi.fn(async () => undefined);
  await control.nextNumber('acme', 0);
  await expect(control.withLease(({ pass }) => pass(switching))).rejects.toThrow('EIO');
  expect(switching).not.toHaveBeenCalled();
});
