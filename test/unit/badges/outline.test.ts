import { expect, it } from 'vitest';
import { estimatedWidth, outlineText, toCapitals, typeset } from '../../../src/badges/lettering/outline.ts';
import { pathContours } from '../../helpers/path-points.ts';

const REGULAR = typeset('regular', 0, false);

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
      const outline = outlineText(text, typeset(weight, tracking, false));
      expect(pathContours(outline?.path ?? '').end).toEqual({ x: outline?.width, y: 0 });
    }
});

it('letters of a pair that goes together stand closer, wherever in the text the pair begins', () => {
  const width = (text: string) => outlineText(text, REGULAR)?.width ?? Number.NaN;
  expect(width('To')).toBe(width('T') + width('o') - 19);
  expect(width('iTo')).toBe(width('iT') + width('o') - 19);
});

it('a text with one letter that is not covered has no outline', () => {
  for (const text of ['東', 'a東', 'العربية', '😀', 'a\u0335', '\0', 'abc\0', 'ab\x01\x02', 'abc\x7f', '5 \n'])
    expect(outlineText(text, REGULAR)).toBeNull();
});

it('room for other scripts grows with what is seen: marks and joiners take none', () => {
  const width = (text: string) => estimatedWidth(text, REGULAR);
  expect(width('東京')).toBe(2 * width('東'));
  expect(width('क\u093f')).toBe(width('क'));
  expect(width('e\u0335')).toBe(width('e'));
  expect(width('abc')).toBe(width('a') + width('b') + width('c'));
});

it('says of a text whether it may stand in a document as it is', () => {
  for (const text of ['', 'a', 'uptime 90d', '99.98%']) expect(outlineText(text, REGULAR)?.isPlain).toBe(true);
  for (const text of ['a&b', '<', 'it is "', "abc'", 'abcd>', 'é', 'abcé'])
    expect(outlineText(text, REGULAR)?.isPlain).toBe(false);
});

it('a loud text has the outlines of its capitals, and of its units as they are', () => {
  for (const tracking of [0, 8])
    for (const text of [
      '142 ms',
      '3 s',
      '1 s 20 ms up',
      'a s',
      '5 msec',
      '5 mms',
      '7 s_',
      '12 ms.',
      'ms 1',
      '1 m',
      '1  s',
      'Pharos 2',
    ])
      expect(outlineText(text, typeset('bold', tracking, true))).toEqual(
        outlineText(toCapitals(text), typeset('bold', tracking, false)),
      );
  expect(toCapitals('1 s 20 ms up, 5 msec, a s, 3 s')).toBe('1 s 20 ms UP, 5 MSEC, A S, 3 s');
  expect(toCapitals('5 mms 7 s_ 5 ß')).toBe('5 MMS 7 S_ 5 SS');
});
