/**
 * Sets the lines of a card: satori lays them out with fonts that come along, and of what it draws only the outlines are
 * kept, since its masks have ids that would clash where two cards stand in one document. satori and the fonts are loaded
 * when the first card is drawn.
 */

import type { Colour } from '../../looks/colour.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import { once } from '../../once.ts';
import { isDrawable } from '../../views/badges/drawable.ts';
import { type Canvas, fill } from '../canvas.ts';
import { type Box, type BoxStyle, type Faces, facesFor } from './faces.ts';
import { cleanText, textDirection } from './text.ts';

// The outlines that satori draws, rewritten as ours are: relative, in whole tenths of a pixel.

const COMMAND = /([MLQCZ])([^MLQCZ]*)/g;

/**
 * Path data of absolute `M`, `L`, `Q`, `C` and `Z` as relative path data of ten times the size, in about a third of the
 * bytes. Lines that lead nowhere are left out; rounding never adds up, since every point is rounded by itself.
 */
export function compactPath(path: string): string {
  let out = '';
  let [x, y, startX, startY] = [0, 0, 0, 0];
  for (const [, command = '', text = ''] of path.matchAll(COMMAND)) {
    if (command === 'Z') {
      out += 'z';
      [x, y] = [startX, startY];
      continue;
    }
    const numbers = (text.match(/-?[\d.]+/g) ?? []).map((number) => Math.round(Number(number) * 10));
    const relative = numbers.map((number, index) => number - (index % 2 === 0 ? x : y));
    [x = 0, y = 0] = numbers.slice(-2);
    if (command === 'M') [startX, startY] = [x, y];
    if (command === 'L' && relative.every((number) => number === 0)) continue;
    out += command.toLowerCase() + relative.join(' ').replaceAll(' -', '-');
  }
  return out;
}

/** One line of text; too long for its width, it ends in an ellipsis. Measures in pixels. */
export interface CardLine {
  readonly text: string;
  /** Which edge of the line lies at `x`. */
  readonly edge: 'left' | 'right';
  readonly x: number;
  readonly top: number;
  readonly width: number;
  readonly size: number;
  readonly weight: 500 | 600;
  readonly colour: Colour;
}

/** The lines as SVG: outlines, and for scripts that the fonts do not have, text in the viewer's fonts. */
export async function drawLines(
  lines: readonly CardLine[],
  canvas: Canvas,
  { locale, ...size }: { width: number; height: number; locale: string },
): Promise<string> {
  const clean = lines.map((line) => ({ ...line, text: cleanText(line.text) })).filter(({ text }) => text !== '');
  const covered = clean.filter(({ text }) => isDrawable(text));
  const others = clean.filter(({ text }) => !isDrawable(text));
  const { default: satori } = await library();
  const faces = await facesFor(covered.map(({ text }) => text).join(' '), locale);
  const svg = await satori(layOut(covered, size, faces), { ...size, fonts: [...faces.fonts] });
  const paths = Array.from(svg.matchAll(/<path fill="#([0-9a-f]{6})" d="([^"]+)"/g), ([, mark = '', path = '']) => {
    const line = covered[Number.parseInt(mark, 16) - 1];
    return line === undefined ? '' : `<path${fill(line.colour, canvas)} d="${compactPath(path)}"/>`;
  });
  return `<g transform="scale(.1)">${paths.join('')}</g>${others.map((line) => drawText(line, canvas)).join('')}`;
}

function drawText({ text, edge, x, top, size, weight, colour }: CardLine, canvas: Canvas): string {
  const direction = textDirection(text);
  // Start and end turn round with the direction, the edges of the card do not.
  const anchor = (edge === 'left') === (direction === 'ltr') ? 'start' : 'end';
  const font = `font-family="Inter,system-ui,sans-serif" font-size="${size}" font-weight="${weight}"`;
  return `<text${fill(colour, canvas)} x="${x}" y="${top + size}" text-anchor="${anchor}" direction="${direction}" ${font}>${escapeMarkup(text)}</text>`;
}

/** Every line is given its own number as its colour, to be told by it in what satori gives back. */
function layOut(lines: readonly CardLine[], { width, height }: { width: number; height: number }, faces: Faces): Box {
  const children = lines.map(({ text, edge, x, top, size, weight, width: room }, index): Box => {
    const style: BoxStyle = {
      display: 'block',
      position: 'absolute',
      top,
      left: edge === 'left' ? x : x - room,
      width: room,
      textAlign: edge,
      direction: textDirection(text),
      fontSize: size,
      fontWeight: weight,
      fontFamily: faces.families,
      lineHeight: 1.2,
      whiteSpace: 'nowrap',
      overflow: 'hidden',
      textOverflow: 'ellipsis',
      color: `#${(index + 1).toString(16).padStart(6, '0')}`,
    };
    return { type: 'div', props: { style, children: text } };
  });
  return { type: 'div', props: { style: { display: 'flex', position: 'relative', width, height }, children } };
}

const library = once(() => import('satori'));
