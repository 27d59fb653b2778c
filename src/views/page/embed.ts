/** The state of a page small enough for a frame on another site. */

import type { PageModel } from '../../model/index.ts';
import { buildShell, createContext, linkToStory } from '../frame/shell.ts';
import { isOpen } from '../incident/events.ts';
import { EMBED_PATH, incidentPath } from '../text/addresses.ts';
import { bannerSentence } from '../words/state-words.ts';

/** A frame is a glance; the rest is on the page. */
const INCIDENTS_MAX = 3;

export function embedView(model: PageModel) {
  const context = createContext(model, '../');
  const sentence = bannerSentence(model.state, context.words);
  return {
    shell: {
      ...buildShell(context, { title: null, description: sentence, path: EMBED_PATH, present: model }),
      isIndexed: false,
      socialImage: null,
    },
    state: model.state,
    sentence,
    title: model.definition.title,
    href: context.base,
    incidents: model.incidents
      .filter((one) => isOpen(one))
      .slice(0, INCIDENTS_MAX)
      .map((one) => linkToStory(one, context.base + incidentPath(one.slug))),
  };
}
