/** Path data from outside, read number by number and written anew: the only form in which a logo is accepted. */

export const PATH_LENGTH_MAX = 8_192;

const ARGUMENTS: Readonly<Record<string, number>> = { m: 2, l: 2, h: 1, v: 1, c: 6, s: 4, q: 4, t: 2, a: 7, z: 0 };
const COMMAND = /[\s,]*([mlhvcsqtaz])/iy;
const NUMBER = /[\s,]*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?)/iy;
/** The two flags of an arc may stand without a separator: `a1 1 0 01.5.5`. */
const FLAG = /[\s,]*([01])/y;
const REST = /[\s,]*$/y;
/** Far outside any drawing; keeps `1e99` out of viewers. */
const COORDINATE_MAX = 100_000;

/**
 * Path data as SVG understands it, in a canonical writing with at most three digits after the point; null when it is
 * not path data, does not begin with a move, is longer than `PATH_LENGTH_MAX`, or has numbers beyond 100,000.
 */
export function parsePathData(text: string): string | null {
  if (text.length > PATH_LENGTH_MAX) return null;
  let out = '';
  let at = 0;
  const read = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match ? (match[1] ?? '') : null;
  };
  for (let letter = read(COMMAND); letter !== null; letter = read(COMMAND)) {
    if (out === '' && letter.toLowerCase() !== 'm') return null;
    const count = ARGUMENTS[letter.toLowerCase()] ?? 0;
    out += letter;
    if (count === 0) continue;
    const first = readArguments(letter, count, read);
    if (first === null) return null;
    out += first;
    // What stands between here and the next command must be whole groups of arguments.
    let before = at;
    for (let more = readArguments(letter, count, read); more !== null; more = readArguments(letter, count, read)) {
      out += more.startsWith('-') ? more : ` ${more}`;
      before = at;
    }
    if (at !== before) return null;
  }
  return out !== '' && read(REST) !== null ? out : null;
}

function readArguments(letter: string, count: number, read: (pattern: RegExp) => string | null): string | null {
  let out = '';
  for (let index = 0; index < count; index += 1) {
    const isFlag = letter.toLowerCase() === 'a' && (index === 3 || index === 4);
    const text = read(isFlag ? FLAG : NUMBER);
    const value = text === null ? Number.NaN : Math.round(Number(text) * 1000) / 1000;
    if (!(Math.abs(value) <= COORDINATE_MAX)) return null;
    out += index === 0 || value < 0 ? `${value}` : ` ${value}`;
  }
  return out;
}
