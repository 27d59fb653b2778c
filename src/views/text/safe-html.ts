/**
 * The only maker of `SafeHtml`, and `SafeHtml` is the only thing that components draw as markup: Markdown that has been
 * through the sanitiser.
 */

import { LRUCache } from 'lru-cache';
import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';
import { safeLink } from '../../model/scalars.ts';

declare const safeHtml: unique symbol;
/** Markup that this module made. */
export type SafeHtml = string & { readonly [safeHtml]: true };

/** Longer than any update a person writes; what is beyond is cut off and said so by an ellipsis. */
const MARKDOWN_LENGTH_MAX = 20_000;

const markdown = new MarkdownIt('default', { html: false, linkify: true, breaks: true, maxNesting: 20 }).disable([
  'image',
  'html_inline',
  'html_block',
]);

const ALLOWED: sanitize.IOptions = {
  allowedTags: [
    'p',
    'br',
    'strong',
    'em',
    's',
    'code',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'a',
    'hr',
    'h4',
    'h5',
    'h6',
  ].concat(['table', 'thead', 'tbody', 'tr', 'th', 'td']),
  allowedAttributes: { a: ['href', 'rel'], ol: ['start'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'escape',
  transformTags: {
    // Headings of an update stand below the headings of the page.
    h1: 'h4',
    h2: 'h5',
    h3: 'h6',
    a: (_tag, attributes) => {
      const href = safeLink(attributes['href'] ?? null);
      return href === null
        ? { tagName: 'a', attribs: {} }
        : { tagName: 'a', attribs: { href, rel: 'nofollow ugc noopener noreferrer' } };
    },
  },
};

/** Markdown that may be hostile as markup from a short list of elements; links lead to http(s) and mail only. */
export function safeHtmlOfMarkdown(text: string): SafeHtml {
  const found = known.get(text);
  if (found !== undefined) return found;
  const cut = text.length > MARKDOWN_LENGTH_MAX ? `${text.slice(0, MARKDOWN_LENGTH_MAX)}…` : text;
  const made = sanitize(markdown.render(cut.toWellFormed()), ALLOWED) as SafeHtml;
  if (text.length <= KNOWN_LENGTH_MAX) known.set(text, made);
  return made;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The text of our own markup on one line, for places that show no markup. */
export function textOfHtml(html: SafeHtml): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim();
}

/** An update stands on its incident's page, in the history, on its components' pages and, while it matters, on top. */
const known = new LRUCache<string, SafeHtml>({ max: 1_000 });
/** Together at most a few megabytes. */
const KNOWN_LENGTH_MAX = 2_000;
