/**
 * Redraws a font's outline on a whole-number grid in as few bytes as the eye allows.
 *
 * A TrueType outline is many short quadratic curves. Runs of them that bend smoothly become cubic curves through fewer
 * points, chosen so that the text of the path is shortest while no point of the outline moves by more than `TOLERANCE`.
 */

export interface Point {
  readonly x: number;
  readonly y: number;
}

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

/** Control points of the cubic with these end tangents that passes nearest to the samples (Schneider's method). */
function leastSquares(points: readonly Point[], tangent0: Point, tangent1: Point): [Point, Point] | null {
  const p0 = points[0];
  const p3 = points.at(-1);
  if (!p0 || !p3) return null;
  let at = chordLengths(points);
  let answer: [Point, Point] | null = null;
  for (let round = 0; round < 5; round += 1) {
    const alphas = solve(points, at, tangent0, tangent1);
    if (!alphas || alphas[0] <= 0 || alphas[1] <= 0) return answer;
    const one = plus(p0, scale(tangent0, alphas[0]));
    const two = minus(p3, scale(tangent1, alphas[1]));
    answer = [one, two];
    at = points.map((point, i) => nearest(point, [p0, one, two, p3], at[i] ?? 0));
  }
  return answer;
}

function solve(points: readonly Point[], at: readonly number[], t0: Point, t1: Point): [number, number] | null {
  const p0 = points[0] ?? { x: 0, y: 0 };
  const p3 = points.at(-1) ?? p0;
  let [c00, c01, c11, x0, x1] = [0, 0, 0, 0, 0];
  points.forEach((point, i) => {
    const t = at[i] ?? 0;
    const b = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3] as const;
    const a0 = scale(t0, b[1]);
    const a1 = scale(t1, -b[2]);
    const rest = minus(point, plus(scale(p0, b[0] + b[1]), scale(p3, b[2] + b[3])));
    c00 += dot(a0, a0);
    c01 += dot(a0, a1);
    c11 += dot(a1, a1);
    x0 += dot(a0, rest);
    x1 += dot(a1, rest);
  });
  const determinant = c00 * c11 - c01 * c01;
  if (Math.abs(determinant) < 1e-9) return null;
  return [(x0 * c11 - x1 * c01) / determinant, (c00 * x1 - c01 * x0) / determinant];
}

function chordLengths(points: readonly Point[]): number[] {
  const sums = [0];
  for (let i = 1; i < points.length; i += 1) {
    const [a, b] = [points[i - 1], points[i]];
    sums.push((sums.at(-1) ?? 0) + (a && b ? length(minus(b, a)) : 0));
  }
  return sums.map((sum) => sum / (sums.at(-1) || 1));
}

type Four = readonly [Point, Point, Point, Point];

/** One step of Newton towards the parameter where the cubic is nearest to `point`. */
function nearest(point: Point, [p0, p1, p2, p3]: Four, t: number): number {
  const away = minus(plus(p0, cubicAt([minus(p1, p0), minus(p2, p0), minus(p3, p0)], t)), point);
  const speed = quadraticAt([scale(minus(p1, p0), 3), scale(minus(p2, p1), 3), scale(minus(p3, p2), 3)], t);
  const turning = plus(
    scale(plus(minus(p2, scale(p1, 2)), p0), 6 * (1 - t)),
    scale(plus(minus(p3, scale(p2, 2)), p1), 6 * t),
  );
  const bend = dot(speed, speed) + dot(away, turning);
  return bend <= 0 ? t : Math.min(1, Math.max(0, t - dot(away, speed) / bend));
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

const snap = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });
const plus = (a: Point, b: Point): Point => ({ x: a.x + b.x, y: a.y + b.y });
const minus = (a: Point, b: Point): Point => ({ x: a.x - b.x, y: a.y - b.y });
const scale = (a: Point, by: number): Point => ({ x: a.x * by, y: a.y * by });
const mid = (a: Point, b: Point): Point => scale(plus(a, b), 0.5);
const dot = (a: Point, b: Point): number => a.x * b.x + a.y * b.y;
const length = (a: Point): number => Math.hypot(a.x, a.y);
const unit = (a: Point): Point => scale(a, 1 / (length(a) || 1));

function startTangent(from: Point, { control, to }: Piece): Point {
  return unit(minus(control && length(minus(control, from)) > 1e-6 ? control : to, from));
}

function endTangent(from: Point, { control, to }: Piece): Point {
  return unit(minus(to, control && length(minus(to, control)) > 1e-6 ? control : from));
}

function turn(a: Point, b: Point): number {
  return Math.acos(Math.min(1, Math.max(-1, dot(a, b))));
}

function quadraticAt([a, b, c]: readonly [Point, Point, Point], t: number): Point {
  return plus(plus(scale(a, (1 - t) ** 2), scale(b, 2 * t * (1 - t))), scale(c, t * t));
}

/** A cubic that starts at the origin. */
function cubicAt([b, c, d]: readonly [Point, Point, Point], t: number): Point {
  return plus(plus(scale(b, 3 * t * (1 - t) ** 2), scale(c, 3 * t * t * (1 - t))), scale(d, t ** 3));
}

function distanceToLine(point: Point, a: Point, b: Point): number {
  const along = minus(b, a);
  const size = length(along);
  if (size < 1e-9) return length(minus(point, a));
  return Math.abs(along.x * (point.y - a.y) - along.y * (point.x - a.x)) / size;
}

/** How far `point` is from a line drawn through `line`. */
export function distanceToPolyline(point: Point, line: readonly Point[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 1; i < line.length; i += 1) {
    const [a, b] = [line[i - 1], line[i]];
    if (!a || !b) continue;
    const along = minus(b, a);
    const share = Math.min(1, Math.max(0, dot(minus(point, a), along) / (dot(along, along) || 1)));
    best = Math.min(best, length(minus(point, plus(a, scale(along, share)))));
  }
  return best;
}
