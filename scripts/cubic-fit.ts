/** Finds one cubic curve that passes near many points. */

import { cubicAt, dot, length, minus, type Point, plus, quadraticAt, scale } from './vectors.ts';

/** Control points of the cubic with these end tangents that passes nearest to the samples (Schneider's method). */
export function leastSquares(points: readonly Point[], tangent0: Point, tangent1: Point): [Point, Point] | null {
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
