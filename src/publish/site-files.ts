/** The files of the site itself, beside its pages: what is at the root, 404, and what robots read. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexOfPagesView } from '../views/index-of-pages.ts';
import { siteNotFoundView } from '../views/not-found.ts';
import { statusPageView } from '../views/status-page.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { htmlFile } from './html-files.ts';
import { siteIndexFiles } from './site-entries.ts';
import type { SiteFilesInput } from './site-release.ts';

/** What other sites load to show a page's state; `docs/api.md` describes them. */
const EMBED_SCRIPTS = ['embed.js', 'embed-resize.js'] as const;
const PUBLIC_FOLDER = join(import.meta.dirname, '../../public');

function scriptFile(path: string): FileEntry {
  return fileEntry({
    path,
    contentType: 'text/javascript; charset=utf-8',
    kind: 'script',
    view: () => readFileSync(join(PUBLIC_FOLDER, path), 'utf8'),
    draw: (text) => text,
  });
}

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
    ...EMBED_SCRIPTS.map(scriptFile),
  ];
}
