/** The element that other sites show a page's state with: `public/embed.js`, with what it cannot import written in. */

import { toHex } from '../../looks/colour.ts';
import { LOOKS } from '../../looks/states.ts';
import { STATES } from '../../model/index.ts';
import { CATALOGUES } from '../../views/words/index.ts';
import { bannerSentence } from '../../views/words/state-words.ts';

/** @param source  `public/embed.js`, where names stand for the looks of states and for words */
export function embedScript(source: string): string {
  const looks = STATES.map((state) => {
    const { shape, solid } = LOOKS[state];
    return [state, { solid: toHex(solid.light), ...shape }];
  });
  const notKnown = Object.entries(CATALOGUES).map(([tag, words]) => [tag, bannerSentence('unknown', words)]);
  return source
    .replace('PHAROS_LOOKS', () => JSON.stringify(Object.fromEntries(looks)))
    .replace('PHAROS_NOT_KNOWN', () => JSON.stringify(Object.fromEntries(notKnown)));
}
