import { describe, expect, it } from 'vitest';
import { parseColour } from '../../../src/badges/palette.ts';
import { LOOKS } from '../../../src/looks/states.ts';

describe('parseColour', () => {
  it.each([
    ['#abc', 0xaabbcc],
    ['2DA44E', 0x2da44e],
    ['#000000', 0],
    ['rgb(1, 2, 255)', 0x0102ff],
    [' #fff ', 0xffffff],
  ])('%s is read', (text, value) => {
    expect(parseColour(text)).toEqual({ light: value, dark: value });
  });

  it('names may differ between light and dark grounds', () => {
    expect(parseColour('BrightGreen')).toEqual(LOOKS.operational.solid);
    expect(parseColour('major_outage')).toEqual(LOOKS.major_outage.solid);
  });

  it.each(['', '#12', '#12345', 'red"/><script>', 'url(#x)', 'rgb(1,2,256)', 'constructor', 'var(--x)', '#ggg'])(
    '%j is no colour',
    (text) => {
      expect(parseColour(text)).toBeNull();
    },
  );
});
