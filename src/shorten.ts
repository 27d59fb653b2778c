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
  const ends = graphemeEnds(head, max);
  const cut = (end: number | undefined): string => write(`${head.slice(0, end).trimEnd()}…`);
  let [fits, tooMany] = [0, ends.length];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (measure(cut(ends[middle])) <= max) fits = middle;
    else tooMany = middle;
  }
  return cut(ends[fits]);
}

/** Where the first `max` graphemes end, after 0. */
function graphemeEnds(text: string, max: number): number[] {
  const ends = [0];
  for (const { segment, index } of GRAPHEMES.segment(text)) {
    if (ends.length > max) break;
    let end = index;
    for (const piece of segment.length > Math.min(GRAPHEME_MAX, max - 1) ? segment : [segment]) {
      end += piece.length;
      ends.push(end);
    }
  }
  return ends;
}

/** What limits in bytes count. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** The same of a text inside a JSON document. */
export function jsonByteLength(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
