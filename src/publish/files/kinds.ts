/**
 * Every kind of file: a pure function from inputs to bytes. No model is in reach here, so a file can only show its inputs, and
 * the digest of these decides whether it is rendered again.
 */

import { readFileSync } from 'node:fs';
import { type BadgeInputs, drawBadge } from '../../badges/files.ts';
import { galleryChoices } from '../../badges/kinds.ts';
import type { BadgeFormat } from '../../badges/names.ts';
import { favicon } from '../../looks/stylesheet.ts';
import type { ComponentModel, EpochMs, PageIncident, PageMaintenance, State } from '../../model/index.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import { PUBLIC_TYPES } from '../../model/slugs.ts';
import { badgeGalleryView } from '../../views/badges/badge-gallery.ts';
import type { SocialView } from '../../views/badges/social.ts';
import { componentView } from '../../views/component/component.ts';
import { type FeedInputs, feedView } from '../../views/feeds/feeds.ts';
import type { PageAge, PageFrame, Settled } from '../../views/frame/page-frame.ts';
import { type HistoryPage, historyView } from '../../views/history/history.ts';
import { type CalendarIncident, uptimeCalendarView } from '../../views/history/uptime-calendar.ts';
import type { ViewByKind, ViewKind } from '../../views/html.ts';
import { incidentView } from '../../views/incident/incident.ts';
import { maintenanceView } from '../../views/incident/maintenance.ts';
import { type ReportDocument, reportRows } from '../../views/json/report-data.ts';
import { type ReportPage, reportView } from '../../views/report/report.ts';
import type { LlmsView, RobotsView, SitemapIndexView, SitemapView } from '../../views/site/crawlers.ts';
import { cleanLine, cleanMarkup } from '../../views/text/plain-text.ts';
import type { SecurityContact } from '../definitions/inputs.ts';
import { atomText, calendarText, csvText, jsonFeedText, jsonText, rssText } from './feed-text.ts';
import { socialImage } from './social-image.ts';

/** Renders a view as HTML, with the compiled pages. */
export interface PageRenderer {
  render(kind: string, view: unknown): Promise<Drawn>;
  /** Text of a script that pages load from a file; absent: its pages have none. */
  readonly scriptOf?: (name: string) => string;
  /** Renders a social image as PNG in a thread that doesn't last; absent: this thread does. */
  readonly socialImage?: (view: SocialView) => Promise<Uint8Array>;
}

/** A file's bytes, and for HTML the content security policy that belongs to them. */
export interface Drawn {
  readonly body: string | Uint8Array;
  readonly csp: string | null;
  /** Target of a redirect, below the page; absent: not a redirect. */
  readonly location?: string;
}

export interface FileKind<Inputs> {
  readonly name: string;
  readonly contentType: string;
  /** Pure: the same inputs give the same bytes. */
  readonly draw: (inputs: Inputs, renderer: PageRenderer) => Promise<Drawn>;
}

/** A kind that an Astro page renders. By default, the inputs are the view, which is best where making it costs little. */
function htmlKind<Kind extends ViewKind>(page: Kind): FileKind<ViewByKind[Kind]>;
function htmlKind<Kind extends ViewKind, Inputs>(
  page: Kind,
  view: (inputs: Inputs) => ViewByKind[Kind],
): FileKind<Inputs>;
function htmlKind(page: ViewKind, view: (inputs: unknown) => unknown = (inputs) => inputs): FileKind<unknown> {
  return {
    name: page,
    contentType: 'text/html; charset=utf-8',
    draw: (inputs, renderer) => renderer.render(page, view(inputs)),
  };
}

/** A kind that is rendered without Astro. */
function fileKind<Inputs>(
  name: string,
  contentType: string,
  draw: (inputs: Inputs, renderer: PageRenderer) => string | Uint8Array | Promise<string | Uint8Array>,
): FileKind<Inputs> {
  return { name, contentType, draw: async (inputs, renderer) => ({ body: await draw(inputs, renderer), csp: null }) };
}

// Pages

export const STATUS_PAGE = htmlKind('status-page');
export const EMBED = htmlKind('embed');
export const NOT_FOUND = htmlKind('not-found');
export const REPORT_INDEX = htmlKind('report-index');
export const VERIFY = htmlKind('verify');
export const INDEX_OF_PAGES = htmlKind('index-of-pages');

export interface ComponentInputs {
  readonly frame: PageFrame;
  readonly age: PageAge;
  readonly component: ComponentModel;
  /** Those that affect the component. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** Names of the badges that components have, as in their addresses. */
  readonly badges: readonly string[];
  /** Past days that say something else than they once did. */
  readonly corrected: NonNullable<Parameters<typeof componentView>[2]['corrected']>;
}

export const COMPONENT = htmlKind(
  'component',
  ({ frame, age, component, incidents, maintenances, badges, corrected }: ComponentInputs) =>
    componentView({ ...frame, ...age, incidents, maintenances }, component, {
      badges: galleryChoices(badges, frame.settings.locale).kinds,
      corrected,
    }),
);

export type IncidentInputs = (PageAge | Settled) & {
  readonly frame: PageFrame;
  readonly incident: PageIncident;
};

export const INCIDENT = htmlKind('incident', ({ frame, incident, ...age }: IncidentInputs) =>
  incidentView({ ...frame, ...age }, incident),
);

export type MaintenanceInputs = (PageAge | Settled) & {
  readonly frame: PageFrame;
  readonly maintenance: PageMaintenance;
};

export const MAINTENANCE = htmlKind('maintenance', ({ frame, maintenance, ...age }: MaintenanceInputs) =>
  maintenanceView({ ...frame, ...age }, maintenance),
);

export interface HistoryInputs extends Pick<HistoryPage, 'months' | 'incidentCounts'> {
  readonly frame: PageFrame;
  /** Null: the current one, as `history/` itself shows. */
  readonly month: string | null;
  /** Those that begin in the month. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** The present, or the latest instant that they depend on. */
  readonly asOf: EpochMs;
}

export const HISTORY = htmlKind('history', ({ frame, month, ...page }: HistoryInputs) =>
  historyView({ ...frame, ...page }, month),
);

export interface CalendarInputs {
  readonly frame: PageFrame;
  readonly age: PageAge;
  readonly state: State;
  /** When the page entered that state. */
  readonly since: EpochMs | null;
  readonly components: readonly ComponentModel[];
  readonly incidents: readonly CalendarIncident[];
}

export const UPTIME_CALENDAR = htmlKind('uptime-calendar', ({ frame, age, ...page }: CalendarInputs) =>
  uptimeCalendarView({ ...frame, ...age, ...page }),
);

export interface ReportInputs extends Pick<ReportPage, 'months' | 'components'> {
  readonly frame: PageFrame;
  readonly month: string;
  /** Those that overlap the month. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** The present while the month or one of them is not over; else the latest instant that the report depends on. */
  readonly asOf: EpochMs;
}

export const REPORT = htmlKind('report', ({ frame, month, ...page }: ReportInputs) =>
  reportView({ ...frame, ...page }, month),
);

export const BADGE_GALLERY = htmlKind(
  'badge-gallery',
  /** `badgeNames`: names of the page's badges, as in their addresses. */
  ({ frame, badgeNames }: { readonly frame: PageFrame; readonly badgeNames: readonly string[] }) =>
    badgeGalleryView(frame, galleryChoices(badgeNames, frame.settings.locale)),
);

interface RedirectInputs {
  /** Target, below the page. */
  readonly location: string;
  /** The same, relative to the file. */
  readonly link: string;
  /** The same as a whole address. */
  readonly url: string;
}

/** For hosts that only have files. The document has no words, so it suits every language. */
export const REDIRECT: FileKind<RedirectInputs> = {
  name: 'redirect',
  contentType: 'text/html; charset=utf-8',
  draw: async ({ location, link, url }) => {
    const [to, whole] = [escapeMarkup(link), escapeMarkup(url)];
    const body = `<!doctype html>
<html><head><meta charset="utf-8"><title>${whole}</title><meta http-equiv="refresh" content="0; url=${to}"><meta name="robots" content="noindex"><link rel="canonical" href="${whole}"></head><body><a href="${to}">${whole}</a></body></html>
`;
    return { body, csp: null, location };
  },
};

// Data

/** The input is the document itself. */
export const JSON_FILE = fileKind<object>('json', 'application/json; charset=utf-8', jsonText);
export const WEB_MANIFEST = fileKind<object>('web-manifest', 'application/manifest+json; charset=utf-8', jsonText);
export const REPORT_CSV = fileKind('report-csv', 'text/csv; charset=utf-8', (report: ReportDocument) =>
  csvText(reportRows(report)),
);

export const ATOM = fileKind('atom', 'application/atom+xml; charset=utf-8', (inputs: FeedInputs) =>
  atomText(feedView(inputs)),
);
export const RSS = fileKind('rss', 'application/rss+xml; charset=utf-8', (inputs: FeedInputs) =>
  rssText(feedView(inputs)),
);
export const JSON_FEED = fileKind('json-feed', 'application/feed+json; charset=utf-8', (inputs: FeedInputs) =>
  jsonFeedText(feedView(inputs)),
);
export const CALENDAR = fileKind('calendar', 'text/calendar; charset=utf-8', calendarText);

const TEXT_TYPE = 'text/plain; charset=utf-8';
export const TEXT_FILE = fileKind('text', TEXT_TYPE, ({ text }: { readonly text: string }) => text);
export const ROBOTS = fileKind('robots', TEXT_TYPE, robotsText);
export const SECURITY = fileKind('security', TEXT_TYPE, securityText);
export const LLMS = fileKind('llms', TEXT_TYPE, llmsText);
export const SITEMAP = fileKind('sitemap', 'application/xml; charset=utf-8', sitemapText);

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
/** One of our scripts, unchanged. */
export const SCRIPT = fileKind('script', SCRIPT_TYPE, ({ text }: { readonly text: string }) => text);
/** One of those that the pages are compiled with. */
export const PAGE_SCRIPT = fileKind(
  'page-script',
  SCRIPT_TYPE,
  ({ name }: { readonly name: string }, renderer) => renderer.scriptOf?.(name) ?? '',
);

// Pictures

const SVG = 'image/svg+xml; charset=utf-8';

/** A badge in each format. */
export const BADGES: Readonly<Record<BadgeFormat, FileKind<BadgeInputs>>> = {
  '-light.svg': badgeKind('-light.svg', SVG),
  '-dark.svg': badgeKind('-dark.svg', SVG),
  '.svg': badgeKind('.svg', SVG),
  '.json': badgeKind('.json', 'application/json; charset=utf-8'),
  '.png': badgeKind('.png', 'image/png'),
};

function badgeKind(format: BadgeFormat, contentType: string): FileKind<BadgeInputs> {
  return fileKind(`badge${format}`, contentType, async (inputs) => (await drawBadge(inputs, format)).body);
}

export const FAVICON = fileKind('favicon', 'image/svg+xml', ({ state }: { readonly state: State }) => favicon(state));
export const SOCIAL_IMAGE = fileKind('social-image', 'image/png', (view: SocialView, renderer) =>
  (renderer.socialImage ?? socialImage)(view),
);
/** An operator's picture, which was fetched and made smaller before. */
export const ICON = fileKind('icon', 'image/png', ({ png }: { readonly png: string }) => Buffer.from(png, 'base64'));

const decode = ({ base64 }: { readonly base64: string }) => Buffer.from(base64, 'base64');
/** An operator's logos, unchanged, by content type. */
export const LOGOS: Readonly<Record<string, FileKind<{ readonly base64: string }>>> = {
  'image/svg+xml': fileKind('logo-svg', 'image/svg+xml', decode),
  'image/png': fileKind('logo-png', 'image/png', decode),
};

/** A file of `public/`, and its digest when the configuration was read. */
interface PublicInputs {
  readonly file: string;
  readonly sha256: string;
}

/**
 * Files of `public/`, by content type. A file that changed since the configuration was read is published as it is now; the next
 * reload notices its new digest.
 */
export const PUBLIC_FILES: Readonly<Record<string, FileKind<PublicInputs>>> = Object.fromEntries(
  [...new Set(Object.values(PUBLIC_TYPES))].map((contentType) => [
    contentType,
    fileKind(`public ${contentType}`, contentType, ({ file }: PublicInputs) => readFileSync(file)),
  ]),
);

/** Sitemaps, robots.txt, llms.txt and security.txt as text. */
const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';
const XHTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';
const SITEMAP_NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** A sitemap, or the index of several. */
export function sitemapText(view: SitemapView | SitemapIndexView): string {
  if ('sitemaps' in view) {
    const entries = view.sitemaps.map((loc) => `<sitemap><loc>${cleanMarkup(loc)}</loc></sitemap>\n`);
    return `${XML_HEAD}<sitemapindex xmlns="${SITEMAP_NAMESPACE}">\n${entries.join('')}</sitemapindex>\n`;
  }
  const entries = view.urls.map(({ loc, lastmod, alternates = [] }) => {
    const changed = lastmod === null ? '' : `<lastmod>${lastmod}</lastmod>`;
    const others = alternates.map(
      ({ locale, href }) => `<xhtml:link rel="alternate" hreflang="${locale}" href="${cleanMarkup(href)}"/>`,
    );
    return `<url><loc>${cleanMarkup(loc)}</loc>${changed}${others.join('')}</url>\n`;
  });
  const links = view.urls.some(({ alternates }) => alternates) ? ` xmlns:xhtml="${XHTML_NAMESPACE}"` : '';
  return `${XML_HEAD}<urlset xmlns="${SITEMAP_NAMESPACE}"${links}>\n${entries.join('')}</urlset>\n`;
}

/** A robots.txt. */
export function robotsText({ isAllowed, sitemap }: RobotsView): string {
  const rule = isAllowed ? 'Allow: /' : 'Disallow: /';
  return `User-agent: *\n${rule}\n${sitemap === null ? '' : `\nSitemap: ${sitemap}\n`}`;
}

/** A security.txt (RFC 9116). Its addresses were checked where they came in: they hold no line breaks. */
function securityText({ contact, expires, policy, encryption }: SecurityContact): string {
  const fields: readonly (readonly [string, string | undefined])[] = [
    ...contact.map((address) => ['Contact', address] as const),
    ['Expires', expires],
    ['Encryption', encryption],
    ['Policy', policy],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${cleanLine(value)}\n`])).join('');
}

/** An llms.txt: a heading, a summary, and lists of links, in Markdown. */
export function llmsText({ title, summary, sections }: LlmsView): string {
  const lists = sections.map(({ heading, links }) => {
    const lines = links.map(
      ({ text, url, note }) => `- [${escapeMarkdown(text)}](${url})${note === '' ? '' : `: ${escapeMarkdown(note)}`}`,
    );
    return `\n## ${escapeMarkdown(heading)}\n\n${lines.join('\n')}\n`;
  });
  return `# ${escapeMarkdown(title)}\n\n> ${escapeMarkdown(summary)}\n${lists.join('')}`;
}

/** Escapes text for Markdown, so that it creates no links, markup or headings. */
function escapeMarkdown(text: string): string {
  return cleanLine(text).replace(/[\\`*_{}[\]()<>#!|~]/g, '\\$&');
}
