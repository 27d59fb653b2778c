/** Every file of one status page. */

import { BADGE_KINDS } from '../../badges/kinds.ts';
import type { LogoFile } from '../../config/look.ts';
import type { PageModel } from '../../model/index.ts';
import { verifyView } from '../../views/component/verify.ts';
import { embedView } from '../../views/page/embed.ts';
import { notFoundView } from '../../views/page/not-found.ts';
import { statusPageView } from '../../views/page/status-page.ts';
import { reportIndexView } from '../../views/report/report.ts';
import {
  BADGES_PATH,
  componentPath,
  EMBED_PATH,
  HISTORY_PATH,
  HOME_PATH,
  historyPath,
  incidentPath,
  maintenancePath,
  REPORTS_PATH,
  reportPath,
  UPTIME_PATH,
  VERIFY_PATH,
} from '../../views/text/addresses.ts';
import { ICON_PATH, type PageIcon } from '../definitions/presentation.ts';
import { badgeFiles, type PageBadges } from './badge-files.ts';
import { type FileEntry, type FileEntryInit, fileEntry, inFolder } from './file-entry.ts';
import {
  BADGE_GALLERY,
  COMPONENT,
  EMBED,
  type FileKind,
  HISTORY,
  ICON,
  INCIDENT,
  LOGOS,
  MAINTENANCE,
  NOT_FOUND,
  REDIRECT,
  REPORT,
  REPORT_INDEX,
  STATUS_PAGE,
  UPTIME_CALENDAR,
  VERIFY,
} from './kinds.ts';
import { machineFiles, wordedFiles } from './machine-files.ts';
import { type PageFacts, pageFacts } from './page-facts.ts';

interface FilesOptions {
  /** Write badges as files, for targets with no server that draws them on demand. */
  readonly badges: boolean;
  /** How badges are drawn; default: as they come, with none of the operator's own. */
  readonly badge?: PageBadges;
  /** Addresses below the page and those that they lead to; default: none. */
  readonly redirects?: Readonly<Record<string, string>>;
  /** A picture that the page serves; default: none. */
  readonly icon?: PageIcon | null;
  /** Pictures of the header that the page serves, that for light grounds first; default: none. */
  readonly logo?: readonly LogoFile[];
}

/** All files of a page, each path once. Cheap: views, keys and bytes are made only when an entry is asked for them. */
export function pageFiles(model: PageModel, options: FilesOptions): FileEntry[] {
  const facts = pageFacts(model);
  const badge = options.badge ?? { options: { locale: model.settings.locale }, named: [] };
  const files = [
    ...htmlFiles(facts, badge),
    ...machineFiles(facts, options.logo),
    ...(options.badges ? badgeFiles(model, badge) : []),
    ...(model.others ?? []).flatMap((other) => otherFiles(other, badge, options)),
    ...iconFiles(options.icon ?? null),
    ...logoFiles(options.logo ?? []),
  ];
  return [...files, ...redirectFiles(options.redirects ?? {}, { pageUrl: model.settings.url, files })];
}

/** What a page has in each of its other languages: everything with words in it, but for JSON. */
function otherFiles(model: PageModel, badge: PageBadges, options: FilesOptions): FileEntry[] {
  const facts = pageFacts(model);
  const { locale, languages } = model.settings;
  const files = [
    ...htmlFiles(facts, badge),
    ...wordedFiles(model, options.logo),
    ...(options.badges ? badgeFiles(model, { ...badge, options: { ...badge.options, locale } }) : []),
  ];
  return files.map((file) => inFolder(languages?.path ?? '', file));
}

function iconFiles(icon: PageIcon | null): FileEntry[] {
  if (icon === null) return [];
  return [fileEntry(ICON, ICON_PATH, { inputs: () => icon })];
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
    htmlFile(STATUS_PAGE, HOME_PATH, { inputs: () => statusPageView(model) }),
    htmlFile(EMBED, EMBED_PATH, { inputs: () => embedView(model) }),
    htmlFile(HISTORY, HISTORY_PATH, { inputs: () => facts.history(null) }),
    ...facts.months().map((month) => htmlFile(HISTORY, historyPath(month), { inputs: () => facts.history(month) })),
    // At its address, and at every other that it was ever known under: the page itself names the one.
    ...model.incidents.flatMap((one) =>
      [one.slug, ...one.aliases].map((slug) =>
        htmlFile(INCIDENT, incidentPath(slug), { inputs: () => facts.incident(one) }),
      ),
    ),
    ...model.maintenances.map((one) =>
      htmlFile(MAINTENANCE, maintenancePath(one.slug), { inputs: () => facts.maintenance(one) }),
    ),
    ...model.components.map((one) =>
      htmlFile(COMPONENT, componentPath(one.definition.id), { inputs: () => facts.component(one) }),
    ),
    htmlFile(UPTIME_CALENDAR, UPTIME_PATH, { priority: 'deferred', inputs: facts.uptimeCalendar }),
    htmlFile(REPORT_INDEX, REPORTS_PATH, {
      priority: 'deferred',
      inputs: () => reportIndexView(frame(), facts.reportMonths()),
    }),
    ...facts
      .reportMonths()
      .map((month) => htmlFile(REPORT, reportPath(month), { priority: 'deferred', inputs: () => facts.report(month) })),
    htmlFile(VERIFY, VERIFY_PATH, {
      // It shows the log as it was before, so it is never news.
      priority: 'background',
      inputs: () => verifyView({ frame: frame(), log: model.log, components: model.components }),
    }),
    htmlFile(BADGE_GALLERY, BADGES_PATH, {
      inputs: () => ({ frame: frame(), badgeNames: [...BADGE_KINDS, ...named.map(({ name }) => name)] }),
    }),
    fileEntry(NOT_FOUND, '404.html', { inputs: () => notFoundView(frame()) }),
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

interface RedirectContext {
  /** With a slash at its end. */
  readonly pageUrl: string;
  /** Everything else that the page has. */
  readonly files: readonly Pick<FileEntry, 'path'>[];
}

/** An old address of a file, such as that of a feed: it ends in a name with an ending. */
const FILE_NAME = /\.[a-z][a-z0-9]{1,4}$/i;

/**
 * Files at addresses that lead to others of the page: our server answers with the new address, other hosts with a document. One for
 * each redirect that leads to something the page has, and from where it has nothing.
 *
 * @param redirects  addresses below the page, as in the configuration
 */
function redirectFiles(redirects: Readonly<Record<string, string>>, { pageUrl, files }: RedirectContext): FileEntry[] {
  // Most pages have none, and looking at the places of all files costs as much as drawing one.
  if (Object.keys(redirects).length === 0) return [];
  const taken = new Set(files.map(({ path }) => path));
  const places = new Set([...taken].flatMap(occupiedPaths));
  const entries: FileEntry[] = [];
  for (const [from, to] of Object.entries(redirects)) {
    const path = pathOf(from);
    const target = pathOf(to);
    if (!taken.has(target) || places.has(path) || parentFolders(path).some((folder) => taken.has(folder))) continue;
    for (const place of occupiedPaths(path)) places.add(place);
    taken.add(path);
    const location = target.replace(/(^|\/)index\.html$/, '$1');
    const up = '../'.repeat(parentFolders(path).length);
    const link = up + location;
    entries.push(
      fileEntry(REDIRECT, path, {
        inputs: () => ({ location, link: link === '' ? './' : link, url: pageUrl + location }),
      }),
    );
  }
  return entries;
}

/** The file at an address. */
function pathOf(address: string): string {
  const path = address.replace(/^\/|\/$/g, '');
  if (path === '') return 'index.html';
  return FILE_NAME.test(path) && !address.endsWith('/') ? path : `${path}/index.html`;
}

/** A file and every folder that it is in: where no other file can be. */
function occupiedPaths(path: string): string[] {
  return [path, ...parentFolders(path)];
}

function parentFolders(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
