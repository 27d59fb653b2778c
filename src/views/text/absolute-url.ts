/** Paths of a page as absolute addresses, for readers that are not on the page. */

import type { PageSettings } from '../../model/index.ts';

/** The absolute address of a path below the page's own. */
export function absoluteUrl({ settings }: { readonly settings: Pick<PageSettings, 'url'> }, path: string): string {
  return new URL(path, settings.url).href;
}
