/** Text as it may stand in a badge: legal in XML, on one line, in one direction, and not too long. */

/** Code points that are drawn; longer text ends in an ellipsis. */
export const TEXT_LENGTH_MAX = 128;

const PLAIN = /^[\x20-\x7e]*$/;
/** Breaks and controls that stand between words. */
const GAPS = /[\p{Zs}\p{Zl}\p{Zp}\p{Cc}]+/gu;
/**
 * What XML forbids or discourages (lone surrogates, non-characters), and marks that are not seen but reorder the text
 * around them. Joiners stay: emoji and several scripts need them.
 */
const STRIPPED = /[\p{Cs}\p{Noncharacter_Code_Point}\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** One line of legal, composed text of at most `TEXT_LENGTH_MAX` code points. */
export function cleanText(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX && PLAIN.test(text)) return text;
  // Cut before anything else, so that the work does not grow with what somebody sends.
  const legal = text
    .slice(0, TEXT_LENGTH_MAX * 8)
    .replace(STRIPPED, '')
    .replace(GAPS, ' ')
    .normalize('NFC')
    .trim();
  const points = Array.from(legal);
  return points.length <= TEXT_LENGTH_MAX ? legal : `${points.slice(0, TEXT_LENGTH_MAX - 1).join('')}…`;
}

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The direction of the first letter; left to right when there is none. */
export function textDirection(text: string): 'ltr' | 'rtl' {
  const first = LETTER.exec(text)?.[0];
  return first !== undefined && RIGHT_TO_LEFT.test(first) ? 'rtl' : 'ltr';
}

/**
 * The same text in one piece of memory. What `+` and templates give is a tree that is walked whenever a badge is
 * written out; for what is kept and used in many badges, walking it once is enough.
 */
export function flattened(text: string): string {
  return decoder.decode(encoder.encode(text));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
