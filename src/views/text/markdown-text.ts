/** Markdown as text without markup, for what cannot show any: mails in plain text, messages of programs. */

import { safeHtmlOfMarkdown } from './safe-html.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
};

/** What the sanitised HTML of `markdown` says, a line for each block; links keep their addresses behind them. */
export function textOfMarkdown(markdown: string): string {
  return (
    safeHtmlOfMarkdown(markdown)
      .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_whole, href: string, text: string) =>
        text === href || `mailto:${text}` === href ? text : `${text} (${href})`,
      )
      .replace(/<li>/g, '- ')
      // A line break stands behind each of these as it is; these get another, for a blank line.
      .replace(/<\/(?:p|h[1-6]|pre|ul|ol|table)>/g, '\n')
      .replace(/<[^>]*>/g, '')
      .replace(/&(?:amp|lt|gt|quot|#39|#x27);/g, (entity) => ENTITIES[entity] ?? entity)
      .replace(/[^\S\n]+\n/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  );
}
