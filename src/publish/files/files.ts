/** Every file of one status page, badges included. */

import packageJson from '../../../package.json' with { type: 'json' };
import { badgeInputs } from '../../badges/files.ts';
import { BADGE_KINDS, type BadgeKind, isCard, PART_KINDS } from '../../badges/kinds.ts';
import { BADGE_FORMATS, badgeFileName } from '../../badges/names.ts';
import { mergeBadgeOptions } from '../../badges/options.ts';
import type { LogoFile } from '../../config/own-files.ts';
import type { ComponentModel, PageModel } from '../../model/index.ts';
import { PAGE_SCRIPTS } from '../../model/slugs.ts';
import { once } from '../../once.ts';
import { type BadgeSubject, type BadgeSubjects, badgeSubjects } from '../../views/badges/badge-subjects.ts';
import { type SocialLogo, socialView } from '../../views/badges/social.ts';
import { verifyView } from '../../views/component/verify.ts';
import { calendarView, feedInputs, type PageFeeds } from '../../views/feeds/feeds.ts';
import { webManifest } from '../../views/frame/shell.ts';
import { buildDocument, stateDocument } from '../../views/json/state-json.ts';
import { uptimeDocument } from '../../views/json/uptime-json.ts';
import { notFoundView } from '../../views/page/not-found.ts';
import { embedView, statusPageView } from '../../views/page/status-page.ts';
import { reportIndexView } from '../../views/report/report.ts';
import { isListed, llmsView, robotsView, sitemapView } from '../../views/site/crawlers.ts';
import {
  BADGES_PATH,
  componentPath,
  EMBED_PATH,
  groupPath,
  HISTORY_PATH,
  HOME_PATH,
  historyPath,
  incidentPath,
  MANIFEST_PATH,
  maintenancePath,
  REPORTS_PATH,
  reportPath,
  UPTIME_PATH,
  VERIFY_PATH,
} from '../../views/text/addresses.ts';
import { v2Documents } from '../../views/v2/documents.ts';
import type { ResolvedPage } from '../definitions/definitions.ts';
import { ICON_PATH, type PageIcon } from '../definitions/overlay.ts';
import type { BadgeData } from '../releases/release-data.ts';
import { type FileEntry, type FileEntryInit, fileEntry, inFolder, type Priority } from './file-entry.ts';
import { type FileKind, KINDS, LOGOS } from './kinds.ts';
import { type PageFacts, pageFacts } from './page-facts.ts';

interface FilesOptions {
  /** Options for badges. Default: the standard ones. */
  readonly badge?: PageBadges;
  /** Redirects below the page. Default: none. */
  readonly redirects?: Readonly<Record<string, string>>;
  /** The icon that the page serves. Default: none. */
  readonly icon?: PageIcon | null;
  /** Logos that the page serves, the one for light backgrounds first. Default: none. */
  readonly logo?: readonly LogoFile[];
}

/** All files of a page, each path once. Views, keys and bytes are only made when an entry needs them. */
export function pageFiles(model: PageModel, options: FilesOptions = {}): FileEntry[] {
  const facts = pageFacts(model);
  const { icon = null, badge = { options: { locale: model.settings.locale }, named: [] } } = options;
  const files = [
    ...htmlFiles(facts, badge),
    ...machineFiles(facts, options.logo),
    ...scriptFiles(model),
    ...(icon === null ? [] : [fileEntry(KINDS.icon, ICON_PATH, { inputs: () => icon })]),
    ...logoFiles(options.logo ?? []),
  ];
  const originals = once(() => new Map(files.map((file) => [file.path, file])));
  for (const other of model.others ?? [])
    files.push(...otherFiles(other, badge, { ...options, originals: originals() }));
  return [...files, ...redirectFiles(options.redirects ?? {}, model.settings.url, files)];
}

/** Files of a page in its other languages: everything with words, except JSON. */
function otherFiles(
  model: PageModel,
  badge: PageBadges,
  options: FilesOptions & { readonly originals: ReadonlyMap<string, FileEntry> },
): FileEntry[] {
  const facts = pageFacts(model);
  const files = [...htmlFiles(facts, badge), ...wordedFiles(facts, options.logo)];
  return files.map((file) => inFolder(model.settings.languages?.path ?? '', file, options.originals.get(file.path)));
}

/** Pages behind a gate have theirs in them. */
function scriptFiles({ definition }: PageModel): FileEntry[] {
  if (definition.access !== 'public') return [];
  return PAGE_SCRIPTS.map((name) => fileEntry(KINDS.pageScript, name, { inputs: () => ({ name }) }));
}

/** @param prefix  before their names; default: none */
export function logoFiles(files: readonly LogoFile[], prefix = ''): FileEntry[] {
  return files.flatMap(({ path, contentType, base64 }) => {
    const kind = LOGOS[contentType];
    return kind === undefined ? [] : [fileEntry(kind, prefix + path, { inputs: () => ({ base64 }) })];
  });
}

/**
 * The HTML files of a page. Those about past events depend on nothing else, so news leaves them alone; those that only grow older
 * follow the heartbeat; the others follow the present.
 */
function htmlFiles(facts: PageFacts, { named }: PageBadges): FileEntry[] {
  const { model, frame } = facts;
  return [
    htmlFile(KINDS.statusPage, HOME_PATH, { inputs: () => statusPageView(model) }),
    htmlFile(KINDS.embed, EMBED_PATH, { inputs: () => embedView(model) }),
    htmlFile(KINDS.history, HISTORY_PATH, { inputs: () => facts.history(null) }),
    ...facts
      .months()
      .map((month) => htmlFile(KINDS.history, historyPath(month), { inputs: () => facts.history(month) })),
    // At its current address and all earlier ones. The page names the current one.
    ...model.incidents.flatMap((one) =>
      [one.slug, ...one.aliases].map((slug) =>
        htmlFile(KINDS.incident, incidentPath(slug), { inputs: () => facts.incident(one) }),
      ),
    ),
    ...model.maintenances.map((one) =>
      htmlFile(KINDS.maintenance, maintenancePath(one.slug), { inputs: () => facts.maintenance(one) }),
    ),
    ...model.components.map((one) =>
      htmlFile(KINDS.component, componentPath(one.definition.id), {
        inputs: () => facts.component(one),
        words: () => facts.componentWords(one),
      }),
    ),
    htmlFile(KINDS.uptimeCalendar, UPTIME_PATH, { priority: 'deferred', inputs: facts.uptimeCalendar }),
    htmlFile(KINDS.reportIndex, REPORTS_PATH, {
      priority: 'deferred',
      inputs: () => reportIndexView(frame(), facts.reportMonths()),
    }),
    ...facts
      .reportMonths()
      .map((month) =>
        htmlFile(KINDS.report, reportPath(month), { priority: 'deferred', inputs: () => facts.report(month) }),
      ),
    htmlFile(KINDS.verify, VERIFY_PATH, {
      // It shows the log before this release, so it is never news.
      priority: 'background',
      inputs: () => verifyView({ frame: frame(), log: model.log, components: model.components }),
    }),
    htmlFile(KINDS.badgeGallery, BADGES_PATH, {
      inputs: () => ({ frame: frame(), badgeNames: [...BADGE_KINDS, ...named.map(({ name }) => name)] }),
    }),
    fileEntry(KINDS.notFound, '404.html', { inputs: () => notFoundView(frame()) }),
  ];
}

/** @param folder  below the page, with a slash at its end; empty: the page itself */
export function htmlFile<Inputs extends object>(
  kind: FileKind<Inputs>,
  folder: string,
  init: FileEntryInit<Inputs>,
): FileEntry {
  return fileEntry(kind, `${folder}index.html`, init);
}

/** The address of a file, such as a feed: it ends with a name that has an extension. */
const FILE_NAME = /\.[a-z][a-z0-9]{1,4}$/i;

/**
 * Files for redirects within the page: our server answers with the new address, and other hosts with a document. There is one for
 * each redirect from an unused address to something that the page has.
 *
 * @param redirects  addresses below the page, as in the configuration
 * @param pageUrl  with a slash at the end
 * @param files  all other files of the page
 */
function redirectFiles(redirects: Readonly<Record<string, string>>, pageUrl: string, files: readonly FileEntry[]) {
  // Most pages have none, and collecting the places of all files costs as much as rendering one.
  if (Object.keys(redirects).length === 0) return [];
  const taken = new Set(files.map(({ path }) => path));
  const places = new Set([...taken].flatMap(occupiedPaths));
  const entries: FileEntry[] = [];
  for (const [from, to] of Object.entries(redirects)) {
    const path = addressPath(from);
    const target = addressPath(to);
    if (!taken.has(target) || places.has(path) || parentFolders(path).some((folder) => taken.has(folder))) continue;
    for (const place of occupiedPaths(path)) places.add(place);
    taken.add(path);
    const location = target.replace(/(^|\/)index\.html$/, '$1');
    const up = '../'.repeat(parentFolders(path).length);
    const link = up + location;
    entries.push(
      fileEntry(KINDS.redirect, path, {
        inputs: () => ({ location, link: link === '' ? './' : link, url: pageUrl + location }),
      }),
    );
  }
  return entries;
}

/** The file at an address. */
function addressPath(address: string): string {
  const path = address.replace(/^\/|\/$/g, '');
  if (path === '') return 'index.html';
  return FILE_NAME.test(path) && !address.endsWith('/') ? path : `${path}/index.html`;
}

/** A file and all its parent folders, where no other file can be. */
function occupiedPaths(path: string): string[] {
  return [path, ...parentFolders(path)];
}

function parentFolders(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

// Files of a page for programs: JSON, feeds and calendars.

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
    fileEntry(KINDS.favicon, 'favicon.svg', { inputs: () => ({ state: model.state }) }),
    ...(model.definition.access === 'public'
      ? [fileEntry(KINDS.webManifest, MANIFEST_PATH, { inputs: () => webManifest(model) })]
      : []),
    ...indexFiles(model),
    ...wordedFiles(facts, logo),
  ];
}

/** Files with words, which exist in each language of a page: feeds, calendars and the social image. */
function wordedFiles(facts: PageFacts, logo: readonly SocialLogo[] = []): FileEntry[] {
  return [...socialFiles(facts.model, logo), ...feedFiles(facts)];
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
    fileEntry(KINDS.reportCsv, `${reportPath(month)}report.csv`, {
      priority: 'deferred',
      inputs: () => reportDocument(month),
    }),
  ]);
}

/** Private pages aren't shared, so they have no social image. Browsers request manifests without cookies. */
function socialFiles(model: PageModel, logo: readonly SocialLogo[]): FileEntry[] {
  if (model.definition.access !== 'public') return [];
  return [fileEntry(KINDS.socialImage, 'og.png', { priority: 'background', inputs: () => socialView(model, logo) })];
}

/** Files for crawlers. A page that isn't listed only has a robots.txt that keeps them away. */
function indexFiles(model: PageModel): FileEntry[] {
  const robots = fileEntry(KINDS.robots, 'robots.txt', { inputs: () => robotsView(model) });
  if (!isListed(model)) return [robots];
  return [
    robots,
    fileEntry(KINDS.sitemap, 'sitemap.xml', { priority: 'deferred', inputs: () => sitemapView(model) }),
    fileEntry(KINDS.llms, 'llms.txt', { priority: 'deferred', inputs: () => llmsView(model) }),
  ];
}

function jsonFile(path: string, inputs: () => object, priority: Priority = 'immediate'): FileEntry {
  return fileEntry(KINDS.json, path, { inputs, priority });
}

function feedFiles({ model, componentWords }: PageFacts): FileEntry[] {
  const feeds = once(() => feedInputs(model));
  const filesFor = (component?: ComponentModel): FileEntry[] => {
    const folder = component === undefined ? '' : componentPath(component.definition.id);
    const words = component === undefined ? {} : { words: () => componentWords(component) };
    const feed = { inputs: once(() => feeds().of(component)), ...words };
    return [
      fileEntry(KINDS.atom, `${folder}feed.atom`, feed),
      fileEntry(KINDS.rss, `${folder}feed.rss`, feed),
      fileEntry(KINDS.jsonFeed, `${folder}feed.json`, feed),
      fileEntry(KINDS.calendar, `${folder}maintenance.ics`, { inputs: () => calendarView(model, component), ...words }),
    ];
  };
  return [filesFor(), historyFeeds(feeds), ...model.components.map(filesFor)].flat();
}

/** At the same addresses as on Statuspage, for programs that use those. */
function historyFeeds(feeds: () => PageFeeds): FileEntry[] {
  const feed = { inputs: once(() => feeds().history()) };
  return [fileEntry(KINDS.atom, 'history.atom', feed), fileEntry(KINDS.rss, 'history.rss', feed)];
}

/** Options for the badges of a page, and the operator's custom badges, in addition to the standard ones. */
export type PageBadges = Pick<BadgeData, 'options' | 'named'>;

/** The options of a page's badges, from its settings and the configuration. */
export function pageBadges({ config, settings }: ResolvedPage): PageBadges {
  return { options: { locale: settings.locale, ...config?.badge }, named: config?.badges ?? [] };
}

/** The data for badges that is stored with a release. */
export function badgeData(model: PageModel, page: ResolvedPage): BadgeData {
  return { ...pageBadges(page), subjects: badgeSubjects(model), staleAfter: model.staleAfter };
}

/** Every kind and custom badge for the page, and a few for each group and component, in every format. */
export function badgeFiles({ page, groups, components }: BadgeSubjects, { options, named }: PageBadges): FileEntry[] {
  const files = (folder: string, name: string, kind: BadgeKind, subject: BadgeSubject, own = options) =>
    BADGE_FORMATS.map((format) =>
      fileEntry(KINDS.badges[format], `${folder}${BADGES_PATH}${badgeFileName(name, format)}`, {
        priority: format === '.png' || isCard(kind) ? 'background' : 'immediate',
        inputs: () => badgeInputs(subject, kind, own),
      }),
    );
  const parts = [
    ...groups.map(({ id, subject }) => [groupPath(id), subject] as const),
    ...components.map(({ id, subject }) => [componentPath(id), subject] as const),
  ];
  return [
    ...BADGE_KINDS.flatMap((kind) => files('', kind, kind, page)),
    ...named.flatMap(({ name, kind, ...own }) => files('', name, kind, page, mergeBadgeOptions(options, own))),
    ...parts.flatMap(([folder, subject]) => PART_KINDS.flatMap((kind) => files(folder, kind, kind, subject))),
  ];
}
