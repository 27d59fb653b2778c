import { describe, expect, it } from 'vitest';
import { digest, isToken, newToken, systemRandom } from '../../../src/access/digest.ts';

/** A million when PHAROS_TEST_SCALE is 40. */
const TOKENS = 25_000 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1);

describe('a token', () => {
  it('has 256 bits, evenly spread, and never comes twice', () => {
    const seen = new Set<string>();
    const counts = new Array<number>(256).fill(0);
    for (let index = 0; index < TOKENS; index += 1) {
      const token = newToken(systemRandom);
      seen.add(token);
      for (const byte of Buffer.from(token, 'base64url')) counts[byte] = (counts[byte] ?? 0) + 1;
    }
    expect(seen.size).toBe(TOKENS);
    expect(Buffer.from([...seen][0] ?? '', 'base64url')).toHaveLength(32);
    const expected = (TOKENS * 32) / 256;
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 255 degrees of freedom: beyond 377 once in a million runs, so a failure is a finding.
    expect(chiSquare).toBeLessThan(377);
  });

  it('is recognised by its form alone', () => {
    expect(isToken(newToken(systemRandom))).toBe(true);
    for (const text of [null, undefined, '', 'short', `${'a'.repeat(43)}=`, 'a'.repeat(44), `${'a'.repeat(42)}'`])
      expect(isToken(text)).toBe(false);
  });

  it('is stored as a digest whose parts cannot run into one another', () => {
    expect(digest('ab', 'c')).not.toBe(digest('a', 'bc'));
    expect(digest('a', '')).not.toBe(digest('a'));
    expect(digest('a', '1:b')).not.toBe(digest('a1:', 'b'));
  });
});
