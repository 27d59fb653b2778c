/** Sitemaps, robots.txt, llms.txt and security.txt as text. */

import type { LlmsView, RobotsView, SitemapIndexView, SitemapView } from '../../views/site/crawlers.ts';
import { cleanLine, cleanMarkup } from '../../views/text/plain-text.ts';
import type { SecurityContact } from '../definitions/inputs.ts';

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
export function securityText({ contact, expires, policy, encryption }: SecurityContact): string {
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

/** Text that Markdown draws as it is, with no links, markup or headings of its own. */
function escapeMarkdown(text: string): string {
  return cleanLine(text).replace(/[\\`*_{}[\]()<>#!|~]/g, '\\$&');
}
