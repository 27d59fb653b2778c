/**
 * Every kind of file: a pure function from inputs to bytes. No model is in reach here, so a file can only show its inputs, and
 * the digest of these decides whether it is rendered again.
 */

import { readFileSync } from 'node:fs';
import { type BadgeInputs, drawBadge } from '../../badges/files.ts';
import { galleryChoices, PART_KINDS } from '../../badges/kinds.ts';
import type { BadgeFormat } from '../../badges/names.ts';
import { favicon } from '../../looks/states.ts';
import type { ComponentModel, PageIncident, PageMaintenance, State } from '../../model/index.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import { PUBLIC_TYPES } from '../../model/slugs.ts';
import { badgeGalleryView } from '../../views/badges/badge-gallery.ts';
import type { SocialView } from '../../views/badges/social.ts';
import { componentView } from '../../views/component/component.ts';
import { type FeedInputs, feedView } from '../../views/feeds/feeds.ts';
import type { PageAge, PageFrame, Settled } from '../../views/frame/shell.ts';
import { type HistoryPage, historyView } from '../../views/history/history.ts';
import { uptimeCalendarView } from '../../views/history/uptime-calendar.ts';
import type { ViewByKind, ViewKind } from '../../views/html.ts';
import { incidentView, maintenanceView } from '../../views/incident/incident.ts';
import { type ReportDocument, reportRows } from '../../views/json/report-data.ts';
import { jsonText } from '../../views/json/state-json.ts';
import { type ReportPage, reportView } from '../../views/report/report.ts';
import type { LlmsView, RobotsView, SitemapIndexView, SitemapView } from '../../views/site/crawlers.ts';
import { cleanLine, cleanMarkup } from '../../views/text/plain-text.ts';
import type { SecurityContact } from '../definitions/inputs.ts';
import { atomText, calendarText, csvText, jsonFeedText, rssText } from './feed-text.ts';
import { socialImage } from './social-image.ts';

const HTML = 'text/html; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const SVG = 'image/svg+xml; charset=utf-8';

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
    contentType: HTML,
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

type FrameKey = Exclude<keyof PageFrame, 'components'>;
type CalendarPage = Parameters<typeof uptimeCalendarView>[0];

interface Framed {
  readonly frame: PageFrame;
}

interface Aged extends Framed {
  readonly age: PageAge;
}

interface ComponentInputs extends Aged {
  readonly component: ComponentModel;
  /** Those that affect the component. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** Past days that say something else than they once did. */
  readonly corrected: NonNullable<Parameters<typeof componentView>[2]['corrected']>;
}

/** The target below the page, relative to the file, and as a whole address. */
type RedirectInputs = Readonly<Record<'location' | 'link' | 'url', string>>;

/** For hosts that only have files. The document has no words, so it suits every language. */
const REDIRECT: FileKind<RedirectInputs> = {
  name: 'redirect',
  contentType: HTML,
  draw: async ({ location, link, url }) => {
    const [to, whole] = [escapeMarkup(link), escapeMarkup(url)];
    const body = `<!doctype html>
<html><head><meta charset="utf-8"><title>${whole}</title><meta http-equiv="refresh" content="0; url=${to}"><meta name="robots" content="noindex"><link rel="canonical" href="${whole}"></head><body><a href="${to}">${whole}</a></body></html>
`;
    return { body, csp: null, location };
  },
};

const asText = ({ text }: { readonly text: string }) => text;
const decode = ({ base64 }: { readonly base64: string }) => Buffer.from(base64, 'base64');

function badgeKind(format: BadgeFormat, contentType: string): FileKind<BadgeInputs> {
  return fileKind(`badge${format}`, contentType, async (inputs) => (await drawBadge(inputs, format)).body);
}

export const KINDS = {
  // Pages
  statusPage: htmlKind('status-page'),
  embed: htmlKind('embed'),
  notFound: htmlKind('not-found'),
  reportIndex: htmlKind('report-index'),
  verify: htmlKind('verify'),
  indexOfPages: htmlKind('index-of-pages'),
  component: htmlKind('component', ({ frame, age, component, incidents, maintenances, corrected }: ComponentInputs) =>
    componentView({ ...frame, ...age, incidents, maintenances }, component, {
      badges: galleryChoices(PART_KINDS, frame.settings.locale).kinds,
      corrected,
    }),
  ),
  incident: htmlKind(
    'incident',
    ({ frame, incident, ...age }: Framed & (PageAge | Settled) & { readonly incident: PageIncident }) =>
      incidentView({ ...frame, ...age }, incident),
  ),
  maintenance: htmlKind(
    'maintenance',
    ({ frame, maintenance, ...age }: Framed & (PageAge | Settled) & { readonly maintenance: PageMaintenance }) =>
      maintenanceView({ ...frame, ...age }, maintenance),
  ),
  /** `month`: null for the current one, as `history/` itself shows. `asOf`: the present, or the latest instant that it depends on. */
  history: htmlKind(
    'history',
    ({
      frame,
      month,
      ...page
    }: Framed & Omit<HistoryPage, FrameKey | 'components'> & { readonly month: string | null }) =>
      historyView({ ...frame, ...page }, month),
  ),
  uptimeCalendar: htmlKind(
    'uptime-calendar',
    ({ frame, age, ...page }: Aged & Pick<CalendarPage, 'state' | 'since' | 'components' | 'incidents'>) =>
      uptimeCalendarView({ ...frame, ...age, ...page }),
  ),
  /** `asOf`: the present while the month or an incident in it is not over; else the latest instant that the report depends on. */
  report: htmlKind(
    'report',
    ({ frame, month, ...page }: Framed & Omit<ReportPage, FrameKey> & { readonly month: string }) =>
      reportView({ ...frame, ...page }, month),
  ),
  badgeGallery: htmlKind(
    'badge-gallery',
    /** `badgeNames`: names of the page's badges, as in their addresses. */
    ({ frame, badgeNames }: Framed & { readonly badgeNames: readonly string[] }) =>
      badgeGalleryView(frame, galleryChoices(badgeNames, frame.settings.locale)),
  ),
  redirect: REDIRECT,

  // Data. The input of JSON is the document itself.
  json: fileKind<object>('json', 'application/json; charset=utf-8', jsonText),
  webManifest: fileKind<object>('web-manifest', 'application/manifest+json; charset=utf-8', jsonText),
  reportCsv: fileKind('report-csv', 'text/csv; charset=utf-8', (report: ReportDocument) => csvText(reportRows(report))),
  atom: fileKind('atom', 'application/atom+xml; charset=utf-8', (of: FeedInputs) => atomText(feedView(of))),
  rss: fileKind('rss', 'application/rss+xml; charset=utf-8', (of: FeedInputs) => rssText(feedView(of))),
  jsonFeed: fileKind('json-feed', 'application/feed+json; charset=utf-8', (of: FeedInputs) =>
    jsonFeedText(feedView(of)),
  ),
  calendar: fileKind('calendar', 'text/calendar; charset=utf-8', calendarText),
  text: fileKind('text', TEXT, asText),
  robots: fileKind('robots', TEXT, robotsText),
  security: fileKind('security', TEXT, securityText),
  llms: fileKind('llms', TEXT, llmsText),
  sitemap: fileKind('sitemap', 'application/xml; charset=utf-8', sitemapText),
  /** One of our scripts, unchanged. */
  script: fileKind('script', SCRIPT, asText),
  /** One of those that the pages are compiled with. */
  pageScript: fileKind(
    'page-script',
    SCRIPT,
    ({ name }: { readonly name: string }, renderer) => renderer.scriptOf?.(name) ?? '',
  ),

  // Pictures
  /** A badge in each format. */
  badges: {
    '-light.svg': badgeKind('-light.svg', SVG),
    '-dark.svg': badgeKind('-dark.svg', SVG),
    '.svg': badgeKind('.svg', SVG),
    '.json': badgeKind('.json', 'application/json; charset=utf-8'),
    '.png': badgeKind('.png', 'image/png'),
  },
  favicon: fileKind('favicon', 'image/svg+xml', ({ state }: { readonly state: State }) => favicon(state)),
  socialImage: fileKind('social-image', 'image/png', (view: SocialView, renderer) =>
    (renderer.socialImage ?? socialImage)(view),
  ),
  /** An operator's picture, which was fetched and made smaller before. */
  icon: fileKind('icon', 'image/png', ({ png }: { readonly png: string }) => Buffer.from(png, 'base64')),
};

/** An operator's logos, unchanged, by content type. */
export const LOGOS: Readonly<Record<string, FileKind<{ readonly base64: string }>>> = {
  'image/svg+xml': fileKind('logo-svg', 'image/svg+xml', decode),
  'image/png': fileKind('logo-png', 'image/png', decode),
};

/**
 * Files of `public/`, by content type, with their digest when the configuration was read. A file that changed since then is
 * published as it is now; the next reload notices its new digest.
 */
export const PUBLIC_FILES: Readonly<Record<string, FileKind<{ readonly file: string; readonly sha256: string }>>> =
  Object.fromEntries(
    [...new Set(Object.values(PUBLIC_TYPES))].map((contentType) => [
      contentType,
      fileKind(`public ${contentType}`, contentType, ({ file }: { readonly file: string }) => readFileSync(file)),
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
