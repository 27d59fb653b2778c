/** The files of a page that machines read: JSON, feeds, calendars. */

import packageJson from '../../../package.json' with { type: 'json' };
import type { ComponentModel, PageModel } from '../../model/index.ts';
import { once } from '../../once.ts';
import { faviconView, type SocialLogo, socialView } from '../../views/badges/social.ts';
import { calendarView } from '../../views/feeds/calendar.ts';
import { feedInputs, type PageFeeds } from '../../views/feeds/feeds.ts';
import { buildDocument } from '../../views/json/build-json.ts';
import { stateDocument } from '../../views/json/state-json.ts';
import { uptimeDocument } from '../../views/json/uptime-json.ts';
import { isListed, llmsView, robotsView, sitemapView } from '../../views/site/crawlers.ts';
import { webManifest } from '../../views/site/web-manifest.ts';
import { componentPath, MANIFEST_PATH, reportPath } from '../../views/text/addresses.ts';
import { v2Documents } from '../../views/v2/documents.ts';
import { type FileEntry, fileEntry, type Priority } from './file-entry.ts';
import {
  ATOM,
  CALENDAR,
  FAVICON,
  JSON_FEED,
  JSON_FILE,
  LLMS,
  REPORT_CSV,
  ROBOTS,
  RSS,
  SITEMAP,
  SOCIAL_IMAGE,
  WEB_MANIFEST,
} from './kinds.ts';
import type { PageFacts } from './page-facts.ts';

/**
 * JSON under `api/`, feeds and calendars of the page and of each component, and pictures of the state.
 *
 * @param logo  of the header, for light grounds first
 */
export function machineFiles(facts: PageFacts, logo: readonly SocialLogo[] = []): FileEntry[] {
  const { model } = facts;
  return [
    ...v2Files(model),
    jsonFile('api/state.json', () => stateDocument(model)),
    jsonFile('api/uptime.json', () => uptimeDocument(model), 'deferred'),
    jsonFile('build.json', () => buildDocument(model, packageJson.version)),
    ...reportFiles(facts),
    fileEntry(FAVICON, 'favicon.svg', { inputs: () => faviconView(model) }),
    ...(model.definition.access === 'public'
      ? [fileEntry(WEB_MANIFEST, MANIFEST_PATH, { inputs: () => webManifest(model) })]
      : []),
    ...indexFiles(model),
    ...wordedFiles(model, logo),
  ];
}

/** What has words in it and is in each of a page's languages: feeds, calendars and the social image. */
export function wordedFiles(model: PageModel, logo: readonly SocialLogo[] = []): FileEntry[] {
  return [...socialFiles(model, logo), ...feedFiles(model)];
}

function v2Files(model: PageModel): FileEntry[] {
  const documents = once(() => v2Documents(model));
  return [
    jsonFile('api/v2/summary.json', () => documents().summary()),
    jsonFile('api/v2/status.json', () => documents().status()),
    jsonFile('api/v2/components.json', () => documents().components()),
    jsonFile('api/v2/incidents.json', () => documents().incidents()),
    jsonFile('api/v2/incidents/unresolved.json', () => documents().unresolved()),
    jsonFile('api/v2/scheduled-maintenances.json', () => documents().maintenances()),
    jsonFile('api/v2/scheduled-maintenances/upcoming.json', () => documents().upcoming()),
    jsonFile('api/v2/scheduled-maintenances/active.json', () => documents().active()),
  ];
}

function reportFiles({ reportMonths, reportDocument }: PageFacts): FileEntry[] {
  return reportMonths().flatMap((month) => [
    jsonFile(`${reportPath(month)}report.json`, () => reportDocument(month), 'deferred'),
    fileEntry(REPORT_CSV, `${reportPath(month)}report.csv`, {
      priority: 'deferred',
      inputs: () => reportDocument(month),
    }),
  ]);
}

/** A gated page is not shared, so it has no social image; and browsers ask for manifests without cookies. */
function socialFiles(model: PageModel, logo: readonly SocialLogo[]): FileEntry[] {
  if (model.definition.access !== 'public') return [];
  return [fileEntry(SOCIAL_IMAGE, 'og.png', { priority: 'background', inputs: () => socialView(model, logo) })];
}

/** Files that tell others of the page; a page that is not listed has only the one that asks to be left alone. */
function indexFiles(model: PageModel): FileEntry[] {
  const robots = fileEntry(ROBOTS, 'robots.txt', { inputs: () => robotsView(model) });
  if (!isListed(model)) return [robots];
  return [
    robots,
    fileEntry(SITEMAP, 'sitemap.xml', { priority: 'deferred', inputs: () => sitemapView(model) }),
    fileEntry(LLMS, 'llms.txt', { priority: 'deferred', inputs: () => llmsView(model) }),
  ];
}

function jsonFile(path: string, inputs: () => object, priority: Priority = 'immediate'): FileEntry {
  return fileEntry(JSON_FILE, path, { inputs, priority });
}

function feedFiles(model: PageModel): FileEntry[] {
  const feeds = once(() => feedInputs(model));
  const filesFor = (component?: ComponentModel): FileEntry[] => {
    const folder = component === undefined ? '' : componentPath(component.definition.id);
    const feed = { inputs: once(() => feeds().of(component)) };
    return [
      fileEntry(ATOM, `${folder}feed.atom`, feed),
      fileEntry(RSS, `${folder}feed.rss`, feed),
      fileEntry(JSON_FEED, `${folder}feed.json`, feed),
      fileEntry(CALENDAR, `${folder}maintenance.ics`, { inputs: () => calendarView(model, component) }),
    ];
  };
  return [filesFor(), historyFeeds(feeds), ...model.components.map(filesFor)].flat();
}

/** Under the addresses that Statuspage has them at, for programs that know those. */
function historyFeeds(feeds: () => PageFeeds): FileEntry[] {
  const feed = { inputs: once(() => feeds().history()) };
  return [fileEntry(ATOM, 'history.atom', feed), fileEntry(RSS, 'history.rss', feed)];
}
