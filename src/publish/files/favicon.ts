/** The favicon of a page: its state as a colour and, for who does not see the colour, as an outline and a sign. */

import type { State } from '../../model/index.ts';
import type { FaviconView } from '../../views/badges/social.ts';

/** A state as a picture. */
export interface Sign {
  /** Dark enough for a white sign, and told from a white and from a black tab. */
  readonly colour: string;
  /** Path data in a square of 32. */
  readonly outline: string;
  readonly sign: string;
}

const CIRCLE = 'M16 1a15 15 0 1 1 0 30a15 15 0 1 1 0-30z';
const SQUARE = 'M8 2h16a6 6 0 0 1 6 6v16a6 6 0 0 1-6 6H8a6 6 0 0 1-6-6V8a6 6 0 0 1 6-6z';

export const SIGNS: Readonly<Record<State, Sign>> = {
  operational: { colour: '#2b8a57', outline: CIRCLE, sign: 'm9 16.5 4.8 4.8L23 11.5' },
  degraded: { colour: '#b07206', outline: 'M16 2.5 30.5 28.5h-29z', sign: 'M16 11.5v7.5M16 23.9v.1' },
  partial_outage: { colour: '#c4500f', outline: 'M16 .8 31.2 16 16 31.2.8 16z', sign: 'M16 8.5v9M16 22.9v.1' },
  major_outage: {
    colour: '#c01f2f',
    outline: 'M9.8 1h12.4L31 9.8v12.4L22.2 31H9.8L1 22.2V9.8z',
    sign: 'm10.5 10.5 11 11m0-11-11 11',
  },
  maintenance: { colour: '#2f6fce', outline: SQUARE, sign: 'M16 8.5V16l5 4' },
  paused: { colour: '#6b7074', outline: SQUARE, sign: 'M12 10.5v11m8-11v11' },
  unknown: {
    colour: '#6b7074',
    outline: CIRCLE,
    sign: 'M12.2 12.6a3.9 3.9 0 1 1 5.9 3.3c-1.4.8-2.1 1.5-2.1 2.9M16 23.9v.1',
  },
};

/** An SVG of about 300 bytes. */
export function faviconSvg({ state }: FaviconView): string {
  const { colour, outline, sign } = SIGNS[state];
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    `<path fill="${colour}" stroke="${colour}" stroke-linejoin="round" d="${outline}"/>` +
    `<path fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round" d="${sign}"/>` +
    '</svg>\n'
  );
}
