import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/access/digest.ts';
import { openKey } from '../../../src/app/secret-key.ts';
import { parseEmailAddress } from '../../../src/mail/mail.ts';
import { toPageKey } from '../../../src/model/slugs.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { addSubscribers, createAddressSeal } from '../../../src/notify/subscribers.ts';
import { Secret } from '../../../src/schema/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

const T0 = toEpochMs(Date.UTC(2026, 10, 22, 9));

describe('the key of hashes and addresses', () => {
  let data: string;
  let file: string;
  let database: Database;
  let warnings: string[];

  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-key-'));
    data = join(folder, 'data');
    file = join(data, 'secret.key');
    warnings = [];
    ({ database } = openEmptySqlite(join(folder, 'pharos.db'), T0));
  });
  afterEach(async () => {
    await database.close();
    rmSync(join(data, '..'), { recursive: true });
  });

  const open = (over: Partial<Parameters<typeof openKey>[0]> = {}) =>
    openKey({
      ...{ data, database, configured: null, isNewKey: false },
      log: { warn: (words: unknown) => void warnings.push(String(words)) },
      ...over,
    });
  const subscribe = async (key: Secret, ...addresses: string[]): Promise<void> => {
    await addSubscribers(
      { database, seal: createAddressSeal(key, systemRandom), random: systemRandom, now: T0 },
      addresses.map((address) => {
        const email = parseEmailAddress(address);
        if (email === null) throw new Error(address);
        return { page: toPageKey('acme', 1), email, components: [], gate: '', isConfirmed: true };
      }),
    );
  };

  it('is made once in the data folder, for its owner only, and never printed', async () => {
    const key = await open();
    expect(Buffer.from(key.reveal(), 'base64url')).toHaveLength(32);
    expect((await open()).reveal()).toBe(key.reveal());
    expect(String(key)).toBe('***');
    expect(readdirSync(data)).toEqual(['secret.key']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(key.reveal());
  });

  it('that is damaged is refused with what to do', async () => {
    await open();
    writeFileSync(file, '');
    await expect(open()).rejects.toThrow(/secret\.key is not a valid key\. Restore it from a backup\. Or delete it/);
  });

  it('that is missing or another one is refused while there are subscribers, and nothing is made', async () => {
    const key = await open();
    await subscribe(key, 'a@mail.example', 'b@mail.example');
    rmSync(file);
    await expect(open()).rejects.toThrow(
      /^The addresses of 2 subscribers are encrypted with a key that is not in .*secret\.key\. .* Restore .*secret\.key from a backup\. To go on with a new key, run "pharos start --new-key"/,
    );
    expect(readdirSync(data)).toEqual([]);
    writeFileSync(file, `${'A'.repeat(43)}\n`);
    await expect(open()).rejects.toThrow(/with another key than .*secret\.key/);
    const configured = new Secret('an access.key of an operator, of tests');
    await expect(open({ configured })).rejects.toThrow(/with another key than access\.key.*previous value/);
    writeFileSync(file, `${key.reveal()}\n`);
    expect((await open()).reveal()).toBe(key.reveal());
  });

  it('that is new is accepted for good once that was said, and the old one too when it is back', async () => {
    const old = await open();
    await subscribe(old, ...Array.from({ length: 60 }, (_one, index) => `old${index}@mail.example`));
    rmSync(file);
    const fresh = await open({ isNewKey: true });
    expect(fresh.reveal()).not.toBe(old.reveal());
    expect((await open()).reveal()).toBe(fresh.reveal());
    await subscribe(fresh, ...Array.from({ length: 60 }, (_one, index) => `new${index}@mail.example`));
    expect((await open()).reveal()).toBe(fresh.reveal());
    writeFileSync(file, `${old.reveal()}\n`);
    expect((await open()).reveal()).toBe(old.reveal());
    writeFileSync(file, `${'B'.repeat(43)}\n`);
    await expect(open()).rejects.toThrow(/addresses of 120 subscribers/);
  });

  it('that is missing beside a database that can only be read is a warning: pages are served', async () => {
    const key = await open();
    await subscribe(key, 'a@mail.example');
    rmSync(file);
    await open({ database: { ...database, isReadOnly: true } });
    expect(warnings).toEqual([expect.stringContaining('does not exist and can’t be created')]);
    expect(readdirSync(data)).toEqual([]);
  });
});
