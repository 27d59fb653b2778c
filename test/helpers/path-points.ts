/** Reads the relative path data that our outlines are written in, as points along it. */

export interface PathPoint {
  readonly x: number;
  readonly y: number;
}

const STEPS = 12;
const TOKEN = /[a-zA-Z]|-?\d+/g;
const COUNTS: Readonly<Record<string, number>> = { m: 2, l: 2, h: 1, v: 1, q: 4, c: 6, z: 0 };

/** One closed line for each contour, finely enough stepped to measure distances; and where the pen ends. */
export function pathContours(path: string): { contours: PathPoint[][]; end: PathPoint } {
  const tokens = path.match(TOKEN) ?? [];
  const contours: PathPoint[][] = [];
  let [x, y, command, index] = [0, 0, '', 0];
  while (index < tokens.length) {
    if (/[a-z]/i.test(tokens[index] ?? '')) command = tokens[index++] ?? '';
    const count = COUNTS[command];
    if (count === undefined) throw new Error(`No command of ours: ${command}`);
    const numbers = tokens.slice(index, index + count).map(Number);
    index += count;
    const current = contours.at(-1) ?? [];
    if (command === 'm') {
      [x, y] = [x + (numbers[0] ?? 0), y + (numbers[1] ?? 0)];
      contours.push([{ x, y }]);
    } else if (command === 'z') {
      const start = current[0] ?? { x, y };
      current.push(start);
      [x, y] = [start.x, start.y];
    } else {
      const points = pointsOf(command, numbers, { x, y });
      current.push(...points);
      ({ x, y } = points.at(-1) ?? { x, y });
    }
  }
  return { contours: contours.filter((contour) => contour.length > 1), end: { x, y } };
}

function pointsOf(command: string, numbers: readonly number[], from: PathPoint): PathPoint[] {
  const at = (index: number): PathPoint => ({
    x: from.x + (numbers[index] ?? 0),
    y: from.y + (numbers[index + 1] ?? 0),
  });
  if (command === 'h') return [{ x: from.x + (numbers[0] ?? 0), y: from.y }];
  if (command === 'v') return [{ x: from.x, y: from.y + (numbers[0] ?? 0) }];
  if (command === 'l') return [at(0)];
  const controls = command === 'q' ? [from, at(0), at(2)] : [from, at(0), at(2), at(4)];
  return Array.from({ length: STEPS }, (_, step) => bezier(controls, (step + 1) / STEPS));
}

/** De Casteljau: between neighbours again and again until one is left. */
export function bezier(points: readonly PathPoint[], share: number): PathPoint {
  const [first] = points;
  if (points.length <= 1) return first ?? { x: 0, y: 0 };
  const between = points.slice(1).map((point, index) => {
    const before = points[index] ?? point;
    return { x: before.x + (point.x - before.x) * share, y: before.y + (point.y - before.y) * share };
  });
  return bezier(between, share);
}
