/**
 * The only maker of `SafeHtml`, and `SafeHtml` is the only thing that components draw as markup: Markdown that has been
 * through the sanitiser.
 */

import { LRUCache } from 'lru-cache';
import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';
import { escapeMarkup, safeLink } from '../../model/scalars.ts';
import type { Pieces } from '../../model/translated.ts';

// Markdown as text without markup, for what cannot show any: mails in plain text, messages of programs.

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

function unescapeMarkup(html: string): string {
  return html.replace(/&(amp|lt|gt|quot|#39|#x27);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** What the sanitised HTML of `markdown` says, a line for each block; links keep their addresses behind them. */
export function textOfMarkdown(markdown: string): string {
  const bare = safeHtmlOfMarkdown(markdown)
    .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_whole, href: string, text: string) =>
      // The address of a host alone ends with a slash there.
      [text, `${text}/`, `mailto:${text}`].includes(href) ? text : `${text} (${href})`,
    )
    .replace(/<li>/g, '- ')
    // A line break stands behind each of these as it is; these get another, for a blank line.
    .replace(/<\/(?:p|h[1-6]|pre|ul|ol|table)>/g, '\n')
    .replace(/<[^>]*>/g, '');
  return unescapeMarkup(bare)
    .replace(/[^\S\n]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

declare const safeHtml: unique symbol;
/** Markup that this module made. */
export type SafeHtml = string & { readonly [safeHtml]: true };

/** Longer than any update a person writes; what is beyond is cut off and said so by an ellipsis. */
const MARKDOWN_LENGTH_MAX = 20_000;

/** A plain sentence with names in another language as a paragraph. */
export function safeHtmlOfPieces(pieces: Pieces): SafeHtml {
  const escaped = pieces.map((piece) =>
    typeof piece === 'string'
      ? escapeMarkup(piece)
      : `<span lang="${escapeMarkup(piece.lang ?? '')}" dir="auto">${escapeMarkup(piece.text)}</span>`,
  );
  return `<p>${escaped.join('')}</p>` as SafeHtml;
}

const markdown = new MarkdownIt('default', { html: false, linkify: true, breaks: true, maxNesting: 20 }).disable([
  'html_inline',
  'html_block',
]);

const ALLOWED: sanitize.IOptions = {
  allowedTags: 'p br strong em s code pre blockquote ul ol li a hr h3 h4 h5 h6 table thead tbody tr th td img'.split(
    ' ',
  ),
  allowedAttributes: { a: ['href', 'rel'], ol: ['start'], img: ['src', 'alt', 'loading'], table: ['tabindex'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'escape',
};

const LINK_REL = 'nofollow ugc noopener noreferrer';

/** Links lead to http(s) and mail only. A picture is drawn where it is ours to serve, and is a link elsewhere. */
function transformsWith(pictureOf: PictureOf): sanitize.IOptions['transformTags'] {
  return {
    a: (_tag, attributes) => {
      const href = safeLink(attributes['href'] ?? null);
      return href === null ? { tagName: 'a', attribs: {} } : { tagName: 'a', attribs: { href, rel: LINK_REL } };
    },
    // Wider than the page, it scrolls by itself: also by key.
    table: () => ({ tagName: 'table', attribs: { tabindex: '0' } }),
    img: (_tag, { src = '', alt = '' }) => {
      const own = pictureOf(src);
      if (own !== null) return { tagName: 'img', attribs: { src: own, alt, loading: 'lazy' } };
      const href = safeLink(src);
      const text = escapeMarkup(alt === '' ? src : alt);
      return { tagName: 'a', attribs: href === null ? {} : { href, rel: LINK_REL }, text };
    },
  };
}

/** The address to draw a picture from, from where the page is; null: it is not on the page's own address. */
type PictureOf = (address: string) => string | null;

const NO_PICTURES: PictureOf = () => null;

/** The rank that the highest heading of a text gets, below the heading that it stands under. */
type HeadingRank = 3 | 4;

/** Headings of a text by their rank in it, below the headings of the page. */
function rankHeadings(html: string, highest: HeadingRank): string {
  const levels = [...new Set(Array.from(html.matchAll(/<h([1-6])>/g), ([, level = '']) => level))].toSorted();
  return html.replace(/(<\/?h)([1-6])>/g, (_, tag, level) => `${tag}${Math.min(6, highest + levels.indexOf(level))}>`);
}

/** Markdown that may be hostile as markup from a short list of elements; links lead to http(s) and mail only. */
export function safeHtmlOfMarkdown(
  text: string,
  pictureOf: PictureOf = NO_PICTURES,
  highest: HeadingRank = 4,
): SafeHtml {
  // Where a picture is depends on the page.
  const isKept = text.length <= KNOWN_LENGTH_MAX && !text.includes('![');
  const key = `${highest} ${text}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const cut = text.length > MARKDOWN_LENGTH_MAX ? `${text.slice(0, MARKDOWN_LENGTH_MAX)}…` : text;
  const options = { ...ALLOWED, transformTags: transformsWith(pictureOf) };
  const made = sanitize(rankHeadings(markdown.render(cut.toWellFormed()), highest), options) as SafeHtml;
  if (isKept) known.set(key, made);
  return made;
}

/** The text of our own markup on one line, for places that show no markup. */
export function textOfHtml(html: SafeHtml): string {
  return unescapeMarkup(html.replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

/** An update stands on its incident's page, in the history, on its components' pages and, while it matters, on top. */
const known = new LRUCache<string, SafeHtml>({ max: 1_000 });
/** Together at most a few megabytes. */
const KNOWN_LENGTH_MAX = 2_000;
