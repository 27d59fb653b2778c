/**
 * Draws a badge: plates, outlines of letters, nothing that needs a font, an id, a filter or a second request.
 *
 * One unit of the drawing is a tenth of a pixel, so that outlines are whole numbers. The only text elements are for
 * scripts that the outlines do not cover.
 */

import { PAPER } from '../looks/colour.ts';
import { escapeMarkup } from '../model/scalars.ts';
import type { State } from '../model/state.ts';
import { addRules, type Canvas, fill, type Paint, parsePaint, titleEnd } from './canvas.ts';
import { drawBars, drawLogo, drawShape, drawSpark, type Logo } from './drawings.ts';
import { estimatedWidth, outlineText, toCapitals, typeset } from './lettering/outline.ts';
import { cleanText, TEXT_LENGTH_MAX, textDirection } from './lettering/text.ts';
import type { BadgeScheme, BadgeStyle } from './names.ts';
import { FALLBACK_COLOUR, LABEL_COLOUR, PANEL_LINE_COLOUR } from './palette.ts';
import { inset, outline, penAt, platePath, SHAPES, type Shape, type Stretch } from './shapes.ts';

const FAMILIES = 'DejaVu Sans,Verdana,system-ui,sans-serif';

type Lettering = ReturnType<typeof setText>;

/** A text with what is needed to draw it: as outlines where they cover it, else as text in the viewer's fonts. */
function setText(value: unknown, { isLoud, tracking }: Shape, part: 'label' | 'message') {
  const text = typeof value === 'string' ? value : String(value ?? '');
  const weight = isLoud && part === 'message' ? 'bold' : 'regular';
  if (text.length <= TEXT_LENGTH_MAX) {
    const setting = typeset(weight, tracking, isLoud);
    const outline = outlineText(text, setting);
    if (outline?.isPlain) return { text, markup: text, setting, width: outline.width, path: outline.path };
  }
  const clean = cleanText(text);
  const drawn = isLoud ? toCapitals(clean) : clean;
  const setting = typeset(weight, tracking, false);
  const outline = outlineText(drawn, setting);
  const width = outline?.width ?? estimatedWidth(drawn, setting);
  // Clean, and the same as markup. Without outlines, which lack one of its letters, its width is a guess.
  return { text: clean, markup: escapeMarkup(clean), setting, width, path: outline?.path ?? null };
}

/** As it stands in a text element. */
function drawnText({ text, markup }: Lettering, { isLoud }: Shape): string {
  return isLoud ? escapeMarkup(toCapitals(text)) : markup;
}

interface PlacedLettering {
  readonly lettering: Lettering;
  readonly x: number;
  readonly paint: Paint;
}

/** Both texts of a badge, in one path where both are outlined in one ink. */
function drawLettering(left: PlacedLettering, right: PlacedLettering, { shape }: Canvas): string {
  if (shape.isText) return drawTexts([left, right], shape);
  const areOutlined = left.lettering.path !== null && right.lettering.path !== null;
  if (areOutlined && left.paint.inkFill === right.paint.inkFill)
    return drawPath(placedPath(left) + placedPath(right), right, shape);
  return drawOne(left, shape) + drawOne(right, shape);
}

function drawOne(placed: PlacedLettering, shape: Shape): string {
  return placed.lettering.path === null ? drawText(placed, shape) : drawPath(placedPath(placed), placed, shape);
}

function placedPath({ lettering: { path }, x }: PlacedLettering): string {
  return path ? penAt(x) + path : '';
}

function drawPath(path: string, { paint }: PlacedLettering, shape: Shape): string {
  return path === '' ? '' : (shape.isLifted ? paint.liftedInkPath : paint.inkPath) + path + PATH_END;
}

/** Texts whose widths are known, in fonts of the viewer that are fitted to these, with what they share written once. */
function drawTexts(all: readonly PlacedLettering[], shape: Shape): string {
  const others = all.filter(({ lettering }) => lettering.path === null);
  const covered = all.filter(({ lettering }) => lettering.path);
  const [first] = covered;
  if (first === undefined) return others.map((placed) => drawText(placed, shape)).join('');
  const shared = covered.every(({ paint }) => paint.inkFill === first.paint.inkFill) ? first.paint.inkFill : '';
  const texts = covered.map(({ lettering, x, paint }) => {
    const { width, setting } = lettering;
    const ink = shared === '' ? paint.inkFill : '';
    const bold = setting.weight === 'bold' ? ' font-weight="bold"' : '';
    const place = `x="${x + Math.round(width / 2)}" y="${shape.baseline}" textLength="${width}"`;
    return `<text${ink} ${place}${bold}>${drawnText(lettering, shape)}</text>`;
  });
  // The widths hold what is between the letters, too.
  return `<g${shared} text-anchor="middle" direction="ltr" font-family="Verdana,DejaVu Sans,sans-serif" font-size="110">${texts.join('')}</g>${others.map((placed) => drawText(placed, shape)).join('')}`;
}

/** Centred and neither stretched nor squeezed, so that joined letters stay joined. */
function drawText({ lettering, x, paint }: PlacedLettering, shape: Shape): string {
  const { text, width } = lettering;
  const { weight, tracking } = lettering.setting;
  const direction = textDirection(text);
  const bold = weight === 'bold' ? ' font-weight="bold"' : '';
  // Joined scripts come apart when tracked.
  const spacing = tracking > 0 && direction === 'ltr' ? ` letter-spacing="${tracking}"` : '';
  return `<text${paint.inkFill} x="${x + Math.round(width / 2)}" y="${shape.baseline}" text-anchor="middle" direction="${direction}" font-family="${FAMILIES}" font-size="110"${bold}${spacing}>${drawnText(lettering, shape)}</text>`;
}

/** What a badge says and how. Text may be anything: it is cleaned, cut and escaped. */
export interface BadgeFields {
  /** Left side; empty or left out: none. */
  readonly label?: string | undefined;
  readonly message: string;
  /** Of the right side: a name (states, `brightgreen`, `info` …), `#rgb`, `#rrggbb` or `rgb(…)`; anything else is grey. */
  readonly color: string;
  /** Of the left side, in the same words; anything else is the usual one. */
  readonly labelColor?: string | undefined;
  readonly style?: BadgeStyle | undefined;
  /** Default: `auto`; of styles that end in `-text`, `light`. */
  readonly scheme?: BadgeScheme | undefined;
  readonly logo?: Logo | undefined;
  /** Days, oldest first, drawn as bars between the two sides. */
  readonly days?: readonly State[] | undefined;
  /** Of the bars, by state, in the words of `color`; anything else is the usual one. */
  readonly stateColors?: Readonly<Partial<Record<State | 'info', string | undefined>>> | undefined;
  /** Numbers, oldest first, drawn as a line before the message; null is a gap. */
  readonly series?: readonly (number | null)[] | undefined;
  /** The state whose shape a dot has; without one it is a disc. */
  readonly shape?: State | undefined;
}

const LOGO = { width: 140, gap: 45 };
const SPARK = { width: 600, height: 110, gap: 60 };
/** Two pixels and a gap of one for each day, so that every edge is sharp. */
const BARS = { pitch: 30, width: 20, height: 140 };
const PANEL_PADDING = 50;

/** The badge as an SVG document. Pure: equal fields give equal bytes, and any text gives a well-formed document. */
export function renderBadge(fields: BadgeFields): string {
  const shape = fields.style === 'dot' ? SHAPES.flat : (SHAPES[fields.style ?? 'flat'] ?? SHAPES.flat);
  const label = setText(fields.label, shape, 'label');
  const message = setText(fields.message, shape, 'message');
  const name = label.markup + (label.text === '' || message.text === '' ? '' : ': ') + message.markup;
  const scheme = schemeOf(fields, shape);
  const colour = parsePaint(fields.color, FALLBACK_COLOUR, scheme);
  const canvas: Canvas = { scheme, shape, rules: '' };
  if (fields.style === 'dot') return wrap(drawDot(colour, fields.shape, canvas), { name, width: 200 }, canvas);
  const labelColour = parsePaint(fields.labelColor ?? 'label', LABEL_COLOUR, scheme);
  const { body, width } = drawPlates(fields, { label, message, colour, labelColour }, canvas);
  return wrap(body, { name, width }, canvas);
}

/** A style that is chosen for few bytes has two schemes only where that is asked for. */
function schemeOf({ scheme }: BadgeFields, { isText }: Shape): BadgeScheme {
  if (scheme === 'light' || scheme === 'dark') return scheme;
  return isText && scheme === undefined ? 'light' : 'auto';
}

// What is added with `+` is known to be text, and so isn't made text once more, as in a template.
const TITLE = '"><title>';
const END = '</svg>';
const PATH_END = '"/>';

function wrap(body: string, { name, width }: { name: string; width: number }, canvas: Canvas): string {
  return canvas.shape.opening(width) + name + TITLE + name + titleEnd(canvas) + body + END;
}

/** One end of a badge: a plate with a text on it, and before the text room for a drawing. */
function layOut(
  lettering: Lettering,
  drawing: { width: number; gap: number },
  padding: { before: number; after: number },
) {
  const room = drawing.width === 0 ? 0 : drawing.width + (lettering.text === '' ? 0 : drawing.gap);
  const content = room + lettering.width;
  if (content === 0) return { lettering, width: 0, drawingX: 0, textX: 0 };
  const wanted = padding.before + content + padding.after;
  // Of the plate, in whole pixels so that seams are sharp.
  const width = Math.ceil(wanted / 10) * 10;
  // From the plate's left edge to the drawing, and to the text.
  const drawingX = padding.before + Math.floor((width - wanted) / 2);
  return { lettering, width, drawingX, textX: drawingX + room };
}

const NO_DRAWING = { width: 0, gap: 0 };
const NO_DAYS: readonly State[] = [];

type Parts = Readonly<Record<'label' | 'message', Lettering> & Record<'colour' | 'labelColour', Paint>>;

/** The plates from left to right: label, panel of bars, message; each of them may be missing. */
function drawPlates(fields: BadgeFields, parts: Parts, canvas: Canvas): { body: string; width: number } {
  const { logo, days = NO_DAYS, series } = fields;
  const { shape } = canvas;
  const { outside, inside, height } = shape;
  const hasSeries = series?.some((value) => value !== null) === true;
  const isOnlyLabel = parts.message.text === '' && !hasSeries && days.length === 0;
  const left = layOut(parts.label, logo ? LOGO : NO_DRAWING, {
    before: outside,
    after: isOnlyLabel ? outside : inside,
  });
  const panelWidth = days.length === 0 ? 0 : days.length * BARS.pitch - (BARS.pitch - BARS.width) + 2 * PANEL_PADDING;
  const seam = left.width + panelWidth;
  const right = layOut(parts.message, hasSeries ? SPARK : NO_DRAWING, {
    before: seam === 0 ? outside : inside,
    after: outside,
  });
  const width = seam + right.width || height;
  const middle = height / 2;

  let body = '';
  if (left.width > 0)
    body += drawPlate(
      { from: 0, to: left.width, isFirst: true, isLast: left.width === width },
      parts.labelColour,
      canvas,
    );
  if (panelWidth > 0) {
    body += drawPanel({ from: left.width, to: seam, isFirst: left.width === 0, isLast: seam === width }, canvas);
    body += drawBars(days, { x: left.width + PANEL_PADDING, middle, colours: fields.stateColors, ...BARS }, canvas);
  }
  if (seam < width)
    body += drawPlate({ from: seam, to: width, isFirst: seam === 0, isLast: true }, parts.colour, canvas);
  if (logo)
    body += drawLogo(
      logo,
      { x: left.drawingX, y: middle - LOGO.width / 2, side: LOGO.width },
      parts.labelColour.inkFill,
    );
  if (series && hasSeries) {
    const place = { x: seam + right.drawingX, y: middle - SPARK.height / 2, width: SPARK.width, height: SPARK.height };
    body += drawSpark(series, { ...place, ink: parts.colour.ink }, canvas);
  }
  body += drawLettering(
    { lettering: left.lettering, x: left.textX, paint: parts.labelColour },
    { lettering: right.lettering, x: seam + right.textX, paint: parts.colour },
    canvas,
  );
  return { body, width };
}

function drawPlate(stretch: Stretch, paint: Paint, canvas: Canvas): string {
  addRules(paint, canvas);
  return paint.platePath + platePath(stretch, canvas.shape);
}

/** The ground of the bars, with a line round it so that it is told from any page. */
function drawPanel(stretch: Stretch, canvas: Canvas): string {
  const { from, to, isFirst, isLast } = stretch;
  const ground = { from: from + (isFirst ? 10 : 0), to: to - (isLast ? 10 : 0), isFirst, isLast };
  return `<path${fill(PANEL_LINE_COLOUR, canvas)} d="${platePath(stretch, canvas.shape)}<path${fill(PAPER, canvas)} transform="translate(0 10)" d="${outline(ground, inset(canvas.shape, 10))}"/>`;
}

function drawDot(paint: Paint, shape: State | undefined, canvas: Canvas): string {
  if (shape !== undefined) return drawShape(shape, paint, canvas);
  return `<circle${fill(paint.colour, canvas)} cx="100" cy="100" r="100"/>`;
}
