/**
 * Redraws a font's outline on a whole-number grid in as few bytes as the eye allows.
 *
 * A TrueType outline is many short quadratic curves. Runs of them that bend smoothly become cubic curves through fewer
 * points, chosen so that the text of the path is shortest while no point of the outline moves by more than `TOLERANCE`.
 */

import { leastSquares } from './cubic-fit.ts';
import {
  cubicAt,
  distanceToLine,
  distanceToPolyline,
  dot,
  length,
  mid,
  minus,
  type Point,
  plus,
  quadraticAt,
  snap,
  unit,
} from './vectors.ts';

/** A piece of an outline from where the last one ended: a line, or a quadratic curve when it has a control point. */
export interface Piece {
  readonly control: Point | null;
  readonly to: Point;
}

/** A closed outline; the last piece ends at `from`. */
export interface Contour {
  readonly from: Point;
  readonly pieces: readonly Piece[];
}

/** How far an outline may move, in grid units, beyond what rounding its points to the grid does by itself. */
export const TOLERANCE = 0.65;
/** Neighbours that turn by less than this (radians) are one smooth curve. */
const SMOOTH = 0.16;
const SAMPLES = 8;

interface Drawn {
  readonly command: 'c' | 'q' | 'l';
  /** Relative to where the piece starts, on the grid. */
  readonly points: readonly Point[];
}

/** The relative path data of a contour, without its first move and with its `z`; `start` is that first move's aim. */
export function fitContour(contour: Contour): { start: Point; path: string } {
  const turned = startAtCorner(contour);
  const drawn: Drawn[] = [];
  for (const run of smoothRuns(turned)) drawn.push(...fitRun(run));
  if (drawn.at(-1)?.command === 'l') drawn.pop(); // `z` draws the last line
  return { start: snap(turned.from), path: `${write(drawn)}z` };
}

/** Turns the contour so that it begins where a line ends or at a corner; a smooth one at its lowest point. */
function startAtCorner(contour: Contour): Contour {
  const { pieces } = contour;
  const starts = [contour.from, ...pieces.slice(0, -1).map((piece) => piece.to)];
  const last = (index: number) => (index + pieces.length - 1) % pieces.length;
  const isCorner = (index: number) => {
    const before = pieces[last(index)];
    const here = pieces[index];
    const at = starts[index];
    if (!before || !here || !at) return false;
    return turn(endTangent(starts[last(index)] ?? at, before), startTangent(at, here)) > SMOOTH;
  };
  // Best is the corner after a line: `z` then draws that line for nothing.
  const corners = starts.flatMap((_, index) => (isCorner(index) ? [index] : []));
  const afterLine = corners.find((index) => pieces[last(index)]?.control === null);
  const lowest = starts.reduce((best, point, index) => (point.y > (starts[best]?.y ?? 0) ? index : best), 0);
  const first = afterLine ?? corners[0] ?? lowest;
  return { from: starts[first] ?? contour.from, pieces: [...pieces.slice(first), ...pieces.slice(0, first)] };
}

interface Run {
  readonly from: Point;
  readonly pieces: readonly Piece[];
}

/** Cuts a contour into single lines and runs of curves without a corner inside. */
function smoothRuns(contour: Contour): Run[] {
  const runs: { from: Point; pieces: Piece[] }[] = [];
  let at = contour.from;
  let isOpen = false;
  let before: { from: Point; piece: Piece } | null = null;
  for (const piece of contour.pieces) {
    const isCurve = piece.control !== null;
    const isSmooth = before !== null && turn(endTangent(before.from, before.piece), startTangent(at, piece)) <= SMOOTH;
    if (isCurve && isOpen && isSmooth) runs.at(-1)?.pieces.push(piece);
    else runs.push({ from: at, pieces: [piece] });
    isOpen = isCurve;
    before = { from: at, piece };
    at = piece.to;
  }
  return runs;
}

/** The shortest writing of a run: for each node, the cheapest way to get there from the nodes before it. */
function fitRun(run: Run): Drawn[] {
  const nodes = [run.from, ...run.pieces.map((piece) => piece.to)];
  const best: { cost: number; drawn: Drawn[] }[] = [{ cost: 0, drawn: [] }];
  for (let end = 1; end < nodes.length; end += 1) {
    let cheapest: { cost: number; drawn: Drawn[] } | null = null;
    for (let start = 0; start < end; start += 1) {
      const from = nodes[start];
      const before = best[start];
      if (!from || !before) continue;
      const drawn = fitOne(from, run.pieces.slice(start, end));
      if (!drawn) continue;
      const cost = before.cost + write([drawn]).length;
      if (!cheapest || cost < cheapest.cost) cheapest = { cost, drawn: [...before.drawn, drawn] };
    }
    if (!cheapest) throw new Error('A single piece can always be drawn');
    best.push(cheapest);
  }
  return best.at(-1)?.drawn ?? [];
}

/** One command for several pieces, or null when it would stray too far. A single piece is always drawn. */
function fitOne(from: Point, pieces: readonly Piece[]): Drawn | null {
  const first = pieces[0];
  const last = pieces.at(-1);
  if (!first || !last) return null;
  const origin = snap(from);
  const relative = (point: Point) => minus(snap(point), origin);
  if (pieces.length === 1) {
    const isStraight = !first.control || distanceToLine(first.control, from, first.to) < 0.35;
    if (isStraight || !first.control) return { command: 'l', points: [relative(first.to)] };
    return { command: 'q', points: [relative(first.control), relative(first.to)] };
  }
  const outline = sample(from, pieces);
  const lastFrom = pieces.at(-2)?.to ?? from;
  const cubic = leastSquares(outline, startTangent(from, first), endTangent(lastFrom, last));
  if (!cubic) return null;
  const [one, two] = cubic;
  const points = [relative(one), relative(two), relative(last.to)] as const;
  const drawn = Array.from({ length: 33 }, (_, i) => plus(origin, cubicAt(points, i / 32)));
  const strays = outline.some((point) => distanceToPolyline(point, drawn) > TOLERANCE);
  return strays ? null : { command: 'c', points };
}

function sample(from: Point, pieces: readonly Piece[]): Point[] {
  const points = [from];
  let at = from;
  for (const { control, to } of pieces) {
    for (let i = 1; i <= SAMPLES; i += 1) points.push(quadraticAt([at, control ?? mid(at, to), to], i / SAMPLES));
    at = to;
  }
  return points;
}

/** Shortest path data: lines along an axis as `h` and `v`, a repeated letter once, no separator before a minus. */
function write(drawn: readonly Drawn[]): string {
  let text = '';
  let before = '';
  for (const { command, points } of drawn) {
    const [first] = points;
    if (points.every((point) => point.x === 0 && point.y === 0)) continue;
    const axis = command === 'l' && first ? (first.y === 0 ? 'h' : first.x === 0 ? 'v' : '') : '';
    const letter = axis || command;
    const numbers = axis ? [first?.x || first?.y || 0] : points.flatMap(({ x, y }) => [x, y]);
    // Two `h` in a row go back and forth on a spike: written out, a repeated letter is never needed.
    text += joinNumbers(letter === before ? '' : letter, numbers);
    before = letter;
  }
  return text;
}

/** Numbers with a space only where neither a sign nor a letter separates them. */
export function joinNumbers(letter: string, numbers: readonly number[]): string {
  return numbers.reduce<string>((text, number, index) => {
    const isSeparated = number < 0 || (index === 0 && letter !== '');
    return `${text}${isSeparated ? '' : ' '}${number}`;
  }, letter);
}

function startTangent(from: Point, { control, to }: Piece): Point {
  return unit(minus(control && length(minus(control, from)) > 1e-6 ? control : to, from));
}

function endTangent(from: Point, { control, to }: Piece): Point {
  return unit(minus(to, control && length(minus(to, control)) > 1e-6 ? control : from));
}

function turn(a: Point, b: Point): number {
  return Math.acos(Math.min(1, Math.max(-1, dot(a, b))));
}
