/** Text to copy: a badge in the markup languages that people write. */

import { escapeMarkup } from '../../model/scalars.ts';

interface SnippetInit {
  readonly alt: string;
  /** Absolute, without the ending: `https://status.example.com/acme/badges/status`. */
  readonly address: string;
  readonly href: string;
  /** Default `auto`: follows the reader's. */
  readonly scheme?: 'auto' | 'light' | 'dark';
  /** Options for a server that draws on demand: empty, or with its `?`. */
  readonly query?: string;
}

/** Every language escapes its own way; a name from upstream must not end a line, a link or an attribute. */
export function badgeSnippets({ alt, address, href, scheme = 'auto', query = '' }: SnippetInit) {
  const line = alt.replace(/\s+/g, ' ').trim();
  const markdown = line.replace(/[\\[\]`*_<>]/g, (sign) => `\\${sign}`);
  const html = escapeMarkup(line);
  const asciiDoc = line.replace(/["\\]/g, '').replaceAll(']', '\\]');
  const svgIn = (one: string) => `${address}-${one}.svg${query}`;
  const svg = scheme === 'auto' ? `${address}.svg${query}` : svgIn(scheme);
  const picture =
    scheme === 'auto'
      ? `<picture><source media="(prefers-color-scheme: dark)" srcset="${escapeMarkup(svgIn('dark'))}">` +
        `<img src="${escapeMarkup(svgIn('light'))}" alt="${html}"></picture>`
      : `<img src="${escapeMarkup(svg)}" alt="${html}">`;
  return {
    alt: line,
    // Absolute addresses of the picture, and of the page that it leads to.
    svg,
    snippets: [
      { language: 'Markdown', text: `[![${markdown}](${svg})](${href})` },
      { language: 'HTML', text: `<a href="${href}">${picture}</a>` },
      { language: 'AsciiDoc', text: `image:${svg}["${asciiDoc}",link="${href}"]` },
      { language: 'reStructuredText', text: `.. image:: ${svg}\n   :alt: ${line}\n   :target: ${href}` },
    ],
  };
}
