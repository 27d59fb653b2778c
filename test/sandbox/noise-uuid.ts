import { noiseHex } from '../../src/sandbox/services.ts';

/** A UUID of version 4 form, as `noise`. */
export function noiseUuid(seed: number, ...parts: readonly (number | string)[]): string {
  const hex = noiseHex(32, seed, ...parts);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
