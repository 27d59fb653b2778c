/** Sends the state of a site to another thread. Pages that didn't change since the last time aren't sent again. */

import type { ResolvedPage, ResolvedSite } from '../../publish/definitions/definitions.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';

/** What is sent: only pages that the other thread doesn't have. */
export interface SentState extends Omit<SiteState, 'resolved'> {
  /** Null: nothing of the definitions changed. */
  readonly resolved: (Omit<ResolvedSite, 'pages'> & { readonly pages: readonly (ResolvedPage | string)[] }) | null;
}

/** Creates a function that builds messages, without passwords, because rendering needs none. */
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

/** Creates a function that restores the state. It returns the same object as long as no definition changed. */
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

/** A page without its password. */
function withoutSecrets({ config, ...page }: ResolvedPage): ResolvedPage {
  return { ...page, password: null, config: config === null ? null : { ...config, password: undefined } };
}
