import { describe, expect, it } from 'vitest';
import { cleanText, TEXT_LENGTH_MAX, textDirection } from '../../../src/badges/lettering/text.ts';
import { awkwardTexts } from '../../helpers/awkward-text.ts';

/** Char of XML 1.0, without the controls that it discourages. */
const LEGAL = /^[\t\n\r\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

describe('cleanText', () => {
  it('plain text stays as it is', () => {
    expect(cleanText('uptime 90d: 99.98%')).toBe('uptime 90d: 99.98%');
  });

  it('controls and breaks become one space, and none at the ends', () => {
    expect(cleanText('\n a\0\t\u2028b\u00a0c \r')).toBe('a b c');
  });

  it('lone surrogates and non-characters vanish, pairs stay', () => {
    expect(cleanText('a\ud800b\udc00c\ufffed\u{1ffff}e😀')).toBe('abcde😀');
  });

  it('marks that reorder text vanish, joiners stay', () => {
    expect(cleanText('a\u202eb\u2066c\u2069d\ufeff\u00ad')).toBe('abcd');
    expect(cleanText('👩\u200d👧')).toBe('👩\u200d👧');
  });

  it('letters and their accents are composed, so that the outlines cover them', () => {
    expect(cleanText('e\u0301')).toBe('é');
  });

  it('long text is cut between code points and ends in an ellipsis', () => {
    const cut = cleanText('😀'.repeat(10_000));
    expect(Array.from(cut)).toHaveLength(TEXT_LENGTH_MAX);
    expect(cut.endsWith('😀…')).toBe(true);
  });

  it('whatever comes in, what goes out is legal in XML, short, and clean when cleaned again', () => {
    for (const text of awkwardTexts(5_000)) {
      const clean = cleanText(text);
      expect(clean).toMatch(LEGAL);
      expect(Array.from(clean).length).toBeLessThanOrEqual(TEXT_LENGTH_MAX);
      expect(cleanText(clean)).toBe(clean);
    }
  });
});

it('the direction of a text is that of its first letter', () => {
  expect(textDirection('99.9% العربية abc')).toBe('rtl');
  expect(textDirection('abc עברית')).toBe('ltr');
  expect(textDirection('12 %')).toBe('ltr');
});
