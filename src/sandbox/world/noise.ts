/** Randomness that is a function of its arguments: the same seed and the same words give the same number. */

/** A number in [0, 1) that depends on `seed` and every part, and on nothing else. */
export function noise(seed: number, ...parts: readonly (number | string)[]): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const part of parts) {
    for (const character of `${part};`) {
      hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    }
  }
  // The finaliser of MurmurHash3: neighbouring words must not give neighbouring numbers.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** A whole number in [from, to), as `noise`. */
export function noiseBetween(from: number, to: number, noiseRatio: number): number {
  return from + Math.floor(noiseRatio * (to - from));
}

/** `length` hexadecimal digits, as `noise`: identifiers that look like identifiers. */
export function noiseHex(length: number, seed: number, ...parts: readonly (number | string)[]): string {
  const digits = Array.from({ length }, (_, index) => noiseBetween(0, 16, noise(seed, ...parts, index)).toString(16));
  return digits.join('');
}

/** A UUID of version 4 form, as `noise`. */
export function noiseUuid(seed: number, ...parts: readonly (number | string)[]): string {
  const hex = noiseHex(32, seed, ...parts);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
