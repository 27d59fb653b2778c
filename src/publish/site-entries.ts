/** The files of a whole site that tell others of its pages; gated and unlisted pages leave no trace in them. */

import { type SiteInit, type SitePage, siteLlmsView, sitemapIndexView, siteRobotsView } from '../views/site-files.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { TEXT_TYPE } from './machine-files.ts';
import { llmsText, robotsText, sitemapText } from './site-text.ts';

/** `robots.txt`, `sitemap.xml` and `llms.txt` at the root of the site. */
export function siteIndexFiles(site: SiteInit, pages: readonly SitePage[]): FileEntry[] {
  return [
    fileEntry({
      path: 'robots.txt',
      contentType: TEXT_TYPE,
      kind: 'robots',
      view: () => siteRobotsView(site),
      draw: robotsText,
    }),
    fileEntry({
      path: 'sitemap.xml',
      contentType: 'application/xml; charset=utf-8',
      kind: 'sitemap',
      view: () => sitemapIndexView(site, pages),
      draw: sitemapText,
    }),
    fileEntry({
      path: 'llms.txt',
      contentType: TEXT_TYPE,
      kind: 'llms',
      view: () => siteLlmsView(site, pages),
      draw: llmsText,
    }),
  ];
}
