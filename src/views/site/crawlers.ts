/** What search engines and language models are told: sitemap, robots.txt, llms.txt, of one page and of a whole site. */

import { type ComponentModel, type PageModel, toIso } from '../../model/index.ts';
import { listMonths } from '../days/months.ts';
import { incidentChangedAt, isOpen, lastChangeAt } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import {
  absoluteUrl,
  componentPath,
  HISTORY_PATH,
  historyPath,
  incidentPath,
  maintenancePath,
  UPTIME_PATH,
} from '../text/addresses.ts';
import { cleanLine } from '../text/plain-text.ts';
import { textOfMarkdown } from '../text/safe-html.ts';
import { pageStatus } from '../v2/components.ts';

/** The protocol's limit for one sitemap. */
const SITEMAP_URLS_MAX = 50_000;

/** A page as the site's own files see it. */
export type SitePage = Pick<PageModel, 'definition' | 'settings'>;

/** The site as its own files see it. */
export interface SiteInit {
  /** Absolute address with a slash at the end. */
  readonly url: string;
  readonly name: string;
}

/** Whether a page may be named outside itself: public, published, and not kept from search engines. */
export function isListed({ definition, settings }: SitePage): boolean {
  return definition.access === 'public' && definition.published && settings.allowIndex;
}

export type SitemapView = ReturnType<typeof sitemapView>;

/** The addresses of one listed page, newest incidents first. */
export function sitemapView(model: PageModel) {
  const at = (path: string, lastmod: string | null = null) => ({ path, lastmod });
  const { all } = model.settings.languages ?? { all: [model.settings.locale] };
  const treeOf = (locale: string): string => (locale === all[0] ? '' : `${locale}/`);
  // Each names all of them, and a sitemap has a limit of bytes too.
  const pathsMax = Math.floor((SITEMAP_URLS_MAX * 2) / (all.length * Math.max(2, all.length)));
  const paths = [
    at('', toIso(lastChangeAt(model))),
    at(HISTORY_PATH),
    at(UPTIME_PATH),
    ...listMonths(model).map((month) => at(historyPath(month))),
    ...model.components.map(({ definition }) => at(componentPath(definition.id))),
    ...model.maintenances.map((one) => at(maintenancePath(one.slug), toIso(one.changedAt))),
    ...model.incidents.map((one) => at(incidentPath(one.slug), toIso(incidentChangedAt(one, model.asOf)))),
  ].slice(0, pathsMax);
  return {
    urls: paths.flatMap(({ path, lastmod }) => {
      const alternates = all.map((locale) => ({ locale, href: absoluteUrl(model, treeOf(locale) + path) }));
      // `alternates`: the same in every language of the page; absent: it has one.
      return alternates.map(({ href }) => ({ loc: href, lastmod, ...(all.length === 1 ? {} : { alternates }) }));
    }),
  };
}

export type SitemapIndexView = NonNullable<ReturnType<typeof sitemapIndexView>>;

/**
 * The sitemaps of a site's listed pages; those on a domain of their own are found there, as the protocol demands. Null: there
 * is none, and an index that names nothing is no index.
 */
export function sitemapIndexView(site: SiteInit, pages: readonly SitePage[]) {
  const sitemaps = pages
    .filter((page) => isListed(page) && page.settings.url.startsWith(site.url))
    .map(({ settings }) => new URL('sitemap.xml', settings.url).href)
    .sort();
  return sitemaps.length === 0 ? null : { sitemaps };
}

export type RobotsView = ReturnType<typeof robotsView>;

/** What robots are told of one page; only a page at the root of its host is heard. */
export function robotsView(page: SitePage) {
  const isAllowed = isListed(page);
  return { isAllowed, sitemap: isAllowed ? new URL('sitemap.xml', page.settings.url).href : null };
}

/** What robots are told of a whole site. Pages they should leave out say so themselves and are not named here. */
export function siteRobotsView(site: SiteInit, hasSitemap: boolean): RobotsView {
  return { isAllowed: true, sitemap: hasSitemap ? new URL('sitemap.xml', site.url).href : null };
}

export type LlmsView = ReturnType<typeof llmsView>;

/** One page for readers that are programs: its state in words, its components, and where its data is. */
export function llmsView(model: PageModel) {
  const { definition } = model;
  const link = (text: string, path: string, note: string) => ({ text, url: absoluteUrl(model, path), note });
  const open = model.incidents.filter((incident) => isOpen(incident));
  return {
    title: cleanLine(definition.title),
    summary: [
      cleanLine(textOfMarkdown(definition.description ?? '')),
      `Current state: ${pageStatus(model).description}.`,
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
    sections: [
      {
        heading: 'Open incidents',
        links: open.map(({ title, slug, status }) => link(cleanLine(title), incidentPath(slug), status)),
      },
      {
        heading: 'Components',
        links: listSections(model).flatMap(({ group, members }) =>
          members.map((member) =>
            link(componentTitle(member, group?.name), componentPath(member.definition.id), member.state),
          ),
        ),
      },
      {
        heading: 'Data',
        links: [
          link('Summary', 'api/v2/summary.json', 'state, components, open incidents and maintenance as JSON'),
          link('Incidents', 'api/v2/incidents.json', 'the 50 newest, with all updates'),
          link('Maintenance', 'api/v2/scheduled-maintenances.json', 'the 50 newest'),
          link('Uptime', 'api/uptime.json', 'seconds in each state by component and day'),
          link('Feed', 'feed.atom', 'incidents and maintenance as Atom; also feed.rss and feed.json'),
          link('Calendar', 'maintenance.ics', 'maintenance as iCalendar'),
          link('History', HISTORY_PATH, 'past incidents by month'),
        ],
      },
    ].filter(({ links }) => links.length > 0),
  };
}

function componentTitle({ plainName }: ComponentModel, group: string | undefined): string {
  return cleanLine(group === undefined ? plainName : `${group}: ${plainName}`);
}

/** A whole site: its listed pages, each with its own llms.txt. */
export function siteLlmsView(site: SiteInit, pages: readonly SitePage[]): LlmsView {
  const links = pages
    .filter(isListed)
    .map(({ definition, settings }) => ({
      text: cleanLine(definition.title),
      url: new URL('llms.txt', settings.url).href,
      note: cleanLine(textOfMarkdown(definition.description ?? '')),
    }))
    .toSorted((a, b) => (a.url < b.url ? -1 : 1));
  return {
    title: cleanLine(site.name),
    summary: 'Status pages.',
    sections: links.length === 0 ? [] : [{ heading: 'Pages', links }],
  };
}
