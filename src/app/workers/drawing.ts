/** How pages are drawn, in whichever thread. */

import type { Renderer } from '../../publish/draw/renderer.ts';
import { badgeData, pageBadges } from '../../publish/files/badge-data.ts';
import { pageFiles } from '../../publish/files/files.ts';
import type { PageReleaseDeps } from '../../publish/page/page-release.ts';

/** Which files a page has, how they are drawn, and what its badges are drawn from. */
export function drawingWith(renderer: Renderer): Pick<PageReleaseDeps, 'renderer' | 'filesOf' | 'dataOf'> {
  return {
    renderer: {
      versionOf: () => renderer.version,
      render: async (kind, view) => {
        const { html, csp } = await renderer.render(kind as never, view as never);
        return { body: html, csp };
      },
    },
    filesOf: (model, page) => pageFiles(model, { badges: false, badge: pageBadges(page) }),
    dataOf: badgeData,
  };
}
