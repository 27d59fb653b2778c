/**
 * Writes the outline tables that badges are drawn with: `node scripts/glyphs.ts`.
 *
 * DejaVu at 11 px has capitals 8 px and small letters 6 px high, to within two hundredths, so text on a whole baseline
 * is sharp. One unit of the tables is a tenth of a pixel.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import opentype, { type Font, type Glyph } from 'opentype.js';
import { type Contour, fitContour, joinNumbers, type Piece } from './outline-fit.ts';
import type { Point } from './vectors.ts';

export const WEIGHTS = ['regular', 'bold'] as const;
export type Weight = (typeof WEIGHTS)[number];

const FILES: Readonly<Record<Weight, string>> = { regular: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf' };
const UNITS_PER_EM = 110;

/** What is covered, in the order of code points: the first and the last of each stretch. */
const COVERAGE: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  'ASCII, Latin-1, Latin Extended-A': [
    [0x20, 0x7e],
    [0xa0, 0x17f],
  ],
  'Vietnamese horns, pinyin, Romanian': [
    [0x1a0, 0x1a1],
    [0x1af, 0x1b0],
    [0x1cd, 0x1dc],
    [0x218, 0x21b],
  ],
  Greek: [[0x370, 0x3ff]],
  'Cyrillic, without its combining marks': [
    [0x400, 0x482],
    [0x48a, 0x4ff],
  ],
  'Welsh, capital sharp s, Vietnamese': [
    [0x1e80, 0x1e85],
    [0x1e9e, 0x1e9e],
    [0x1ea0, 0x1ef9],
  ],
  punctuation: [
    [0x2010, 0x2027],
    [0x2030, 0x203a],
    [0x2044, 0x2044],
  ],
  'currencies, numero, trade mark': [
    [0x20a0, 0x20bf],
    [0x2116, 0x2116],
    [0x2122, 0x2122],
  ],
  'arrows, signs': [
    [0x2190, 0x2195],
    [0x2212, 0x2212],
    [0x221e, 0x221e],
    [0x2248, 0x2248],
    [0x2260, 0x2265],
  ],
  'shapes, stars, ticks': [
    [0x25b2, 0x25b2],
    [0x25bc, 0x25bc],
    [0x25cb, 0x25cb],
    [0x25cf, 0x25cf],
    [0x2605, 0x2606],
    [0x2713, 0x2717],
  ],
};

/**
 * The text of `src/badges/glyphs/<weight>.json`, the same on every machine for the same font file.
 *
 * @param isWanted  code points whose outlines are in it. Default: all
 */
export function glyphTable(weight: Weight, isWanted: (codePoint: number) => boolean = () => true): string {
  const font = loadFont(weight);
  const stretches = Object.values(COVERAGE).flat();
  const rows = stretches
    .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))
    .filter(isWanted)
    .map((codePoint) => row(font, codePoint))
    .filter((line) => line !== null);
  return `${JSON.stringify(
    {
      about: `Made by scripts/glyphs.ts from ${FILES[weight]} of DejaVu Fonts ${versionOf(font)}; see LICENSE.txt. Outlines: code point (base 36), advance, path from the pen to the next pen. Kerning: pairs and their change.`,
      kerning: kerningPairs(font),
      outlines: rows,
    },
    null,
    1,
  )}\n`;
}

export function loadFont(weight: Weight): Font {
  const bytes = readFileSync(join(fontFolder(), 'ttf', FILES[weight]));
  return opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);
}

export function fontFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json'));
}

function versionOf(font: Font): string {
  return font.getEnglishName('version').replace(/^Version /, '');
}

function row(font: Font, codePoint: number): string | null {
  const glyph = font.charToGlyph(String.fromCodePoint(codePoint));
  if (glyph.index === 0) return null;
  const key = codePoint.toString(36);
  const advance = Math.round(scaled(font, glyph.advanceWidth ?? 0));
  const [first, ...others] = contoursOf(font, glyph).map(fitContour);
  if (!first) return `${key} ${advance} m${advance} 0`;
  let path = joinNumbers('m', [first.start.x, first.start.y]) + first.path;
  let at = first.start;
  for (const { start, path: rest } of others) {
    path += joinNumbers('m', [start.x - at.x, start.y - at.y]) + rest;
    at = start;
  }
  return `${key} ${advance} ${path}${joinNumbers('m', [advance - at.x, -at.y])}`;
}

/** The outlines of a glyph in grid units, y downwards, without pieces of no length. */
export function contoursOf(font: Font, glyph: Glyph): Contour[] {
  const contours: { from: Point; pieces: Piece[] }[] = [];
  const point = (x: number, y: number): Point => ({ x: scaled(font, x), y: -scaled(font, y) });
  let at: Point = { x: 0, y: 0 };
  for (const command of glyph.path.commands) {
    const current = contours.at(-1);
    if (command.type === 'M') contours.push({ from: point(command.x, command.y), pieces: [] });
    else if (command.type === 'Q')
      current?.pieces.push({ control: point(command.x1, command.y1), to: point(command.x, command.y) });
    else if (command.type === 'L') current?.pieces.push({ control: null, to: point(command.x, command.y) });
    else if (command.type === 'Z' && current && !isSame(at, current.from))
      current.pieces.push({ control: null, to: current.from });
    if (command.type !== 'Z') at = point(command.x, command.y);
  }
  // The font has points that mark a place for accents: contours without an inside.
  return contours
    .map(({ from, pieces }) => ({ from, pieces: withoutStandstill(from, pieces) }))
    .filter(({ pieces }) => pieces.length > 1);
}

function withoutStandstill(from: Point, pieces: readonly Piece[]): Piece[] {
  let at = from;
  return pieces.filter(({ to }) => {
    const moves = !isSame(at, to);
    at = to;
    return moves;
  });
}

function isSame(a: Point, b: Point): boolean {
  return Math.abs(a.x - b.x) < 1e-6 && Math.abs(a.y - b.y) < 1e-6;
}

function scaled(font: Font, units: number): number {
  return (units * UNITS_PER_EM) / font.unitsPerEm;
}

/** ASCII pairs that move, as `To-19` one after the other with no separator. */
function kerningPairs(font: Font): string {
  const ascii = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  return ascii
    .flatMap((left) =>
      ascii.map((right) => {
        const pair = `${font.charToGlyphIndex(left)},${font.charToGlyphIndex(right)}`;
        const change = Math.round(scaled(font, font.kerningPairs[pair] ?? 0));
        return change === 0 ? '' : `${left}${right}${change} `;
      }),
    )
    .join('')
    .trim();
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', 'src', 'badges', 'glyphs');
  for (const weight of WEIGHTS) writeFileSync(join(folder, `${weight}.json`), glyphTable(weight));
  writeFileSync(join(folder, 'LICENSE.txt'), readFileSync(join(fontFolder(), 'LICENSE')));
}
