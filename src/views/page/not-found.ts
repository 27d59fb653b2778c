/** What is shown where nothing is. Says the same whether something was there, is hidden, or never was. */

import type { PageFrame } from '../frame/page-frame.ts';
import { buildPlainShell, buildShell, createContext } from '../frame/shell.ts';
import type { OwnLook } from '../frame/theme.ts';
import { findWords } from '../words/index.ts';

/** Below a status page, in its look. Works at any depth, since links are absolute. */
export function notFoundView(model: PageFrame) {
  const context = createContext(model, model.settings.url);
  return {
    shell: buildShell(context, { title: context.words.notFoundTitle, path: null }),
    // Where to go instead.
    homeHref: context.base,
    // Null on the site's own.
    historyHref: `${context.base}history/` as string | null,
  };
}

interface SiteInit {
  readonly locale: string;
  readonly siteTitle: string | null;
  /** Absolute address of the site with a slash at the end, or `''`. */
  readonly base: string;
  /** Default: as it comes. */
  readonly look?: OwnLook;
}

/** For addresses below no status page, and for those that must not tell. */
export function siteNotFoundView(init: SiteInit): ReturnType<typeof notFoundView> {
  const { locale, base } = init;
  return {
    shell: buildPlainShell({ ...init, title: findWords(locale).notFoundTitle }),
    // Wherever it is shown, since a site's address may be a folder of a host.
    homeHref: base || '/',
    historyHref: null,
  };
}
