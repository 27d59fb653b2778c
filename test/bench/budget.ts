/** A figure beside its budget: said in one line, and told to whoever runs all benchmarks so that a missed one is seen. */

export interface Judged {
  readonly name: string;
  readonly figure: number;
  readonly unit: string;
  /** At most, or at least, so much; null: nothing was promised. */
  readonly atMost?: number | null;
  readonly atLeast?: number | null;
  /** What the figure is made of. */
  readonly remark?: string;
}

/** What a benchmark's process tells the one that runs them all. */
export interface ToldFigure {
  readonly judged: Judged;
  /** The line of a budget that was missed; null: it was kept, or nothing was promised. */
  readonly missed: string | null;
}

/** Prints the figure, the budget, their ratio and whether it is kept, and tells the parent process. */
export function judge(judged: Judged): boolean {
  const { name, figure, unit, atMost = null, atLeast = null, remark = '' } = judged;
  const budget = atMost ?? atLeast;
  // A figure that is none keeps no budget.
  const isKept = budget === null || (atMost === null ? figure >= budget : figure <= budget);
  const promised =
    budget === null
      ? ''
      : `budget ${atMost === null ? '≥' : '≤'} ${number(budget)} ${unit}, ${number(figure / budget)} of it: ${isKept ? 'ok' : 'MISSED'}`;
  const line = `${name.padEnd(64)} ${`${number(figure)} ${unit}`.padStart(16)}  ${promised}`;
  console.log(`${line.trimEnd()}${remark === '' ? '' : `  (${remark})`}`);
  const missed = isKept ? null : `${name.trim()}: ${number(figure)} ${unit}, ${promised}`;
  // Four digits are more than any benchmark can repeat.
  process.send?.({ judged: { ...judged, figure: Number(figure.toPrecision(4)) }, missed } satisfies ToldFigure);
  return isKept;
}

/** The value that so large a share of the figures stays within. */
export function quantile(figures: readonly number[], share: number): number {
  return figures.toSorted((a, b) => a - b)[Math.ceil(share * figures.length) - 1] ?? Number.NaN;
}

export function median(figures: readonly number[]): number {
  return quantile(figures, 0.5);
}

/** Three digits that matter, more where a number has them before its point. */
export function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** A list of whole numbers from the environment, `PHAROS_BENCH_PAGES=10,100`. */
export function sizesFrom(name: string, usual: readonly number[]): readonly number[] {
  const text = process.env[name];
  if (text === undefined || text === '') return usual;
  const sizes = text.split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 1))
    throw new Error(`${name}=${text} is no list of numbers`);
  return sizes;
}
