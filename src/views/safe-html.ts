/** The only maker of `SafeHtml`, and `SafeHtml` is the only thing that components draw as markup. */

import MarkdownIt from 'markdown-it';
import sanitize from 'sanitize-html';
import { safeLink } from './links.ts';

declare const safeHtml: unique symbol;
/** Markup that has been through the sanitiser. */
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
  const cut = text.length > MARKDOWN_LENGTH_MAX ? `${text.slice(0, MARKDOWN_LENGTH_MAX)}…` : text;
  return sanitize(markdown.render(cut.toWellFormed()), ALLOWED) as SafeHtml;
}
