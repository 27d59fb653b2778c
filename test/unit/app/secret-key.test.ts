import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretKeyIn } from '../../../src/app/secret-key.ts';

describe('the key of hashes of addresses', () => {
  let data: string;

  beforeEach(() => {
    data = join(mkdtempSync(join(tmpdir(), 'pharos-key-')), 'data');
  });
  afterEach(() => {
    rmSync(join(data, '..'), { recursive: true });
  });

  it('is made once in the data folder, for its owner only, and never printed', () => {
    const key = secretKeyIn(data);
    expect(Buffer.from(key.reveal(), 'base64url')).toHaveLength(32);
    expect(secretKeyIn(data).reveal()).toBe(key.reveal());
    expect(String(key)).toBe('***');
    expect(readdirSync(data)).toEqual(['secret.key']);
    expect(statSync(join(data, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(data, 'secret.key'), 'utf8').trim()).toBe(key.reveal());
  });

  it('that is damaged is refused with what to do', () => {
    secretKeyIn(data);
    writeFileSync(join(data, 'secret.key'), '');
    expect(() => secretKeyIn(data)).toThrow(
      /secret\.key is not a valid key\. Restore it from a backup\. Or delete it .* subscribers can no longer be read/,
    );
  });
});
