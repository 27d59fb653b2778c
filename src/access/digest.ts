/** Unguessable words and the only form in which they are stored. */

import { createHash, createHmac, type Hash, type Hmac, randomBytes } from 'node:crypto';

/** Something that reveals a secret. */
export interface Revealing {
  readonly reveal: () => string;
}

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
  return digestWith(createHash('sha256'), parts);
}

/** HMAC-SHA-256 of the parts: for what could be guessed, such as an address; the key is kept away from where the hash is. */
export function keyedDigest(key: Revealing, ...parts: readonly string[]): string {
  return digestWith(createHmac('sha256', key.reveal()), parts);
}

function digestWith(hash: Hash | Hmac, parts: readonly string[]): string {
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url');
}
