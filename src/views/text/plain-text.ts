/** Upstream text made fit for formats that cannot hold every character. */

import { escapeMarkup } from '../../model/scalars.ts';

/** What XML 1.0 forbids (escaped or not) and what no text needs: controls but tab and line feed, and non-characters. */
const ILLEGAL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]/g;
/** The last two code points of every plane above the first. */
const ILLEGAL_ABOVE =
  /[\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}\u{efffe}\u{effff}\u{ffffe}\u{fffff}\u{10fffe}\u{10ffff}]/gu;

/** The text with line ends as `\n`, lone surrogates replaced, and characters gone that XML 1.0 cannot hold. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|\u0085|\u2028|\u2029/g, '\n')
    .replace(ILLEGAL, '')
    .replace(ILLEGAL_ABOVE, '');
}

/** `cleanText` on one line, for titles and names. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** Text as HTML or XML content or attribute value, cleaned. */
export function cleanMarkup(text: string): string {
  return escapeMarkup(cleanText(text));
}
