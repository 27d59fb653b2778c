/** Unguessable words and the only form in which they are stored. */

import { createHash, randomBytes } from 'node:crypto';

/** Where chance comes from; tests give their own. */
export type RandomBytes = (count: number) => Uint8Array;

export const systemRandom: RandomBytes = (count) => randomBytes(count);

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** 256 bits as 43 characters that may stand in a cookie or an address. */
export function newToken(random: RandomBytes): string {
  return Buffer.from(random(TOKEN_BYTES)).toString('base64url');
}

/** Whether `text` could be one of our tokens; anything else need not be looked up. */
export function isToken(text: string | null | undefined): text is string {
  return typeof text === 'string' && TOKEN.test(text);
}

/** SHA-256 of the parts, which cannot run into one another. For high-entropy input only: passwords have their own hash. */
export function digest(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url');
}
