import { describe, expect, it } from 'vitest';
import { ownWords } from '../../../src/sync/http/http-faults.ts';

describe('what an upstream says about its own error', () => {
  it.each<[unknown, string | null]>([
    [{ success: false, error: 'key expired' }, '"key expired"'],
    [
      { status: 'error', errorType: 'bad_data', error: 'parse error: unclosed left brace' },
      '"parse error: unclosed left brace"',
    ],
    [{ error: { code: 7, message: 'no access' } }, '"no access"'],
    [{ errors: [{ message: 'first' }, { message: 'second' }] }, '"first"'],
    [{ errors: ['plain'] }, '"plain"'],
    [{ detail: 'a\u001b[31m\nb\u202e "c"' }, '"a [31m b \\"c\\""'],
    [{ message: 'x'.repeat(300) }, `"${'x'.repeat(200)}…"`],
    [{ error: 'bad key s3cret-value' }, '"bad key ***"'],
    [{ monitors: [] }, null],
    [{ error: null, message: '' }, null],
    ['error', null],
    [null, null],
  ])('of %j is %s', (payload, expected) => {
    expect(ownWords(payload, ['s3cret-value', 'x'])).toBe(expected);
  });
});
