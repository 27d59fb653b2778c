/** Sets a text for a shape and draws it: as outlines where they cover it, else as text in the viewer's fonts. */

import { escapeMarkup } from '../../model/markup.ts';
import type { Canvas, Paint } from '../canvas.ts';
import type { Shape } from '../shapes.ts';
import { estimatedWidth, outlinePath, outlineWidth, type Typography } from './outline.ts';
import { textDirection } from './text.ts';

/** The height of badge that the outlines' baseline is made for, and that baseline. */
const OUTLINE_HEIGHT = 200;
const BASELINE = 140;
const FAMILIES = 'DejaVu Sans,Verdana,system-ui,sans-serif';

/** A text with what is needed to draw it. */
export interface Lettering extends Typography {
  readonly text: string;
  readonly width: number;
  readonly isOutlined: boolean;
}

export function setText(clean: string, { isLoud, tracking }: Shape, part: 'label' | 'message'): Lettering {
  const text = isLoud ? toCapitals(clean) : clean;
  const weight = isLoud && part === 'message' ? 'bold' : 'regular';
  const width = outlineWidth(text, { weight, tracking });
  const isOutlined = width >= 0;
  return { text, width: isOutlined ? width : estimatedWidth(text, { weight, tracking }), weight, tracking, isOutlined };
}

const UNITS = /((?<=\d )m?s\b)/;

/** Capitals, but not for units: MS is not a millisecond. */
function toCapitals(text: string): string {
  if (!text.includes(' s') && !text.includes(' ms')) return text.toUpperCase();
  const parts = text.split(UNITS);
  return parts.map((part, index) => (index % 2 === 1 ? part : part.toUpperCase())).join('');
}

interface PlacedLettering {
  readonly lettering: Lettering;
  readonly x: number;
  readonly paint: Paint;
}

/** Both texts of a badge, in one path where both are outlined in one ink. */
export function drawLettering(left: PlacedLettering, right: PlacedLettering, canvas: Canvas): string {
  const areOutlined = left.lettering.isOutlined && right.lettering.isOutlined;
  if (areOutlined && left.paint.inkFill === right.paint.inkFill)
    return drawPath(letteringPath(left) + letteringPath(right), right, canvas);
  return drawOne(left, canvas) + drawOne(right, canvas);
}

function drawOne(placed: PlacedLettering, canvas: Canvas): string {
  return placed.lettering.isOutlined ? drawPath(letteringPath(placed), placed, canvas) : drawText(placed, canvas);
}

function letteringPath({ lettering, x }: PlacedLettering): string {
  return lettering.text === '' ? '' : `M${x} ${BASELINE}${outlinePath(lettering.text, lettering)}`;
}

function drawPath(path: string, { paint }: PlacedLettering, { shape }: Canvas): string {
  if (path === '') return '';
  const lift = (shape.height - OUTLINE_HEIGHT) / 2;
  if (lift === 0) return `${paint.inkPath}${path}"/>`;
  return `<path${paint.inkFill} transform="translate(0 ${lift})" d="${path}"/>`;
}

/** Centred and neither stretched nor squeezed, so that joined letters stay joined. */
function drawText({ lettering, x, paint }: PlacedLettering, { shape }: Canvas): string {
  const { text, weight, width, tracking } = lettering;
  const direction = textDirection(text);
  const bold = weight === 'bold' ? ' font-weight="bold"' : '';
  // Joined scripts come apart when tracked.
  const spacing = tracking > 0 && direction === 'ltr' ? ` letter-spacing="${tracking}"` : '';
  const y = (shape.height - OUTLINE_HEIGHT) / 2 + BASELINE;
  return `<text${paint.inkFill} x="${x + Math.round(width / 2)}" y="${y}" text-anchor="middle" direction="${direction}" font-family="${FAMILIES}" font-size="110"${bold}${spacing}>${escapeMarkup(text)}</text>`;
}
