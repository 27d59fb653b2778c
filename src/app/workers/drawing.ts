/** What every thread that renders pages needs. */

import { once } from '../../once.ts';
import { readModules } from '../../publish/draw/module-graph.ts';
import type { Renderer } from '../../publish/draw/renderer.ts';
import { badgeData, pageBadges } from '../../publish/files/badge-data.ts';
import type { VersionOf } from '../../publish/files/file-entry.ts';
import type { KindFacts, PageRenderer } from '../../publish/files/file-kind.ts';
import { pageFiles } from '../../publish/files/files.ts';
import { fingerprintOf } from '../../publish/fingerprint.ts';
import { PUBLISHER_MODULE, type PublisherOptions } from '../../publish/publisher.ts';
import { siteFilesOf } from '../../publish/site/site-files.ts';

/**
 * Everything that renders files is imported by this module, so its module graph is read while the files on disk are still those
 * that were loaded.
 */
const modules = once(() => readModules(import.meta.url));

/** Version of the code for files that aren't Astro pages. */
export const moduleVersion: VersionOf = ({ module }) => modules().versionOf(module);

/** Version of all code that makes pages. While it stays the same, pages without changes do too. */
export function programVersion(renderer: Renderer): string {
  const { versionOf } = modules();
  return fingerprintOf([versionOf(PUBLISHER_MODULE), versionOf(import.meta.url), renderer.version]);
}

/**
 * Which files a page and the site have, how they are rendered, and the data for badges.
 *
 * @param socialImage renders social images; default: this thread does
 */
export function drawingWith(
  renderer: Renderer,
  socialImage?: PageRenderer['socialImage'],
): Pick<PublisherOptions, 'renderer' | 'filesOf' | 'dataOf' | 'siteFilesOf'> {
  modules();
  const versions = new Map<KindFacts, string>();
  return {
    renderer: {
      versionOf: (kind) =>
        versions.getOrInsertComputed(kind, ({ page }) =>
          page === null ? moduleVersion(kind) : fingerprintOf([moduleVersion(kind), renderer.versionOf(page)]),
        ),
      render: async (kind, view) => {
        const { html, csp } = await renderer.render(kind as never, view as never);
        return { body: html, csp };
      },
      ...(socialImage === undefined ? {} : { socialImage }),
    },
    filesOf: (model, page) =>
      pageFiles(model, {
        badges: false,
        badge: pageBadges(page),
        redirects: page.config?.redirects ?? {},
        icon: page.icon,
        logo: page.logo ?? [],
      }),
    dataOf: badgeData,
    siteFilesOf,
  };
}
