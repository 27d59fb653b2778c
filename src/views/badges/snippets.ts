/** Text to copy: a badge in the markup languages that people write. */

import { escapeMarkup } from '../../model/markup.ts';

export interface BadgeSnippets {
  readonly alt: string;
  /** Absolute addresses of the picture, and of the page that it leads to. */
  readonly svg: string;
  readonly snippets: readonly { readonly language: string; readonly text: string }[];
}

export interface SnippetInit {
  readonly alt: string;
  /** Absolute, without the ending: `https://status.example.com/acme/badges/status`. */
  readonly address: string;
  readonly href: string;
}

/** Every language escapes its own way; a name from upstream must not end a line, a link or an attribute. */
export function badgeSnippets({ alt, address, href }: SnippetInit): BadgeSnippets {
  const line = alt.replace(/\s+/g, ' ').trim();
  const markdown = line.replace(/[\\[\]`*_<>]/g, (sign) => `\\${sign}`);
  const html = escapeMarkup(line);
  const asciiDoc = line.replace(/["\\]/g, '').replaceAll(']', '\\]');
  const svg = `${address}.svg`;
  return {
    alt: line,
    svg,
    snippets: [
      { language: 'Markdown', text: `[![${markdown}](${svg})](${href})` },
      {
        language: 'HTML',
        text:
          `<a href="${href}"><picture>` +
          `<source media="(prefers-color-scheme: dark)" srcset="${address}-dark.svg">` +
          `<img src="${address}-light.svg" alt="${html}"></picture></a>`,
      },
      { language: 'AsciiDoc', text: `image:${svg}["${asciiDoc}",link="${href}"]` },
      { language: 'reStructuredText', text: `.. image:: ${svg}\n   :alt: ${line}\n   :target: ${href}` },
    ],
  };
}
