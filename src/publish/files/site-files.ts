/** The files of the site itself, besides its pages: the root, the 404 page, and files for crawlers. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicFile } from '../../config/own-files.ts';
import { toHex } from '../../looks/colour.ts';
import { LOOKS } from '../../looks/states.ts';
import { STATES } from '../../model/index.ts';
import { LOG_KEYS, SECURITY_TXT, WITNESS_PATH } from '../../model/slugs.ts';
import { siteNotFoundView } from '../../views/page/not-found.ts';
import {
  type SiteInit,
  type SitePage,
  siteLlmsView,
  sitemapIndexView,
  siteRobotsView,
} from '../../views/site/crawlers.ts';
import { indexOfPagesView } from '../../views/site/index-of-pages.ts';
import { bannerSentence, CATALOGUES } from '../../views/words/index.ts';
import { lookSettings } from '../definitions/definitions.ts';
import type { SiteFilesInput } from '../site-release.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { htmlFile, logoFiles } from './files.ts';
import { KINDS, PUBLIC_FILES } from './kinds.ts';

/** Scripts that other sites load to show a page's state; `docs/api.md` describes them. */
const EMBED_SCRIPTS = { 'embed.js': embedScript, 'embed-resize.js': (source: string) => source };
/** Prefix for the names of the site's logos, because a home page has its own logos at the root. */
const SITE_LOGO = 'site-';
const PUBLIC_FOLDER = join(import.meta.dirname, '../../../public');

function scriptFile([path, written]: [string, (source: string) => string]): FileEntry {
  return fileEntry(KINDS.script, path, {
    inputs: () => ({ text: written(readFileSync(join(PUBLIC_FOLDER, path), 'utf8')) }),
  });
}

function publicFile({ path, file, sha256, contentType }: PublicFile): FileEntry[] {
  const kind = PUBLIC_FILES[contentType];
  return kind === undefined ? [] : [fileEntry(kind, path, { inputs: () => ({ file, sha256 }) })];
}

/** Every file of the site itself. */
export function listSiteFiles({ site, pages, logKeys = [], witness = null }: SiteFilesInput): readonly FileEntry[] {
  const url = `${site.url}/`;
  const { look: own = {}, security } = site;
  const look = { ...lookSettings(own, SITE_LOGO), cssVariables: {} };
  return [
    htmlFile(KINDS.indexOfPages, '', {
      inputs: () =>
        indexOfPagesView(pages, { locale: site.locale, timezone: site.timezone, siteTitle: site.name, url, look }),
    }),
    fileEntry(KINDS.notFound, '404.html', {
      inputs: () => siteNotFoundView({ locale: site.locale, siteTitle: site.name, base: url, look }),
    }),
    ...siteIndexFiles({ url, name: site.name }, pages),
    ...(security === undefined ? [] : [fileEntry(KINDS.security, SECURITY_TXT, { inputs: () => security })]),
    ...(logKeys.length === 0 ? [] : [fileEntry(KINDS.json, LOG_KEYS, { inputs: () => ({ keys: logKeys }) })]),
    ...(witness === null ? [] : [fileEntry(KINDS.text, WITNESS_PATH, { inputs: () => ({ text: witness }) })]),
    ...Object.entries(EMBED_SCRIPTS).map(scriptFile),
    ...logoFiles(Object.values(own.logo ?? {}), SITE_LOGO),
    ...(site.publicFiles ?? []).flatMap(publicFile),
  ];
}

/** `robots.txt`, `sitemap.xml` and `llms.txt` at the root of the site. */
export function siteIndexFiles(site: SiteInit, pages: readonly SitePage[]): FileEntry[] {
  const index = sitemapIndexView(site, pages);
  return [
    fileEntry(KINDS.robots, 'robots.txt', { inputs: () => siteRobotsView(site, index !== null) }),
    ...(index === null ? [] : [fileEntry(KINDS.sitemap, 'sitemap.xml', { inputs: () => index })]),
    fileEntry(KINDS.llms, 'llms.txt', { inputs: () => siteLlmsView(site, pages) }),
  ];
}

/**
 * The script that shows a page's state on other sites: `public/embed.js`, with the values that it can't import inserted.
 *
 * @param source  `public/embed.js`, with names as placeholders for colours of states and for words
 */
export function embedScript(source: string): string {
  const looks = STATES.map((state) => {
    const { shape, solid } = LOOKS[state];
    return [state, { solid: toHex(solid.light), ...shape }];
  });
  const notKnown = Object.entries(CATALOGUES).map(([tag, words]) => [tag, bannerSentence('unknown', words)]);
  return source
    .replace('PHAROS_LOOKS', () => JSON.stringify(Object.fromEntries(looks)))
    .replace('PHAROS_NOT_KNOWN', () => JSON.stringify(Object.fromEntries(notKnown)));
}
