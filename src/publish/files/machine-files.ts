/** The files of a page that machines read: JSON, feeds, calendars. */

import packageJson from '../../../package.json' with { type: 'json' };
import { favicon } from '../../looks/pictures.ts';
import type { ComponentModel, PageModel } from '../../model/index.ts';
import { once } from '../../once.ts';
import { faviconView, socialView } from '../../views/badges/social.ts';
import { calendarView } from '../../views/feeds/calendar.ts';
import { type Feeds, feedsOf } from '../../views/feeds/feeds.ts';
import { buildDocument } from '../../views/json/build-json.ts';
import { stateDocument } from '../../views/json/state-json.ts';
import { uptimeDocument } from '../../views/json/uptime-json.ts';
import { reportRows } from '../../views/report/report-data.ts';
import { isListed, llmsView, robotsView, sitemapView } from '../../views/site/crawlers.ts';
import { componentPath, reportPath } from '../../views/text/addresses.ts';
import { v2Documents } from '../../views/v2/documents.ts';
import { calendarText } from './calendar-text.ts';
import { llmsText, robotsText, sitemapText } from './crawler-text.ts';
import { atomText, jsonFeedText, rssText } from './feed-text.ts';
import { type FileEntry, fileEntry, type Priority } from './file-entry.ts';
import type { PageFacts } from './page-facts.ts';
import { csvText, jsonText } from './serialise.ts';
import { socialImage } from './social-image.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const ATOM_TYPE = 'application/atom+xml; charset=utf-8';
const RSS_TYPE = 'application/rss+xml; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

/** JSON under `api/`, feeds and calendars of the page and of each component. */
export function machineFiles(facts: PageFacts): FileEntry[] {
  const { model } = facts;
  return [
    ...v2Files(model),
    jsonFile('api/state.json', () => stateDocument(model)),
    jsonFile('api/uptime.json', () => uptimeDocument(model), 'deferred'),
    jsonFile('build.json', () => buildDocument(model, packageJson.version)),
    ...reportFiles(facts),
    ...pictureFiles(model),
    ...indexFiles(model),
    ...feedFiles(model),
  ];
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

function reportFiles({ reportMonths, reportOf }: PageFacts): FileEntry[] {
  return reportMonths().flatMap((month) => {
    const view = () => reportOf(month);
    return [
      jsonFile(`${reportPath(month)}report.json`, view, 'deferred'),
      fileEntry({
        path: `${reportPath(month)}report.csv`,
        contentType: 'text/csv; charset=utf-8',
        kind: 'report-csv',
        priority: 'deferred',
        view,
        draw: (report) => csvText(reportRows(report)),
      }),
    ];
  });
}

/** Pictures of the state. A gated page is not shared, so it has no social image. */
function pictureFiles(model: PageModel): FileEntry[] {
  const icon = fileEntry({
    path: 'favicon.svg',
    contentType: 'image/svg+xml',
    kind: 'favicon',
    view: () => faviconView(model),
    draw: ({ state }) => favicon(state),
  });
  if (model.definition.access !== 'public') return [icon];
  const social = fileEntry({
    path: 'og.png',
    contentType: 'image/png',
    kind: 'social-image',
    priority: 'background',
    view: () => socialView(model),
    draw: socialImage,
  });
  return [icon, social];
}

/** Files that tell others of the page; a page that is not listed has only the one that asks to be left alone. */
function indexFiles(model: PageModel): FileEntry[] {
  const robots = fileEntry({
    path: 'robots.txt',
    contentType: TEXT_TYPE,
    kind: 'robots',
    view: () => robotsView(model),
    draw: robotsText,
  });
  if (!isListed(model)) return [robots];
  return [
    robots,
    fileEntry({
      path: 'sitemap.xml',
      contentType: 'application/xml; charset=utf-8',
      kind: 'sitemap',
      priority: 'deferred',
      view: () => sitemapView(model),
      draw: sitemapText,
    }),
    fileEntry({
      path: 'llms.txt',
      contentType: TEXT_TYPE,
      kind: 'llms',
      priority: 'deferred',
      view: () => llmsView(model),
      draw: llmsText,
    }),
  ];
}

/** A file that is its view as JSON. */
function jsonFile(path: string, view: () => unknown, priority: Priority = 'immediate'): FileEntry {
  return fileEntry({ path, contentType: JSON_TYPE, kind: 'json', view, priority, draw: jsonText });
}

function feedFiles(model: PageModel): FileEntry[] {
  const feeds = once(() => feedsOf(model));
  const filesFor = (component?: ComponentModel): FileEntry[] => {
    const folder = component === undefined ? '' : componentPath(component.definition.id);
    const shared = { view: once(() => feeds().view(component)), inputs: once(() => feeds().inputs(component)) };
    return [
      fileEntry({ ...shared, path: `${folder}feed.atom`, contentType: ATOM_TYPE, kind: 'atom', draw: atomText }),
      fileEntry({ ...shared, path: `${folder}feed.rss`, contentType: RSS_TYPE, kind: 'rss', draw: rssText }),
      fileEntry({
        ...shared,
        path: `${folder}feed.json`,
        contentType: 'application/feed+json; charset=utf-8',
        kind: 'json-feed',
        draw: jsonFeedText,
      }),
      fileEntry({
        path: `${folder}maintenance.ics`,
        contentType: 'text/calendar; charset=utf-8',
        kind: 'calendar',
        view: () => calendarView(model, component),
        draw: calendarText,
      }),
    ];
  };
  return [filesFor(), historyFeeds(feeds), ...model.components.map(filesFor)].flat();
}

/** Under the addresses that Statuspage has them at, for programs that know those. */
function historyFeeds(feeds: () => Feeds): FileEntry[] {
  const shared = { view: once(() => feeds().history()), inputs: once(() => feeds().historyInputs()) };
  return [
    fileEntry({ ...shared, path: 'history.atom', contentType: ATOM_TYPE, kind: 'atom', draw: atomText }),
    fileEntry({ ...shared, path: 'history.rss', contentType: RSS_TYPE, kind: 'rss', draw: rssText }),
  ];
}
