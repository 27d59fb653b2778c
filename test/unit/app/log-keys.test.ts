import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { siteLogKeys } from '../../../src/app/transparency.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { Secret } from '../../../src/schema/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { formatKey } from '../../../src/transparency/note.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

describe('the keys that sign logs', () => {
  let folder: string;
  let database: Database;
  let warnings: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-log-keys-'));
    warnings = [];
    ({ database } = openEmptySqlite(join(folder, 'pharos.db'), toEpochMs(Date.UTC(2026, 10, 22, 9))));
  });
  afterEach(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });

  /** Reads the key in use, as a node with this `access.key` does. */
  const nodeWith = (accessKey: string): (() => Promise<string>) => {
    const keys = siteLogKeys({
      database,
      key: new Secret(accessKey.repeat(32)),
      live: { config: () => ({ site: { url: 'https://status.example.com' }, transparency: {} }) },
      log: { warn: (words: unknown) => void warnings.push(String(words)) },
    } as unknown as Parameters<typeof siteLogKeys>[0]);
    return async () => formatKey((await keys()).current);
  };

  it('are one for all nodes of a database that have the same access.key', async () => {
    const [one, other] = [nodeWith('a'), nodeWith('a')];
    const used = [await one(), await other(), await one()];
    expect(new Set(used).size).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('are not made anew in turn by nodes that cannot read those of the others, and each says so once', async () => {
    const [one, other] = [nodeWith('a'), nodeWith('b')];
    const used: string[] = [];
    for (let round = 0; round < 3; round += 1) used.push(await one(), await other());
    expect(new Set(used).size).toBe(2);
    expect(await database.all('SELECT verifier FROM log_key')).toHaveLength(2);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/Set the same access\.key on all nodes/);
  });
});
