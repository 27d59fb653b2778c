/** The state in the tab, inside the page: a favicon from a file would be the page's second request. */

import type { State } from '../model/index.ts';

const CIRCLE = 'M8 1a7 7 0 1 1 0 14A7 7 0 1 1 8 1';

/** Colour, outline and sign in a square of 16; the outlines are those of `favicon.svg`, with less detail. */
const SIGNS: Readonly<Record<State, readonly [colour: string, outline: string, sign: string]>> = {
  operational: ['2b8a57', CIRCLE, 'm4.5 8.2 2.4 2.4 4.6-4.8'],
  degraded: ['b07206', 'M8 1.50 15 14H1z', 'M8 6v3.5m0 2.3v.1'],
  partial_outage: ['c4500f', 'M8 .8 15.20 8 8 15.2.8 8z', 'M8 4.3v4.5m0 2.7v.1'],
  major_outage: ['c01f2f', 'M5 1h6l4 4v6l-4 4H5l-4-4V5z', 'm5.30 5.30 5.40 5.4m0-5.4-5.40 5.4'],
  maintenance: ['2f6fce', 'M2 2h12v12H2z', 'M8 4.5V8l2.50 2'],
  paused: ['6b7074', 'M2 2h12v12H2z', 'M6 5.3v5.4m4-5.4v5.4'],
  unknown: ['6b7074', CIRCLE, 'M6 6.3a2 2 0 1 1 3 1.7c-.7.4-1 .7-1 1.4m0 2.4v.1'],
};

/** A `data:` address; pages that are not about a state have an empty one, which keeps browsers from asking for a file. */
export function favicon(state: State | null): string {
  if (state === null) return 'data:,';
  const [colour, outline, sign] = SIGNS[state];
  return (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
    `%3Cpath fill='%23${colour}' d='${outline}'/%3E%3Cpath fill='none' stroke='%23fff' stroke-width='1.8' d='${sign}'/%3E%3C/svg%3E`
  );
}
