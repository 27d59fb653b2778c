/** The card: name, state, uptime, response time and ninety days in one picture of 400 × 132. */

import { type Colour, INK, legibleOn, PAPER, QUIET_INK } from '../looks/colour.ts';
import { escapeMarkup } from '../model/scalars.ts';
import type { BadgeSubject } from '../views/badges/badge-subjects.ts';
import { type Canvas, fill, parsePaint, titleEnd } from './canvas.ts';
import { drawBars, drawShape } from './drawings.ts';
import { badgeFields } from './kinds.ts';
import { type CardLine, drawLines } from './lettering/card-text.ts';
import { cleanText } from './lettering/text.ts';
import type { BadgeOptions } from './options.ts';
import { FALLBACK_COLOUR, PANEL_LINE_COLOUR } from './palette.ts';
import { SHAPES } from './shapes.ts';

const WIDTH = 400;
const HEIGHT = 132;
const MARGIN = 20;
/** In tenths of a pixel: ninety bars of three and gaps of one fill the width between the margins. */
const BARS = { x: 200, middle: 850, pitch: 40, width: 30, height: 280 };

/** The card of a subject as an SVG document. Takes milliseconds; the first one waits for the fonts. */
export async function cardSvg(subject: BadgeSubject, options: BadgeOptions = {}): Promise<string> {
  const content = cardContent(subject, options);
  const { status, uptime, history } = content;
  const canvas: Canvas = { scheme: options.scheme ?? 'auto', shape: SHAPES.flat, rules: '' };
  const paint = parsePaint(status.color, FALLBACK_COLOUR, canvas.scheme);
  const text = await drawLines(listLines(content, paint.colour), canvas, {
    width: WIDTH,
    height: HEIGHT,
    locale: options.locale ?? 'en',
  });
  const shape = status.shape === undefined ? '' : drawShape(status.shape, paint, canvas);
  const bars = drawBars(history.days ?? [], { ...BARS, colours: options.colors }, canvas);
  const name = escapeMarkup(cleanText(`${status.label}: ${status.message}, ${uptime.label} ${uptime.message}`));
  const ground = `<rect${fill(PANEL_LINE_COLOUR, canvas)} width="${WIDTH}" height="${HEIGHT}" rx="10"/><rect${fill(PAPER, canvas)} x="1" y="1" width="${WIDTH - 2}" height="${HEIGHT - 2}" rx="9"/>`;
  const dot = `<g transform="translate(${MARGIN} 18)scale(.15)">${shape}</g>`;
  const body = `${ground}${dot}<g transform="scale(.1)">${bars}</g>${text}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name}"><title>${name}${titleEnd(canvas)}${body}</svg>`;
}

function cardContent(subject: BadgeSubject, options: BadgeOptions) {
  // A label of the operator's own is that of the card, not of the figures on it.
  const { label: _, ...others } = options;
  // Once on a card is enough for the word `stale`.
  const figures = { ...subject, isStale: false, isExpired: false };
  return {
    status: badgeFields(subject, 'card', options),
    uptime: badgeFields(figures, 'uptime-90d', others),
    history: badgeFields(figures, 'history-90d', others),
    response: badgeFields(figures, 'response-time', others),
  };
}

/** What stands where, from top to bottom; a figure of a card that is grey is grey too. */
function listLines(content: ReturnType<typeof cardContent>, state: Colour): CardLine[] {
  const { status, uptime, history, response } = content;
  const left = { edge: 'left', x: MARGIN } as const;
  const right = { edge: 'right', x: WIDTH - MARGIN } as const;
  const beside = { ...left, x: 62, width: 220, weight: 600 } as const;
  const small = { size: 11, weight: 500, colour: QUIET_INK } as const;
  const isQuiet = uptime.isUnknown || status.isUnknown;
  // Words of some languages are longer than those that the card was drawn for.
  const labelWidth = Math.min(150, Math.max(95, Math.ceil(uptime.label.length * 6.3)));
  const time = response.isUnknown ? '' : `${response.label} ${response.message}`;
  const head = { size: 17, weight: 600, top: 17 } as const;
  return [
    { ...beside, ...head, text: status.label, colour: INK },
    { ...right, ...head, text: uptime.message, width: 95, colour: isQuiet ? QUIET_INK : INK },
    { ...beside, width: 315 - labelWidth, text: status.message, top: 39, size: 13, colour: legibleOn([PAPER], state) },
    { ...right, ...small, text: uptime.label, top: 40, width: labelWidth },
    { ...left, ...small, text: history.label, top: 107, width: 175 },
    { ...right, ...small, text: time, top: 107, width: 175 },
  ];
}
