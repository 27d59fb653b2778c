/**
 * The social image of a page: 1200 × 630, PNG. Text is laid out by satori with fonts that come along, so that it looks
 * the same on every machine; signs and days are drawn directly. The libraries are loaded when the first image is drawn.
 */

import { type Box, type BoxStyle, type Faces, facesFor } from '../../badges/lettering/faces.ts';
import { type Colour, toHex, WHITE } from '../../looks/colour.ts';
import { PRESET_LOOKS } from '../../looks/presets.ts';
import { filledShape, LOOKS, SHAPE_SIZE } from '../../looks/states.ts';
import { once } from '../../once.ts';
import type { SocialView } from '../../views/badges/social.ts';
import { localeDirection } from '../../views/words/index.ts';

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 72;
const SKY_HEIGHT = 408;
const BARS_BOTTOM = 530;
const SHAPE_WIDTH = 140;
const BESIDE_SHAPE_WIDTH = WIDTH - 2 * MARGIN - SHAPE_WIDTH - 40;
const ACCENT_HEIGHT = 14;
const LOGO_HEIGHT = 68;
/** Height of the bar of the worst day. */
const BAR_HEIGHT = 84;

/** The image as PNG. It takes about 100 ms of one core, and more the first time. */
export async function socialImage(view: SocialView): Promise<Uint8Array> {
  const { satori, Resvg } = await libraries();
  const { title, sentence, detail, daysFrom, daysTo, address } = view;
  const faces = await facesFor([title, sentence, detail, daysFrom, daysTo, address].join(' '), view.locale);
  const text = await satori(layOut(view, faces), { width: WIDTH, height: HEIGHT, fonts: [...faces.fonts] });
  const svg = text.replace(
    /<\/svg>\s*$/,
    `${drawLine(view)}${drawLogo(view)}${drawShape(view)}${drawBars(view)}</svg>`,
  );
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

/** Loaded once. */
const libraries = once(async () => {
  const [{ default: satori }, { Resvg }] = await Promise.all([import('satori'), import('@resvg/resvg-js')]);
  return { satori, Resvg };
});

const isRightToLeft = ({ locale }: SocialView): boolean => localeDirection(locale) === 'rtl';

const ONE_LINE: BoxStyle = { display: 'block', whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' };

function box(style: BoxStyle, children: Box['props']['children']): Box {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}

/** A colour for the theme of the image. */
function hexIn({ isDark }: SocialView, { light, dark }: Colour): string {
  return toHex(isDark ? dark : light);
}

function layOut(view: SocialView, faces: Faces): Box {
  const { header, isLoud } = LOOKS[view.state];
  const direction = isRightToLeft(view) ? 'rtl' : 'ltr';
  const head = box(
    {
      flexDirection: 'column',
      justifyContent: 'space-between',
      width: WIDTH,
      height: SKY_HEIGHT,
      boxSizing: 'border-box',
      padding: `56px ${MARGIN}px 52px`,
      backgroundColor: hexIn(view, header),
      color: isLoud ? toHex(WHITE) : hexIn(view, PRESET_LOOKS[view.preset].ink),
    },
    [
      box(
        { ...ONE_LINE, fontWeight: 700, fontSize: 38, direction, width: BESIDE_SHAPE_WIDTH },
        view.logo === null ? view.title : '',
      ),
      box({ flexDirection: 'column' }, [
        box(
          {
            fontSize: sentenceSize(view.sentence),
            fontWeight: 700,
            // Letter spacing would separate joined letters.
            ...(/^[\p{Script=Latin}\P{L}]*$/u.test(view.sentence) ? { letterSpacing: -1 } : {}),
            lineHeight: 1.15,
            width: BESIDE_SHAPE_WIDTH,
          },
          view.sentence,
        ),
        box(
          {
            fontSize: 30,
            fontWeight: 500,
            lineHeight: 1.3,
            marginTop: 14,
            width: WIDTH - 2 * MARGIN,
            display: 'block',
            lineClamp: 2,
          },
          view.detail,
        ),
      ]),
    ],
  );
  const foot = box(
    {
      justifyContent: 'space-between',
      position: 'absolute',
      left: MARGIN,
      top: BARS_BOTTOM + 18,
      width: WIDTH - 2 * MARGIN,
      fontSize: 24,
      fontWeight: 500,
      color: hexIn(view, PRESET_LOOKS[view.preset].quietInk),
    },
    [box({}, view.daysFrom), box({ ...ONE_LINE, maxWidth: 640 }, view.address), box({}, view.daysTo)],
  );
  return box(
    {
      width: WIDTH,
      height: HEIGHT,
      backgroundColor: hexIn(view, PRESET_LOOKS[view.preset].paper),
      fontFamily: faces.families,
      direction,
    },
    [head, foot],
  );
}

/** A smaller size keeps long sentences on two lines. */
function sentenceSize(sentence: string): number {
  if (sentence.length <= 24) return 76;
  return sentence.length <= 40 ? 64 : 52;
}

/** The accent line, in exactly that colour, as at the top of pages. */
function drawLine({ accentColor }: SocialView): string {
  return accentColor === null ? '' : `<rect width="${WIDTH}" height="${ACCENT_HEIGHT}" fill="${accentColor}"/>`;
}

/** The logo, scaled like the title. */
function drawLogo(view: SocialView): string {
  if (view.logo === null) return '';
  const { contentType, base64, width, height } = view.logo;
  const scale = Math.min(LOGO_HEIGHT / height, BESIDE_SHAPE_WIDTH / width);
  const x = isRightToLeft(view) ? WIDTH - MARGIN - width * scale : MARGIN;
  return `<image x="${x}" y="52" width="${width * scale}" height="${height * scale}" href="data:${contentType};base64,${base64}"/>`;
}

/** The shape of the state in the corner, with its symbol in the background colour. */
function drawShape(view: SocialView): string {
  const { shape, text, header, isLoud } = LOOKS[view.state];
  const hex = isLoud ? toHex(WHITE) : hexIn(view, text);
  const ink = ` stroke="${hexIn(view, header)}"`;
  const picture = filledShape(shape, { fill: ` fill="${hex}"`, stroke: ` stroke="${hex}"`, ink });
  const x = isRightToLeft(view) ? MARGIN : WIDTH - MARGIN - SHAPE_WIDTH;
  return `<g transform="translate(${x} 52) scale(${SHAPE_WIDTH / SHAPE_SIZE})">${picture}</g>`;
}

function drawBars(view: SocialView): string {
  const { days } = view;
  const pitch = (WIDTH - 2 * MARGIN) / days.length;
  const side = isRightToLeft(view) ? days.toReversed() : days;
  return side
    .map((state, index) => {
      const height = (LOOKS[state].height * BAR_HEIGHT) / 7;
      const x = (MARGIN + index * pitch).toFixed(2);
      const fill = hexIn(view, LOOKS[state].bar);
      return `<rect x="${x}" y="${BARS_BOTTOM - height}" width="${(pitch * 0.66).toFixed(2)}" height="${height}" rx="3" fill="${fill}"/>`;
    })
    .join('');
}
