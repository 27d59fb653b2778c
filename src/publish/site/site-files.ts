/** The files of the site itself, beside its pages: what is at the root, 404, and what robots read. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { siteNotFoundView } from '../../views/page/not-found.ts';
import {
  type SiteInit,
  type SitePage,
  siteLlmsView,
  sitemapIndexView,
  siteRobotsView,
} from '../../views/site/crawlers.ts';
import { indexOfPagesView } from '../../views/site/index-of-pages.ts';
import { llmsText, robotsText, sitemapText } from '../files/crawler-text.ts';
import { embedScript } from '../files/embed-script.ts';
import { type FileEntry, fileEntry } from '../files/file-entry.ts';
import { htmlFile } from '../files/html-files.ts';
import { TEXT_TYPE } from '../files/machine-files.ts';
import type { SiteFilesInput } from './site-release.ts';

/** What other sites load to show a page's state; `docs/api.md` describes them. */
const EMBED_SCRIPTS = { 'embed.js': embedScript, 'embed-resize.js': (source: string) => source };
const PUBLIC_FOLDER = join(import.meta.dirname, '../../../public');

function scriptFile([path, written]: [string, (source: string) => string]): FileEntry {
  return fileEntry({
    path,
    contentType: 'text/javascript; charset=utf-8',
    kind: 'script',
    view: () => written(readFileSync(join(PUBLIC_FOLDER, path), 'utf8')),
    draw: (text) => text,
  });
}

/** Every file of the site itself. */
export function siteFilesOf({ site, pages }: SiteFilesInput): readonly FileEntry[] {
  const url = `${site.url}/`;
  return [
    htmlFile('', 'index-of-pages', {
      view: () => indexOfPagesView(pages, { locale: site.locale, timezone: site.timezone, siteTitle: site.name, url }),
    }),
    fileEntry({
      path: '404.html',
      contentType: 'text/html; charset=utf-8',
      kind: 'not-found',
      view: () => siteNotFoundView({ locale: site.locale, siteTitle: site.name, base: url }),
      draw: (view, renderer) => renderer.render('not-found', view),
    }),
    ...siteIndexFiles({ url, name: site.name }, pages),
    ...Object.entries(EMBED_SCRIPTS).map(scriptFile),
  ];
}

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
