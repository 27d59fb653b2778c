import { expect, it } from 'vitest';
import { estimatedWidth, outlinePath, outlineWidth } from '../../../src/badges/lettering/outline.ts';
import { pathContours } from '../../helpers/path-points.ts';

const TEXTS = [
  '',
  'i',
  'Tokyo',
  'okyoT',
  'AVAVA',
  'To. Ay',
  'P.F,',
  ' a  b ',
  'Größe Łódź',
  'Ελληνικά Ж',
  'é',
  '99.98 %',
];

it.each(TEXTS)('the pen ends where the width says, in either weight, tracked or not: %j', (text) => {
  for (const weight of ['regular', 'bold'] as const)
    for (const tracking of [0, 8]) {
      const end = pathContours(outlinePath(text, { weight, tracking })).end;
      expect(end).toEqual({ x: outlineWidth(text, { weight, tracking }), y: 0 });
    }
});

it('letters of a pair that goes together stand closer, wherever in the text the pair begins', () => {
  const width = (text: string) => outlineWidth(text, { weight: 'regular', tracking: 0 });
  expect(width('To')).toBe(width('T') + width('o') - 19);
  expect(width('iTo')).toBe(width('iT') + width('o') - 19);
});

it('a text with one letter that is not covered has no outline', () => {
  for (const text of ['東', 'a東', 'العربية', '😀', 'a\u0335'])
    expect(outlineWidth(text, { weight: 'regular', tracking: 0 })).toBe(-1);
});

it('room for other scripts grows with what is seen: marks and joiners take none', () => {
  const width = (text: string) => estimatedWidth(text, { weight: 'regular', tracking: 0 });
  expect(width('東京')).toBe(2 * width('東'));
  expect(width('क\u093f')).toBe(width('क'));
  expect(width('e\u0335')).toBe(width('e'));
  expect(width('abc')).toBe(width('a') + width('b') + width('c'));
});
