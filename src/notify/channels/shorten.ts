/** Texts made to fit limits that programs document, cut between characters and never inside one. */

/**
 * `text` as `write` writes it, cut so that what is written measures `max` at most; `…` tells that something is missing.
 *
 * @param write   how the program wants it escaped; longer texts are written longer
 * @param measure what its limit counts; default: UTF-16 units, which are never fewer than characters
 */
export function shorten(
  text: string,
  max: number,
  write: (text: string) => string = (plain) => plain,
  measure: (written: string) => number = (written) => written.length,
): string {
  const whole = write(text);
  if (measure(whole) <= max) return whole;
  const characters = [...text].slice(0, max);
  let [fits, tooMany] = [0, characters.length + 1];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (measure(write(`${characters.slice(0, middle).join('').trimEnd()}…`)) <= max) fits = middle;
    else tooMany = middle;
  }
  return write(`${characters.slice(0, fits).join('').trimEnd()}…`);
}

/** What limits in bytes count. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
