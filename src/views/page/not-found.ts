/** What is shown where nothing is. Says the same whether something was there, is hidden, or never was. */

import { buildPlainShell, buildShell, createContext, type PageFrame, type PlainShellInit } from '../frame/shell.ts';
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

/**
 * For addresses below no status page, and for those that must not tell.
 *
 * `base`: absolute address of the site with a slash at the end, or `''`.
 */
export function siteNotFoundView(
  init: Pick<PlainShellInit, 'locale' | 'siteTitle' | 'base' | 'look'>,
): ReturnType<typeof notFoundView> {
  const { locale, base } = init;
  return {
    shell: buildPlainShell({ ...init, title: findWords(locale).notFoundTitle }),
    // Wherever it is shown, since a site's address may be a folder of a host.
    homeHref: base || '/',
    historyHref: null,
  };
}
