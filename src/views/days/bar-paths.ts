/** The days of a bar as a handful of SVG lines: a run of like days is one dashed line, so weight follows change, not length. */

export interface BarPath {
  /** A state's letter in lower case, or `b` for the marks of brief trouble, as a class. */
  readonly letter: string;
  /** In a box one unit wide for each day and 8 high. */
  readonly d: string;
}

const NO_DATA = 'u';
const BRIEF = 'b';

/** Lines by letter, in the order of the first day of each. A day of no data is three short marks, never a block. */
export function barPaths(letters: string): BarPath[] {
  const byLetter = new Map<string, string>();
  const draw = (letter: string, line: string) => byLetter.set(letter, (byLetter.get(letter) ?? '') + line);
  for (const run of letterRuns(letters.toLowerCase())) {
    const heights = run.letter === NO_DATA ? [1.8, 4, 6.2] : [4];
    for (const y of heights) draw(run.letter, `M${run.from} ${y}h${run.length}`);
  }
  for (const [index, letter] of [...letters].entries())
    if (letter !== letter.toLowerCase()) draw(BRIEF, `M${index} 7.5h1`);
  return [...byLetter].map(([letter, d]) => ({ letter, d }));
}

interface LetterRun {
  readonly letter: string;
  readonly from: number;
  readonly length: number;
}

function letterRuns(letters: string): LetterRun[] {
  const runs: LetterRun[] = [];
  for (let from = 0; from < letters.length; ) {
    const letter = letters[from] ?? NO_DATA;
    let to = from + 1;
    while (letters[to] === letter) to += 1;
    runs.push({ letter, from, length: to - from });
    from = to;
  }
  return runs;
}
