/**
 * Text as the outlines of its letters, so that it looks the same whatever fonts the viewer has. All measures are
 * tenths of a pixel at 11 px.
 */

import bold from '../glyphs/bold.json' with { type: 'json' };
import regular from '../glyphs/regular.json' with { type: 'json' };
import { flattened } from './text.ts';

/** A typeface as arrays: a letter is looked up by its character code and costs no allocation. */
interface Face {
  /** Character code to place in the other arrays; 0: not covered. */
  readonly places: Uint16Array;
  readonly advances: Int16Array;
  /** The outline from the pen on the baseline to the pen after it. */
  readonly glyphs: readonly string[];
  /** Change of the advance between two ASCII characters, at `left * 128 + right`. */
  readonly kerning: Int8Array;
  /** Two ASCII glyphs in one, at the same place; filled as they are needed. */
  readonly pairs: (string | undefined)[];
}

export type Weight = 'regular' | 'bold';

const faces: { regular: Face | null; bold: Face | null } = { regular: null, bold: null };

/** Unpacked when first used: most badges need one of the two. */
function faceOf(weight: Weight): Face {
  faces[weight] ??= unpack(weight === 'bold' ? bold : regular);
  return faces[weight];
}

function unpack({ outlines: rows, kerning }: { outlines: readonly string[]; kerning: string }): Face {
  const lastKey = rows.at(-1)?.split(' ', 1)[0] ?? '0';
  const places = new Uint16Array(Number.parseInt(lastKey, 36) + 1);
  const advances = new Int16Array(rows.length + 1);
  const glyphs = [''];
  rows.forEach((row, index) => {
    const [key = '', advance = ''] = row.split(' ', 2);
    places[Number.parseInt(key, 36)] = index + 1;
    advances[index + 1] = Number(advance);
    glyphs.push(row.slice(key.length + advance.length + 2));
  });
  return { places, advances, glyphs, kerning: unpackKerning(kerning), pairs: new Array(128 * 128) };
}

function unpackKerning(pairs: string): Int8Array {
  const kerning = new Int8Array(128 * 128);
  for (const pair of pairs.split(' ')) kerning[pair.charCodeAt(0) * 128 + pair.charCodeAt(1)] = Number(pair.slice(2));
  return kerning;
}

/** How a text is set: `tracking` is added between its letters. */
export interface Typography {
  readonly weight: Weight;
  readonly tracking: number;
}

/** Width of the text; -1 when one of its letters is not covered. */
export function outlineWidth(text: string, { weight, tracking }: Typography): number {
  const { places, advances, kerning } = faceOf(weight);
  let width = 0;
  let before = 128;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const place = places[code];
    if (!place) return -1;
    if (before < 128 && code < 128) width += kerning[before * 128 + code] ?? 0;
    width += (advances[place] ?? 0) + tracking;
    before = code;
  }
  return text.length === 0 ? 0 : width - tracking;
}

/**
 * Path data of a text that is covered, relative to the pen.
 *
 * Every glyph is a constant that leaves the pen where the next one begins. So a letter that occurs twice compresses to
 * nothing, and no number needs writing but where letters move closer.
 */
export function outlinePath(text: string, { weight, tracking }: Typography): string {
  const face = faceOf(weight);
  const { places, glyphs, kerning } = face;
  let path = '';
  let before = 128;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const move = (index > 0 ? tracking : 0) + (before < 128 && code < 128 ? (kerning[before * 128 + code] ?? 0) : 0);
    if (move !== 0) path += `m${move} 0`;
    const next = text.charCodeAt(index + 1);
    if (tracking === 0 && code < 128 && next < 128) {
      path += glyphPair(face, code, next);
      before = next;
      index += 1;
    } else {
      path += glyphs[places[code] ?? 0];
      before = code;
    }
  }
  return path;
}

/**
 * Two ASCII letters as one flat string. Joining many short strings costs more than all the rest of drawing a badge;
 * this halves their number. At most 9,025 pairs of about 150 bytes are kept.
 */
function glyphPair({ pairs, places, glyphs, kerning }: Face, left: number, right: number): string {
  const key = left * 128 + right;
  const known = pairs[key];
  if (known !== undefined) return known;
  const move = kerning[key] ?? 0;
  const pair = flattened(`${glyphs[places[left] ?? 0]}${move === 0 ? '' : `m${move} 0`}${glyphs[places[right] ?? 0]}`);
  pairs[key] = pair;
  return pair;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;
const MARK = /[\p{M}\p{Cf}]/u;
const JOINED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Room for a text that the viewer's own fonts draw: rather too much than too little. */
export function estimatedWidth(text: string, { weight, tracking }: Typography): number {
  let width = 0;
  for (const character of text) if (!MARK.test(character)) width += estimatedAdvance(character, weight) + tracking;
  return width;
}

function estimatedAdvance(character: string, weight: Weight): number {
  if (EMOJI.test(character)) return 150;
  if (WIDE.test(character)) return 114;
  const covered = outlineWidth(character, { weight, tracking: 0 });
  if (covered >= 0) return covered;
  return JOINED.test(character) ? 66 : 96;
}
