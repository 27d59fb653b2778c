/**
 * The card: name, state, uptime, response time and ninety days in one picture of 400 × 132.
 *
 * satori lays out the text with fonts that come along, and takes milliseconds; of what it draws only the outlines are
 * kept, since its masks have ids that would clash where two cards stand in one document. satori and the fonts are
 * loaded when the first card is drawn.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Font } from 'satori';
import type { BadgeSubject } from '../views/badge.ts';
import { type Canvas, fill, inkFor, paintOf, styleElement } from './canvas.ts';
import { type Colour, legibleOn } from './colour.ts';
import { drawBars, drawSymbol } from './drawings.ts';
import { badgeFields, type KindFields } from './kinds.ts';
import type { BadgeOptions } from './options.ts';
import { INK_COLOUR, PANEL_COLOUR, PANEL_LINE_COLOUR, QUIET_COLOUR, STATE_COLOURS } from './palette.ts';
import { SHAPES } from './shapes.ts';
import { cleanText, directionOf, escapeXml } from './text.ts';

const WIDTH = 400;
const HEIGHT = 132;
const MARGIN = 20;
const BARS = { x: 200, middle: 850, pitch: 40, width: 30, height: 280 };
const NAME = { x: 62, baseline: 34, width: 220, size: 17 };

/** What satori is given as colours, to be told apart in what it gives back. */
const MARKS = { ink: '#000001', quiet: '#000002', state: '#000003' } as const;

/** The card of a subject as an SVG document. Takes milliseconds; the first one waits for the fonts. */
export async function cardSvg(subject: BadgeSubject, options: BadgeOptions = {}): Promise<string> {
  // A label of the operator's own is that of the card, not of the figures on it.
  const { label: _, ...others } = options;
  const status = badgeFields(subject, 'card', options);
  // Once on a card is enough for the word `stale`.
  const uptime = badgeFields({ ...subject, isStale: false }, 'uptime-90d', others);
  const history = badgeFields(subject, 'history-90d', others);
  const response = badgeFields({ ...subject, isStale: false }, 'response-time', others);
  const canvas: Canvas = { scheme: options.scheme ?? 'auto', shape: SHAPES.flat, rules: '' };
  const paint = paintOf(status.color, STATE_COLOURS.unknown, canvas.scheme);
  const text = await drawTexts({ status, uptime, history, response }, canvas, paint.colour);
  const symbol = status.symbol === undefined ? '' : drawSymbol(status.symbol, inkFor(paint.colour), canvas);
  const bars = drawBars(history.days ?? [], { ...BARS, colours: options.colors }, canvas);
  const name = escapeXml(cleanText(`${status.label}: ${status.message}, ${uptime.label} ${uptime.message}`));
  const ground = `<rect${fill(PANEL_LINE_COLOUR, canvas)} width="${WIDTH}" height="${HEIGHT}" rx="10"/><rect${fill(PANEL_COLOUR, canvas)} x="1" y="1" width="${WIDTH - 2}" height="${HEIGHT - 2}" rx="9"/>`;
  const dot = `<g transform="translate(${MARGIN} 18)scale(.15)"><circle${fill(paint.colour, canvas)} cx="100" cy="100" r="100"/>${symbol}</g>`;
  const body = `${ground}${dot}<g transform="scale(.1)">${bars}</g>${text}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name}"><title>${name}</title>${styleElement(canvas)}${body}</svg>`;
}

interface Said {
  readonly status: KindFields;
  readonly uptime: KindFields;
  readonly history: KindFields;
  readonly response: KindFields;
}

/** All texts as outlines; a name in a script that the fonts do not have is text in the viewer's fonts. */
async function drawTexts(said: Said, canvas: Canvas, state: Colour): Promise<string> {
  const { satori, fonts } = await library();
  const name = cleanText(said.status.label);
  const isCovered = COVERED.test(name);
  const svg = await satori(layOut(said, isCovered ? name : ''), { width: WIDTH, height: HEIGHT, fonts });
  const colours: Readonly<Record<string, Colour>> = {
    [MARKS.ink]: INK_COLOUR,
    [MARKS.quiet]: QUIET_COLOUR,
    [MARKS.state]: legibleOn(PANEL_COLOUR, state),
  };
  const paths = Array.from(svg.matchAll(/<path fill="(#00000\d)" d="([^"]+)"/g), ([, mark = '', path = '']) => {
    const colour = colours[mark] ?? INK_COLOUR;
    return `<path${fill(colour, canvas)} d="${rounded(path)}"/>`;
  });
  if (isCovered) return paths.join('');
  const direction = directionOf(name);
  // The left edge, in either direction.
  const anchor = direction === 'rtl' ? ' text-anchor="end"' : '';
  return `${paths.join('')}<text${fill(INK_COLOUR, canvas)} x="${NAME.x}" y="${NAME.baseline}"${anchor} direction="${direction}" font-family="Inter,system-ui,sans-serif" font-size="${NAME.size}" font-weight="600">${escapeXml(name)}</text>`;
}

/** What the subsets of the font draw. */
const COVERED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}\p{P}\p{Zs}$+<=>^`|~€£¥]*$/u;

/** A tenth of a pixel, as in all our badges: finer is seen by nobody and takes twice the bytes. */
function rounded(path: string): string {
  return path.replace(/-?\d+\.\d+/g, (number) => `${Math.round(Number(number) * 10) / 10}`).replaceAll(' -', '-');
}

type Style = Readonly<Record<string, string | number>>;

/** An element as satori takes it, without JSX. */
interface Box {
  readonly type: 'div';
  readonly props: { readonly style: Style; readonly children: string | readonly Box[] };
}

function box(style: Style, children: Box['props']['children']): Box {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}

const ONE_LINE: Style = { display: 'block', whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' };

function line(text: string, style: Style): Box {
  return box({ ...ONE_LINE, position: 'absolute', lineHeight: 1.2, ...style }, text);
}

function layOut({ status, uptime, history, response }: Said, name: string): Box {
  const uptimeColour = uptime.isUnknown || status.isUnknown ? MARKS.quiet : MARKS.ink;
  const time = response.isUnknown ? '' : `${response.label} ${response.message}`;
  const foot: Style = { top: 107, fontSize: 11, color: MARKS.quiet, width: 175 };
  return box({ width: WIDTH, height: HEIGHT, position: 'relative', fontWeight: 500 }, [
    line(name, { left: NAME.x, top: 17, width: NAME.width, fontSize: NAME.size, fontWeight: 600, color: MARKS.ink }),
    line(status.message, {
      left: NAME.x,
      top: 39,
      width: NAME.width,
      fontSize: 13,
      fontWeight: 600,
      color: MARKS.state,
    }),
    line(uptime.message, { right: MARGIN, top: 17, fontSize: 17, fontWeight: 600, color: uptimeColour }),
    line(uptime.label, { right: MARGIN, top: 40, fontSize: 11, color: MARKS.quiet }),
    line(history.label, { left: MARGIN, ...foot }),
    line(time, { right: MARGIN, textAlign: 'right', ...foot }),
  ]);
}

const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'vietnamese'] as const;
const WEIGHTS = [500, 600] as const;

let loading: ReturnType<typeof load> | null = null;

/** Loaded once: satori keeps what it learned of a font by the identity of its bytes. */
function library(): ReturnType<typeof load> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load() {
  const { resolve } = createRequire(import.meta.url);
  const [{ default: satori }, ...fonts] = await Promise.all([
    import('satori'),
    ...SUBSETS.flatMap((subset) =>
      WEIGHTS.map(async (weight) => {
        const data = await readFile(resolve(`@fontsource/inter/files/inter-${subset}-${weight}-normal.woff`));
        // Each subset under a name of its own: of one name only one font is asked for a letter.
        return { name: subset, weight, style: 'normal', data } satisfies Font;
      }),
    ),
  ]);
  return { satori, fonts };
}
