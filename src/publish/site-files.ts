/** The files of the site itself, beside its pages: what is at the root, 404, and what robots read. */

import { indexOfPagesView } from '../views/index-of-pages.ts';
import { siteNotFoundView } from '../views/not-found.ts';
import { statusPageView } from '../views/status-page.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { htmlFile } from './html-files.ts';
import type { SiteFilesInput } from './publisher.ts';
import { siteIndexFiles } from './site-entries.ts';

/** Every file of the site itself. */
export function siteFilesOf({ site, pages, home }: SiteFilesInput): readonly FileEntry[] {
  const url = `${site.url}/`;
  return [
    home === null
      ? htmlFile('', 'index-of-pages', {
          view: () =>
            indexOfPagesView(pages, { locale: site.locale, timezone: site.timezone, siteTitle: site.name, url }),
        })
      : htmlFile('', 'status-page', { view: () => statusPageView(home, { base: `${home.definition.slug}/` }) }),
    fileEntry({
      path: '404.html',
      contentType: 'text/html; charset=utf-8',
      kind: 'not-found',
      view: () => siteNotFoundView({ locale: site.locale, siteTitle: site.name, base: url }),
      draw: (view, renderer) => renderer.render('not-found', view),
    }),
    ...siteIndexFiles({ url, name: site.name }, pages),
  ];
}
