import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { componentPath, incidentPath, pathSegment } from '../../../src/views/text/addresses.ts';

describe('addresses', () => {
  it('keep plain ids and never climb out of their folder', () => {
    expect(incidentPath('2026-api-down')).toBe('incidents/2026-api-down/');
    expect(componentPath('../../etc')).toBe('components/~2e~~2e~~2f~..~2f~etc/');
    expect(pathSegment('a b/ü')).toBe('a~20~b~2f~~fc~');
  });

  it('never give two ids one segment', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(pathSegment(a) === pathSegment(b)).toBe(a === b);
        expect(pathSegment(a)).toMatch(/^(?!\.)[\w.~-]*$/);
      }),
      { numRuns: 500 },
    );
  });
});
