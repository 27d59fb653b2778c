/**
 * Text as the outlines of its letters, so that it looks the same whatever fonts the viewer has. All measures are
 * tenths of a pixel at 11 px.
 */

import bold from '../glyphs/bold.json' with { type: 'json' };
import regular from '../glyphs/regular.json' with { type: 'json' };
import { createMemo, type Memo } from '../memo.ts';
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
}

/** A typeface as it is set in: with so much between its letters. What is kept of it is filled as it is needed. */
interface Setting {
  readonly face: Face;
  readonly tracking: number;
  /** Two ASCII glyphs in one, at `left * 128 + right`, and at `LED` more with the room that is before them. */
  readonly pairs: (string | undefined)[];
  /** Four of them in one, by their two places in `pairs`; none has a digit in it, since figures are never the same. */
  readonly fours: Memo<string, number>;
}

type Weight = 'regular' | 'bold';

const faces: { regular: Face | null; bold: Face | null } = { regular: null, bold: null };

/** Unpacked when first used: most badges need one of the two. */
function loadFace(weight: Weight): Face {
  faces[weight] ??= unpack(weight === 'bold' ? bold : regular);
  return faces[weight];
}

/** Of one weight, those that shapes have. */
const settings: Readonly<Record<Weight, Setting[]>> = { regular: [], bold: [] };
const LED = 128 * 128;
/** At about 300 bytes; more than the words of any site. */
const FOURS_MAX = 2_048;

function typeset({ weight, tracking }: Typography): Setting {
  for (const known of settings[weight]) if (known.tracking === tracking) return known;
  const setting = {
    face: loadFace(weight),
    tracking,
    pairs: new Array(tracking === 0 ? LED : 2 * LED),
    fours: createMemo<string, number>(FOURS_MAX),
  };
  settings[weight].push(setting);
  return setting;
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
  return { places, advances, glyphs, kerning: unpackKerning(kerning) };
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
  const { places, advances, kerning } = loadFace(weight);
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
export function outlinePath(text: string, typography: Typography): string {
  const setting = typeset(typography);
  const { face, tracking } = setting;
  const { places, glyphs } = face;
  const { length } = text;
  let path = '';
  let index = 0;
  while (index < length) {
    const code = text.charCodeAt(index);
    const next = index + 1 < length ? text.charCodeAt(index + 1) : 128;
    const isSingle = code >= 128 || next >= 128;
    const move = index === 0 ? 0 : tracking + kerningBetween(face, text.charCodeAt(index - 1), code);
    const lead = move === tracking && move !== 0 && !isSingle ? LED : 0;
    if (move !== 0 && lead === 0) path += `m${move} 0`;
    if (isSingle) {
      path += glyphs[places[code] ?? 0];
      index += 1;
      continue;
    }
    const third = index + 3 < length ? text.charCodeAt(index + 2) : 128;
    const fourth = index + 3 < length ? text.charCodeAt(index + 3) : 128;
    if (third < 128 && fourth < 128 && !isDigit(code) && !isDigit(next) && !isDigit(third) && !isDigit(fourth)) {
      path += fourGlyphs(setting, lead + code * 128 + next, third * 128 + fourth);
      index += 4;
    } else {
      path += twoGlyphs(setting, lead + code * 128 + next);
      index += 2;
    }
  }
  return path;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** How much nearer two letters come. */
function kerningBetween({ kerning }: Face, left: number, right: number): number {
  return left < 128 && right < 128 ? (kerning[left * 128 + right] ?? 0) : 0;
}

/**
 * Two ASCII letters as one flat string. Joining many short strings costs more than all the rest of drawing a badge;
 * this halves their number. At most 9,025 pairs of about 150 bytes are kept for each setting, twice where it is tracked.
 */
function twoGlyphs({ face, tracking, pairs }: Setting, pair: number): string {
  const known = pairs[pair];
  if (known !== undefined) return known;
  const { places, glyphs } = face;
  const [left, right] = [(pair >> 7) & 127, pair & 127];
  const lead = pair >= LED ? `m${tracking} 0` : '';
  const both = flattened(
    `${lead}${glyphs[places[left] ?? 0]}${moveBetween(face, tracking, left, right)}${glyphs[places[right] ?? 0]}`,
  );
  pairs[pair] = both;
  return both;
}

/** Four of them, which quarters it. */
function fourGlyphs(setting: Setting, first: number, second: number): string {
  const key = first * 16_384 + second;
  const known = setting.fours.get(key);
  if (known !== undefined) return known;
  const { face, tracking } = setting;
  const between = moveBetween(face, tracking, first & 127, second >> 7);
  const all = flattened(`${twoGlyphs(setting, first)}${between}${twoGlyphs(setting, second)}`);
  setting.fours.set(key, all);
  return all;
}

function moveBetween(face: Face, tracking: number, left: number, right: number): string {
  const move = tracking + kerningBetween(face, left, right);
  return move === 0 ? '' : `m${move} 0`;
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
