/**
 * Text as the outlines of its letters, so that it looks the same whatever fonts the viewer has. All measures are
 * tenths of a pixel at 11 px.
 */

import bold from '../glyphs/bold.json' with { type: 'json' };
import regular from '../glyphs/regular.json' with { type: 'json' };
import { createMemo, type Memo } from '../memo.ts';
import { flattened } from './text.ts';

/** A typeface as arrays: a letter is looked up by its character code and costs no allocation. */
type Face = Readonly<ReturnType<typeof unpack>>;

/**
 * A text as outlines: path data relative to the pen, and how far it takes the pen. `isPlain`: all of it is printable ASCII that
 * needs no escaping, so it may stand in any document as it is.
 */
type Outline = Readonly<ReturnType<typeof joinLetters>>;

/** A typeface as it is set in: with so much between its letters. What is kept of it is filled as it is needed. */
interface Setting {
  readonly face: Face;
  readonly weight: Weight;
  readonly tracking: number;
  readonly isLoud: boolean;
  /** One ASCII letter or two, at `left * 128 + right`, and at `LED` more with the room that is before them. */
  readonly pairs: (Outline | undefined)[];
  /** Up to four of them, by their two places in `pairs`; none has a digit in it, since figures are never the same. */
  readonly fours: Memo<Outline, number>;
}

type Weight = 'regular' | 'bold';

const settings: Setting[] = [];
const LED = 128 * 128;
/** At about 300 bytes; more than the words of any site. */
const FOURS_MAX = 2_048;

/** Unpacked when first used: most badges need one of the two. */
const faces: Partial<Record<Weight, Face>> = {};

/** How a text is set, with `tracking` added between its letters; `isLoud`: ASCII in capitals, as `toCapitals` writes it. */
export function typeset(weight: Weight, tracking: number, isLoud: boolean): Setting {
  for (const known of settings)
    if (known.weight === weight && known.tracking === tracking && known.isLoud === isLoud) return known;
  faces[weight] ??= unpack(weight === 'bold' ? bold : regular);
  const setting: Setting = {
    face: isLoud ? withCapitals(faces[weight]) : faces[weight],
    weight,
    tracking,
    isLoud,
    pairs: new Array(tracking === 0 ? LED : 2 * LED),
    fours: createMemo(FOURS_MAX),
  };
  settings.push(setting);
  return setting;
}

const [SMALL_M, SMALL_S] = [109, 115];
/** Of the letters of a unit in a loud text; no text has these characters. */
const [UNIT_M, UNIT_S] = [1, 2];

function withCapitals({ advances, glyphs, kerning }: Face): Face {
  const source = Uint8Array.from({ length: 128 }, (_, code) => (code >= 97 && code <= 122 ? code - 32 : code));
  source[UNIT_M] = SMALL_M;
  source[UNIT_S] = SMALL_S;
  return {
    advances: Int16Array.from(source, (code) => advances[code] ?? 0),
    glyphs: new Map(Array.from(source, (code, index) => [index, glyphs.get(code) ?? ''])),
    kerning: kerning.map((_, pair) => kerning[(source[pair >> 7] ?? 0) * 128 + (source[pair & 127] ?? 0)] ?? 0),
  };
}

/** Capitals, but not for units: MS is not a millisecond. */
export function toCapitals(text: string): string {
  let capitals = '';
  let from = 0;
  for (let index = 0; index < text.length; index += 1)
    if (isOfUnit(text, index)) {
      capitals += text.slice(from, index).toUpperCase() + text[index];
      from = index + 1;
    }
  return capitals + text.slice(from).toUpperCase();
}

/** Whether this letter is of an `s` or `ms` behind a figure and a space. */
function isOfUnit(text: string, index: number): boolean {
  const { length } = text;
  const code = text.charCodeAt(index);
  if (index < 2 || (code !== SMALL_M && code !== SMALL_S)) return false;
  const start = code === SMALL_S && text.charCodeAt(index - 1) === SMALL_M ? index - 1 : index;
  const end = code === SMALL_S ? index + 1 : index + 2;
  if (start < 2 || end > length || text.charCodeAt(end - 1) !== SMALL_S) return false;
  return (
    text.charCodeAt(start - 1) === 32 &&
    isDigit(text.charCodeAt(start - 2)) &&
    !(end < length && WORD.test(text.charAt(end)))
  );
}

const WORD = /\w/;

/**
 * `advances` are by character code; 0: not covered. `glyphs`: the outline from the pen on the baseline to the pen after it. `kerning`:
 * change of the advance between two ASCII characters, at `left * 128 + right`.
 */
function unpack({ outlines: rows, kerning }: { outlines: readonly string[]; kerning: string }) {
  const lastKey = rows.at(-1)?.split(' ', 1)[0] ?? '0';
  const advances = new Int16Array(Number.parseInt(lastKey, 36) + 1);
  const glyphs = new Map<number, string>();
  for (const row of rows) {
    const [key = '', advance = ''] = row.split(' ', 2);
    const code = Number.parseInt(key, 36);
    advances[code] = Number(advance);
    glyphs.set(code, row.slice(key.length + advance.length + 2));
  }
  return { advances, glyphs, kerning: unpackKerning(kerning) };
}

function unpackKerning(pairs: string): Int8Array {
  const kerning = new Int8Array(128 * 128);
  for (const pair of pairs.split(' ')) kerning[pair.charCodeAt(0) * 128 + pair.charCodeAt(1)] = Number(pair.slice(2));
  return kerning;
}

/**
 * A text as outlines; null when one of its letters is not covered.
 *
 * Every glyph is a constant that leaves the pen where the next one begins. So a letter that occurs twice compresses to
 * nothing, and no number needs writing but where letters move closer.
 */
export function outlineText(text: string, setting: Setting): Outline | null {
  const { face, tracking } = setting;
  const { length } = text;
  let path = '';
  let width = 0;
  let isPlain = true;
  let last = 128;
  for (let index = 0; index < length; ) {
    const code = codeAt(text, index, setting.isLoud);
    const next = index + 1 < length ? codeAt(text, index + 1, setting.isLoud) : 0;
    const move = index === 0 ? 0 : tracking + kerningBetween(face, last, code);
    const isSingle = code >= 128 || next >= 128;
    const isLed = move === tracking && move !== 0 && !isSingle;
    if (move !== 0 && !isLed) {
      path += moveText(move);
      width += move;
    }
    if (isSingle) {
      const advance = code < face.advances.length ? face.advances[code] : 0;
      if (!advance) return null;
      path += face.glyphs.get(code) ?? '';
      width += advance;
      isPlain = false;
      last = code;
      index += 1;
      continue;
    }
    const first = (isLed ? LED : 0) + code * 128 + next;
    const third = index + 2 < length ? codeAt(text, index + 2, setting.isLoud) : 0;
    const fourth = index + 3 < length ? codeAt(text, index + 3, setting.isLoud) : 0;
    const areFour =
      third < 128 && fourth < 128 && !(isDigit(code) || isDigit(next) || isDigit(third) || isDigit(fourth));
    const piece = areFour ? fourLetters(setting, first, third * 128 + fourth) : twoLetters(setting, first);
    if (piece.width < 0) return null;
    path += piece.path;
    width += piece.width;
    isPlain &&= piece.isPlain;
    last = areFour ? fourth : next;
    index += areFour ? 4 : 2;
  }
  return { path, width, isPlain };
}

/** Controls, which no typeface has, count as what lies outside ASCII. */
function codeAt(text: string, index: number, isLoud: boolean): number {
  const code = text.charCodeAt(index);
  if (code < 32) return 128;
  if (!isLoud || (code !== SMALL_M && code !== SMALL_S) || !isOfUnit(text, index)) return code;
  return code === SMALL_M ? UNIT_M : UNIT_S;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** How much nearer two letters come. */
function kerningBetween({ kerning }: Face, left: number, right: number): number {
  return left < 128 && right < 128 ? (kerning[left * 128 + right] ?? 0) : 0;
}

/** By moves from -64 on; kerning is far less. */
const MOVES = Array.from({ length: 128 }, (_, index) => (index === 64 ? '' : `m${index - 64} 0`));

function moveText(move: number): string {
  return MOVES[move + 64] ?? '';
}

/**
 * One ASCII letter or two as one flat string: joining many short strings costs more than all the rest of drawing a badge.
 * At most 9,025 pairs of about 150 bytes are kept for each setting, twice where it is tracked.
 */
function twoLetters(setting: Setting, pair: number): Outline {
  const known = setting.pairs[pair];
  if (known !== undefined) return known;
  const outline = joinLetters(setting, [(pair >> 7) & 127, pair & 127], pair >= LED);
  setting.pairs[pair] = outline;
  return outline;
}

/** Up to four of them. */
function fourLetters(setting: Setting, first: number, second: number): Outline {
  const key = first * 16_384 + second;
  const known = setting.fours.get(key);
  if (known !== undefined) return known;
  const outline = joinLetters(setting, [(first >> 7) & 127, first & 127, second >> 7, second & 127], first >= LED);
  setting.fours.set(key, outline);
  return outline;
}

/** @param codes  of ASCII letters; 0: none, behind the end of a text */
function joinLetters({ face, tracking }: Setting, codes: readonly number[], isLed: boolean) {
  let path = isLed ? moveText(tracking) : '';
  let width = isLed ? tracking : 0;
  let isPlain = true;
  let last = 0;
  for (const code of codes.filter((one) => one !== 0)) {
    const move = last === 0 ? 0 : tracking + kerningBetween(face, last, code);
    const advance = face.advances[code];
    if (!advance) return NOT_COVERED;
    path += moveText(move) + (face.glyphs.get(code) ?? '');
    width += move + advance;
    isPlain &&= !MARKUP.includes(String.fromCharCode(code));
    last = code;
  }
  return { path: flattened(path), width, isPlain };
}

const MARKUP = '&<>"\'';
const NOT_COVERED = { path: '', width: -1, isPlain: false };

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;
const MARK = /[\p{M}\p{Cf}]/u;
const JOINED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Room for a text that the viewer's own fonts draw: rather too much than too little. */
export function estimatedWidth(text: string, setting: Setting): number {
  let width = 0;
  for (const character of text)
    if (!MARK.test(character)) width += estimatedAdvance(character, setting) + setting.tracking;
  return width;
}

function estimatedAdvance(character: string, setting: Setting): number {
  if (EMOJI.test(character)) return 150;
  if (WIDE.test(character)) return 114;
  const covered = outlineText(character, setting);
  if (covered !== null) return covered.width;
  return JOINED.test(character) ? 66 : 96;
}
