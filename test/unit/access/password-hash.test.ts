import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/access/digest.ts';
import { DECOY_HASH, hashPassword, verifyPassword } from '../../../src/access/gate/password-hash.ts';

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;

describe('the hash of a password', () => {
  it('is argon2id, costs more than the least that OWASP advises, and never contains the password', async () => {
    const hash = await hashPassword('CANARY-1f3a', systemRandom);
    const [, memory, passes] = PHC.exec(hash) ?? [];
    expect(Number(memory)).toBeGreaterThanOrEqual(19_456);
    expect(Number(memory) * Number(passes)).toBeGreaterThan(19_456 * 2);
    expect(hash).not.toContain('CANARY');
  });

  it('fits its own password and no other', async () => {
    const hash = await hashPassword('open sesame', systemRandom);
    expect(await verifyPassword('open sesame', hash)).toBe(true);
    for (const other of ['open sesam', 'open sesame ', 'Open sesame', '', 'open sesame\u0000'])
      expect(await verifyPassword(other, hash), JSON.stringify(other)).toBe(false);
  });

  it('reads to the last of 5,000 characters', async () => {
    const long = 'x'.repeat(5_000);
    const hash = await hashPassword(`${long}a`, systemRandom);
    expect(await verifyPassword(`${long}b`, hash)).toBe(false);
    expect(await verifyPassword(`${long}a`, hash)).toBe(true);
  });

  it('takes a letter with its accent typed as one or as two signs for the same', async () => {
    const hash = await hashPassword('caf\u00e9', systemRandom);
    expect(await verifyPassword('cafe\u0301', hash)).toBe(true);
  });

  it('differs each time', async () => {
    expect(await hashPassword('same', systemRandom)).not.toBe(await hashPassword('same', systemRandom));
  });

  it('has a decoy of the same cost that nothing fits', async () => {
    const [, memory, passes] = PHC.exec(await hashPassword('x', systemRandom)) ?? [];
    expect(PHC.exec(DECOY_HASH)?.slice(1, 3)).toEqual([memory, passes]);
    expect(await verifyPassword('', DECOY_HASH)).toBe(false);
  });

  it('is nothing to a damaged string', async () => {
    for (const hash of ['', 'plain', '$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA', DECOY_HASH.slice(0, -1)])
      expect(await verifyPassword('x', hash)).toBe(false);
  });
});
