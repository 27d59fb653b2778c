/** Random tokens, and the only forms in which secrets are stored: hashed, or encrypted if they are needed again. */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  type Hash,
  type Hmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

/** Holds a secret and reveals it on request. */
export interface Revealing {
  readonly reveal: () => string;
}

/** Source of random bytes; tests pass their own. */
export type RandomBytes = (count: number) => Uint8Array;

export const systemRandom: RandomBytes = (count) => randomBytes(count);

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits as 43 characters that are safe in a cookie or an address. */
export function newToken(random: RandomBytes): string {
  return Buffer.from(random(TOKEN_BYTES)).toString('base64url');
}

/** Whether `text` has the form of our tokens; anything else need not be looked up. */
export function isToken(text: string | null | undefined): text is string {
  return typeof text === 'string' && TOKEN.test(text);
}

/** SHA-256 of the parts, which are kept apart. For high-entropy input only; passwords have their own hash. */
export function digest(...parts: readonly string[]): string {
  return digestWith(createHash('sha256'), parts);
}

/**
 * HMAC-SHA-256 of the parts, for values that could be guessed, such as addresses. The key is not stored beside the
 * hash.
 */
export function keyedDigest(key: Revealing, ...parts: readonly string[]): string {
  return digestWith(createHmac('sha256', key.reveal()), parts);
}

function digestWith(hash: Hash | Hmac, parts: readonly string[]): string {
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url');
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param purpose values encrypted for one purpose cannot be decrypted for another */
export function createSeal(key: Revealing, purpose: string, random: RandomBytes) {
  const own = Buffer.from(hkdfSync('sha256', key.reveal(), '', purpose, 32));
  return {
    /** AES-256-GCM, bound to `id`, so that a value can't be copied to another row. */
    seal: (text: string, id: string): string => {
      const iv = random(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', own, iv).setAAD(Buffer.from(id));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    /** Null: damaged, or encrypted with another key or for another id. */
    open: (sealed: string, id: string): string | null => {
      const bytes = Buffer.from(sealed, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', own, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        }).setAAD(Buffer.from(id));
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        );
      } catch {
        return null;
      }
    },
  };
}
