/** What every thread that renders pages needs. */

import type { Renderer } from '../../publish/draw/renderer.ts';
import { badgeData, pageBadges, pageFiles } from '../../publish/files/files.ts';
import type { PageRenderer } from '../../publish/files/kinds.ts';
import { listSiteFiles } from '../../publish/files/site-files.ts';
import type { PublisherOptions } from '../../publish/publisher.ts';

/**
 * Which files a page and the site have, how they are rendered, and the data for badges.
 *
 * @param socialImage renders social images; default: this thread does
 */
export function drawingWith(
  renderer: Renderer,
  socialImage?: PageRenderer['socialImage'],
): Pick<PublisherOptions, 'renderer' | 'filesOf' | 'dataOf' | 'listSiteFiles'> {
  return {
    renderer: {
      version: renderer.version,
      render: renderer.renderFile,
      scriptOf: renderer.scriptOf,
      ...(socialImage === undefined ? {} : { socialImage }),
    },
    filesOf: (model, page) =>
      pageFiles(model, {
        badge: pageBadges(page),
        redirects: page.config?.redirects ?? {},
        icon: page.icon,
        logo: page.logo ?? [],
      }),
    dataOf: badgeData,
    listSiteFiles,
  };
}
