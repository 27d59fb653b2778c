/** Texts cut to limits, between characters as people see them (graphemes) and never inside one. */

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** A letter with dozens of accents may be cut between them. */
const GRAPHEME_MAX = 32;

/**
 * `text` as `write` writes it, cut so that what is written measures `max` at most; `…` says that something is missing.
 *
 * @param write   how a program wants it escaped; longer texts are written longer
 * @param measure what the limit counts, at least one for each UTF-16 unit; default: these units
 */
export function shorten(
  text: string,
  max: number,
  write: (text: string) => string = (plain) => plain,
  measure: (written: string) => number = (written) => written.length,
): string {
  // Long texts are not segmented whole: of more units than fit, none is looked at.
  const head = text.length > 2 * max ? text.slice(0, 2 * max) : text;
  if (head === text) {
    const whole = write(text);
    if (measure(whole) <= max) return whole;
  }
  const pieces = graphemes(head, max);
  let [fits, tooMany] = [0, pieces.length + 1];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (measure(write(`${pieces.slice(0, middle).join('').trimEnd()}…`)) <= max) fits = middle;
    else tooMany = middle;
  }
  return write(`${pieces.slice(0, fits).join('').trimEnd()}…`);
}

/** The first `max` graphemes at most. */
function graphemes(text: string, max: number): string[] {
  const pieces: string[] = [];
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (pieces.length >= max) break;
    if (segment.length > Math.min(GRAPHEME_MAX, max - 1)) pieces.push(...segment);
    else pieces.push(segment);
  }
  return pieces;
}

/** What limits in bytes count. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** The same of a text inside a JSON document. */
export function jsonByteLength(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
