import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/sync/http/json.ts';

const parse = (text: string | Uint8Array) => parseJson(Buffer.from(text));
const read = (text: string | Uint8Array): unknown => {
  const parsed = parse(text);
  if (!parsed.isValid) throw new Error(parsed.reason);
  return parsed.value;
};

describe('JSON of somebody we do not trust', () => {
  it('that is harmless is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (text) => {
        const clean = text.includes('__proto__') || /\\u[dD][89a-fA-F]/.test(text) || /\d{16}/.test(text);
        if (!clean) expect(read(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(typeof parseJson(bytes).isValid).toBe('boolean');
      }),
      { numRuns: 1_000 },
    );
  });

  it('a key named __proto__ is left out, however it is written, and no prototype changes', () => {
    const texts = ['{"__proto__":{"isAdmin":true},"a":1}', '{"\\u005f_proto__":{"isAdmin":true},"a":1}'];
    for (const text of texts) {
      const value = read(text) as Record<string, unknown>;
      expect(Object.getOwnPropertyNames(value)).toEqual(['a']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(value['isAdmin']).toBeUndefined();
    }
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it('lone surrogates in values and keys become a replacement character', () => {
    expect(read('["a\\ud800b", "\\udc00", "\\ud83d\\ude00"]')).toEqual(['a\ufffdb', '\ufffd', '😀']);
    expect(read('{"\\ud800":1}')).toEqual({ '\ufffd': 1 });
  });

  it('a NUL, which not every store can keep, becomes a replacement character', () => {
    expect(read('{"a\\u0000":"b\\u0000c"}')).toEqual({ 'a\ufffd': 'b\ufffdc' });
  });

  it('bytes that are no UTF-8 become replacement characters', () => {
    expect(read(Buffer.from([0x22, 0xff, 0x61, 0x22]))).toBe('\ufffda');
  });

  it('a string beyond 65,536 characters is cut, without leaving half of a pair', () => {
    expect(read(JSON.stringify(['x'.repeat(65_536), 'y'.repeat(65_537)]))).toEqual([
      'x'.repeat(65_536),
      'y'.repeat(65_536),
    ]);
    const cut = read(JSON.stringify(`${'x'.repeat(65_535)}😀`)) as string;
    expect(cut.isWellFormed()).toBe(true);
  });

  it('integers that a number cannot hold stay apart, as strings', () => {
    const text =
      '[{"id":12345678901234567890},{"id":12345678901234567891},{"id":-9007199254740993},{"id":9007199254740991}]';
    expect(read(text)).toEqual([
      { id: '12345678901234567890' },
      { id: '12345678901234567891' },
      { id: '-9007199254740993' },
      { id: 9_007_199_254_740_991 },
    ]);
    expect(read('[0.1234567890123456, 1e400, "12345678901234567890"]')).toEqual([
      0.1234567890123456,
      Number.POSITIVE_INFINITY,
      '12345678901234567890',
    ]);
  });

  it('64 levels are taken, 65 are not; brackets inside strings do not count', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64)).isValid).toBe(true);
    expect(parse('['.repeat(65) + ']'.repeat(65))).toEqual({ isValid: false, reason: 'nests deeper than 64 levels' });
    expect(parse(JSON.stringify(['['.repeat(100), '\\"[[['])).isValid).toBe(true);
  });

  it('a million values are the most', () => {
    expect(parse(`[${'0,'.repeat(999_998)}0]`).isValid).toBe(true);
    expect(parse(`[${'0,'.repeat(1_000_001)}0]`)).toMatchObject({ isValid: false });
    expect(parse(`[${'[],'.repeat(600_000)}[]]`)).toMatchObject({ isValid: false });
  });

  it('the reason quotes nothing of the text', () => {
    for (const text of ['CANARY', '{"a": CANARY}', '["CANARY', '{"CANARY" 1}', '{"a":1}CANARY', '"\u0001CANARY"']) {
      const parsed = parse(text);
      expect(parsed.isValid).toBe(false);
      expect(JSON.stringify(parsed)).not.toContain('CANARY');
    }
  });
});
