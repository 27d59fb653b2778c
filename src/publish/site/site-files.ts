/** The files of the site itself, beside its pages: what is at the root, 404, and what robots read. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECURITY_TXT } from '../../model/slugs.ts';
import { siteNotFoundView } from '../../views/page/not-found.ts';
import {
  type SiteInit,
  type SitePage,
  siteLlmsView,
  sitemapIndexView,
  siteRobotsView,
} from '../../views/site/crawlers.ts';
import { indexOfPagesView } from '../../views/site/index-of-pages.ts';
import type { SecurityContact } from '../definitions/inputs.ts';
import { embedScript } from '../files/embed-script.ts';
import { type FileEntry, fileEntry } from '../files/file-entry.ts';
import { htmlFile } from '../files/html-files.ts';
import { LLMS, ROBOTS, SECURITY, SITEMAP } from '../files/kinds/crawlers.ts';
import { SCRIPT } from '../files/kinds/script.ts';
import { INDEX_OF_PAGES, NOT_FOUND } from '../files/kinds/views.ts';
import type { SiteFilesInput } from './site-release.ts';

/** What other sites load to show a page's state; `docs/api.md` describes them. */
const EMBED_SCRIPTS = { 'embed.js': embedScript, 'embed-resize.js': (source: string) => source };
const PUBLIC_FOLDER = join(import.meta.dirname, '../../../public');

function scriptFile([path, written]: [string, (source: string) => string]): FileEntry {
  return fileEntry(SCRIPT, path, {
    inputs: () => ({ text: written(readFileSync(join(PUBLIC_FOLDER, path), 'utf8')) }),
  });
}

/** Every file of the site itself. */
export function siteFilesOf({ site, pages }: SiteFilesInput): readonly FileEntry[] {
  const url = `${site.url}/`;
  return [
    htmlFile(INDEX_OF_PAGES, '', {
      inputs: () =>
        indexOfPagesView(pages, { locale: site.locale, timezone: site.timezone, siteTitle: site.name, url }),
    }),
    fileEntry(NOT_FOUND, '404.html', {
      inputs: () => siteNotFoundView({ locale: site.locale, siteTitle: site.name, base: url }),
    }),
    ...siteIndexFiles({ url, name: site.name }, pages),
    ...securityFiles(site.security),
    ...Object.entries(EMBED_SCRIPTS).map(scriptFile),
  ];
}

/** `robots.txt`, `sitemap.xml` and `llms.txt` at the root of the site. */
export function siteIndexFiles(site: SiteInit, pages: readonly SitePage[]): FileEntry[] {
  const index = sitemapIndexView(site, pages);
  return [
    fileEntry(ROBOTS, 'robots.txt', { inputs: () => siteRobotsView(site, index !== null) }),
    ...(index === null ? [] : [fileEntry(SITEMAP, 'sitemap.xml', { inputs: () => index })]),
    fileEntry(LLMS, 'llms.txt', { inputs: () => siteLlmsView(site, pages) }),
  ];
}

function securityFiles(security: SecurityContact | undefined): FileEntry[] {
  return security === undefined ? [] : [fileEntry(SECURITY, SECURITY_TXT, { inputs: () => security })];
}
