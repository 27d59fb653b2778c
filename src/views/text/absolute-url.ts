/** Paths of a page as absolute addresses, for readers that are not on the page. */

import type { PageModel } from '../../model/index.ts';

/** The absolute address of a path below the page's own. */
export function absoluteUrl({ settings }: Pick<PageModel, 'settings'>, path: string): string {
  return new URL(path, settings.url).href;
}
