/** The days of a bar as a handful of SVG lines: a run of like days is one dashed line, so weight follows change, not length. */

export interface BarPath {
  /** Of the state, as a class. */
  readonly letter: string;
  /** In a box one unit wide for each day and 8 high. */
  readonly d: string;
}

/** Lines by letter of the state, in the order of the first day of each. Days of no data are three short marks, not a block. */
export function barPaths(letters: string): BarPath[] {
  const byLetter = new Map<string, string>();
  for (let from = 0; from < letters.length; ) {
    const letter = (letters[from] ?? 'u').toLowerCase();
    let to = from + 1;
    while (to < letters.length && letters[to]?.toLowerCase() === letter) to += 1;
    const length = to - from;
    const lines = letter === 'u' ? [1, 4, 7] : [4];
    const d = lines.map((y) => `M${from} ${y}h${length}`).join('');
    byLetter.set(letter, (byLetter.get(letter) ?? '') + d);
    from = to;
  }
  return [...byLetter].map(([letter, d]) => ({ letter, d }));
}
