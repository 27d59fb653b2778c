/** The name that was probably meant by one that nothing has. */

/**
 * The candidate that takes the fewest changes to get to from `name`, of equally near ones the first; else one that is `name`
 * with a word before it. Null: none is near.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  const known = [...candidates];
  // One in three characters may be wrong, and one of a short name.
  const distanceMax = Math.max(1, Math.floor(name.length / 3));
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= distanceMax)
    .toSorted((one, other) => one.distance - other.distance);
  return best?.candidate ?? known.find((candidate) => candidate.endsWith(`_${name}`)) ?? null;
}

/** ` Did you mean X?`, to follow a sentence; empty when no candidate is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === null ? '' : ` Did you mean ${nearest}?`;
}

/** Characters to be put in, left out, changed, or swapped with the next one (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
