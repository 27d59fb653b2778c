import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectation, holds } from '../../../src/checks/measure.ts';

describe('an assertion', () => {
  it('holds as its comparator says', () => {
    const cases: readonly (readonly [
      found: string | number,
      comparator: Parameters<typeof holds>[1],
      target: string | number,
    ])[] = [
      [200, 'eq', 200],
      ['200', 'eq', 200],
      [404, 'neq', 200],
      [201, 'gt', 200],
      [200, 'gte', 200],
      [199, 'lt', 200],
      [200, 'lte', 200],
      ['all is well', 'contains', 'is w'],
      ['all is well', 'not_contains', 'Is'],
      ['', 'empty', ''],
      [' ', 'not_empty', ''],
      // As numbers where both are some, else as texts.
      ['9', 'lt', '10'],
      ['1e2', 'gt', '99'],
      ['9a', 'gt', '10a'],
      ['b', 'gt', 'a'],
      ['', 'lt', '0'],
    ];
    expect(cases.filter((one) => !holds(...one))).toEqual([]);
    expect(holds('1.0', 'eq', '1')).toBe(false);
  });

  it('is the opposite of its opposite, whatever is compared', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.integer().map(String));
    const pairs = [
      ['eq', 'neq'],
      ['contains', 'not_contains'],
      ['empty', 'not_empty'],
      ['gt', 'lte'],
      ['lt', 'gte'],
    ] as const;
    fc.assert(
      fc.property(value, value, fc.constantFrom(...pairs), (found, target, [one, other]) => {
        expect(holds(found, one, target)).toBe(!holds(found, other, target));
      }),
    );
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(holds(a, 'gt', b)).toBe(holds(b, 'lt', a));
      }),
    );
  });

  it('is told in words, with what is configured only where that is no secret', () => {
    expect(expectation('the status', 'gte', 200)).toBe('expected the status to be at least 200');
    expect(expectation('the body', 'contains')).toBe('expected the body to contain what is configured');
    expect(expectation('the header X', 'not_empty')).toBe('expected the header X not to be empty');
  });
});
