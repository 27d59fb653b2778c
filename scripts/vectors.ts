/** Points in the plane, and how far they are from curves and lines. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const snap = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });
export const plus = (a: Point, b: Point): Point => ({ x: a.x + b.x, y: a.y + b.y });
export const minus = (a: Point, b: Point): Point => ({ x: a.x - b.x, y: a.y - b.y });
export const scale = (a: Point, by: number): Point => ({ x: a.x * by, y: a.y * by });
export const mid = (a: Point, b: Point): Point => scale(plus(a, b), 0.5);
export const dot = (a: Point, b: Point): number => a.x * b.x + a.y * b.y;
export const length = (a: Point): number => Math.hypot(a.x, a.y);
export const unit = (a: Point): Point => scale(a, 1 / (length(a) || 1));

export function quadraticAt([a, b, c]: readonly [Point, Point, Point], t: number): Point {
  return plus(plus(scale(a, (1 - t) ** 2), scale(b, 2 * t * (1 - t))), scale(c, t * t));
}

/** A cubic that starts at the origin. */
export function cubicAt([b, c, d]: readonly [Point, Point, Point], t: number): Point {
  return plus(plus(scale(b, 3 * t * (1 - t) ** 2), scale(c, 3 * t * t * (1 - t))), scale(d, t ** 3));
}

export function distanceToLine(point: Point, a: Point, b: Point): number {
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
