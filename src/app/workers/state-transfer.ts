/** The state of a site handed from one thread to another: pages that did not change since the last time stay where they are. */

import type { ResolvedPage, ResolvedSite } from '../../publish/definitions/definitions.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';

/** What goes over: of the pages those that are not known there. */
export interface SentState extends Omit<SiteState, 'resolved'> {
  /** Null: nothing of the definitions changed. */
  readonly resolved: (Omit<ResolvedSite, 'pages'> & { readonly pages: readonly (ResolvedPage | string)[] }) | null;
}

/** Makes what is sent, without the passwords: what is drawn has none. */
export function createStateSender(): (state: SiteState) => SentState {
  let last: ResolvedSite | null = null;
  return ({ resolved, ...state }) => {
    if (resolved === last) return { ...state, resolved: null };
    const known = new Set(last?.pages);
    last = resolved;
    const pages = resolved.pages.map((page) => (known.has(page) ? page.definition.slug : withoutSecrets(page)));
    return { ...state, resolved: { ...resolved, pages } };
  };
}

/** Makes of what is sent what it was; the same object as long as no definition changed. */
export function createStateReceiver(): (sent: SentState) => SiteState {
  let last: ResolvedSite = {
    pages: [],
    problems: [],
    withheld: [],
    undecided: [],
    closed: [],
    isDecided: false,
    home: null,
  };
  return ({ resolved, ...state }) => {
    if (resolved !== null) {
      const known = new Map(last.pages.map((page) => [page.definition.slug, page]));
      const pages = resolved.pages.map((page) => {
        const found = typeof page === 'string' ? known.get(page) : page;
        if (found === undefined) throw new Error(`the page ${String(page)} is unknown in this thread`);
        return found;
      });
      last = { ...resolved, pages };
    }
    return { ...state, resolved: last };
  };
}

/** A page as it may leave the thread that checks its password. */
function withoutSecrets({ config, ...page }: ResolvedPage): ResolvedPage {
  return { ...page, password: null, config: config === null ? null : { ...config, password: undefined } };
}
