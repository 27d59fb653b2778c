/** How wide output may be. */

interface Sized {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const COLUMNS_DEFAULT = 80;

/**
 * COLUMNS where it is set, else the width of the terminal; undefined: there is no terminal, and lines are as long as they are.
 * Some pseudo-terminals say that they have no columns.
 */
export function columnsOf(
  stream: Sized = process.stdout,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): number | undefined {
  const wanted = Number(environment['COLUMNS']);
  if (Number.isInteger(wanted) && wanted > 0) return wanted;
  if (stream.isTTY !== true) return undefined;
  return stream.columns || COLUMNS_DEFAULT;
}
