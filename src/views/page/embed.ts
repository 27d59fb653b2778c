/** The state of a page small enough for a frame on another site. */

import type { PageModel, State } from '../../model/index.ts';
import {
  buildShell,
  createContext,
  type LinkView,
  linkToStory,
  type ShellView,
  type ViewOptions,
} from '../frame/shell.ts';
import { isOpen } from '../incident/events.ts';
import { EMBED_PATH, incidentPath } from '../text/addresses.ts';
import { bannerSentence } from '../words/state-words.ts';

/** A frame is a glance; the rest is on the page. */
const INCIDENTS_MAX = 3;

export interface EmbedView {
  readonly shell: ShellView;
  readonly state: State;
  readonly sentence: string;
  readonly title: string;
  readonly href: string;
  readonly incidents: readonly LinkView[];
}

export function embedView(model: PageModel, options: ViewOptions = {}): EmbedView {
  const context = createContext(model, { base: '../', ...options });
  return {
    shell: {
      ...buildShell(context, {
        title: null,
        description: bannerSentence(model.state, context.words),
        path: EMBED_PATH,
        section: null,
        present: model,
      }),
      isIndexed: false,
      socialImage: null,
    },
    state: model.state,
    sentence: bannerSentence(model.state, context.words),
    title: model.definition.title,
    href: context.base,
    incidents: model.incidents
      .filter((one) => isOpen(one))
      .slice(0, INCIDENTS_MAX)
      .map((one) => linkToStory(one, context.base + incidentPath(one.slug))),
  };
}
