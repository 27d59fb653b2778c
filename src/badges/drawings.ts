/** The parts of a badge that are neither plate nor text: bars of days, response-time line, shapes of states, logos. */

import type { Colour } from '../looks/colour.ts';
import { filledShape, LOOKS, SHAPE_SIZE } from '../looks/states.ts';
import type { State } from '../model/state.ts';
import { type Canvas, fill, type Paint, stroke } from './canvas.ts';
import { parseColour } from './palette.ts';

/** Path data in a square of `size`; checked by whoever made it (`parsePathData`). */
export interface Logo {
  readonly path: string;
  readonly size: number;
}

interface BarsPlace {
  readonly x: number;
  /** The line that every bar is centred on. */
  readonly middle: number;
  /** From one bar to the next, the width of each, and the height of the tallest: sharp as a multiple of fourteen pixels. */
  readonly pitch: number;
  readonly width: number;
  readonly height: number;
  /** Instead of the usual ones. */
  readonly colours: Readonly<Partial<Record<State, string | undefined>>> | undefined;
}

/** One bar a day: a path for each state, a dash for each bar. */
export function drawBars(days: readonly State[], place: BarsPlace, canvas: Canvas): string {
  const { x, middle, pitch, width, height, colours } = place;
  const paths = new Map<State, string>();
  let first = 0;
  days.forEach((state, index) => {
    if (days[index + 1] === state) return;
    const run = `M${x + first * pitch} ${middle}h${(index - first) * pitch + width}`;
    paths.set(state, (paths.get(state) ?? '') + run);
    first = index + 1;
  });
  let out = '';
  for (const [state, path] of paths) {
    const colour = (state === 'unknown' ? null : parseColour(colours?.[state] ?? '')) ?? LOOKS[state].bar;
    out += `<path${stroke(colour, canvas)} stroke-width="${(LOOKS[state].height * height) / 7}" d="${path}"/>`;
  }
  return `<g fill="none" stroke-dasharray="${width} ${pitch - width}">${out}</g>`;
}

type Box = Readonly<Record<'x' | 'y' | 'width' | 'height', number>>;

/** Points of a line chart that are worth drawing: more would be closer together than a pixel. */
const SPARK_POINTS_MAX = 48;

/**
 * The series as a line with a shade below it, its gaps left open. The chart's floor is zero, so a line that only
 * trembles looks calm.
 */
export function drawSpark(series: readonly (number | null)[], { ink, ...box }: Box & { ink: Colour }, canvas: Canvas) {
  const points = thinned(series, SPARK_POINTS_MAX);
  const highest = Math.max(...points.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = points.length > 1 ? box.width / (points.length - 1) : 0;
  const floor = box.y + box.height;
  let line = '';
  let area = '';
  for (const { from, values } of stretches(points)) {
    const places = values.map((value, index) => {
      const x = Math.round(box.x + (from + index) * step);
      return { x, y: Math.round(floor - (value / highest) * box.height) };
    });
    const [start, ...rest] = places;
    const end = places.at(-1);
    if (!start || !end) continue;
    const through = rest.map(({ x, y }) => `L${x} ${y}`).join('');
    // A single value is a dot: a line of no length with round ends.
    line += `M${start.x} ${start.y}${through || 'h0'}`;
    if (rest.length > 0) area += `M${start.x} ${floor}V${start.y}${through}V${floor}z`;
  }
  const shade = area === '' ? '' : `<path${fill(ink, canvas)} fill-opacity=".25" d="${area}"/>`;
  return `${shade}<path fill="none"${stroke(ink, canvas)} stroke-width="13" stroke-linecap="round" stroke-linejoin="round" d="${line}"/>`;
}

/** At most `count` values, each the mean of those it stands for. */
function thinned(series: readonly (number | null)[], count: number): (number | null)[] {
  if (series.length <= count) return series.map((value) => (isDrawable(value) ? value : null));
  return Array.from({ length: count }, (_, index) => {
    const first = Math.floor((index * series.length) / count);
    const last = Math.floor(((index + 1) * series.length) / count);
    const known = series.slice(first, last).filter(isDrawable);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}

function isDrawable(value: number | null): value is number {
  return value !== null && Number.isFinite(value) && value >= 0;
}

function stretches(points: readonly (number | null)[]): { from: number; values: number[] }[] {
  const found: { from: number; values: number[] }[] = [];
  points.forEach((value, index) => {
    if (value === null) return;
    if (index > 0 && points[index - 1] !== null) found.at(-1)?.values.push(value);
    else found.push({ from: index, values: [value] });
  });
  return found;
}

/** A logo scaled into a square whose upper left corner is given; `fill` is an attribute. */
export function drawLogo(logo: Logo, at: { x: number; y: number; side: number }, fill: string): string {
  const factor = Math.round((at.side / logo.size) * 1000) / 1000;
  return `<path${fill} transform="translate(${at.x} ${at.y})scale(${factor})" d="${logo.path}"/>`;
}

/** The shape of a state in a square of 200, its sign in the ink. */
export function drawShape(state: State, { colour, ink }: Pick<Paint, 'colour' | 'ink'>, canvas: Canvas): string {
  const paint = { fill: fill(colour, canvas), stroke: stroke(colour, canvas), ink: stroke(ink, canvas) };
  return `<g transform="scale(${200 / SHAPE_SIZE})">${filledShape(LOOKS[state].shape, paint)}</g>`;
}
