/**
 * Encrypts the part of a target's ledger that lists sealed pages. Anyone can read the ledger, and must not learn which private
 * pages exist, or how many. AES-256-GCM with a key derived from the site's, padded so that the length reveals little.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface SiteKey {
  readonly reveal: () => string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** About thirty pages. */
const LENGTH_STEP = 4_096;

/** @param text JSON: blanks behind it are no part of it */
export function sealEntries(text: string, key: SiteKey): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, derived(key), nonce);
  const sealed = Buffer.concat([cipher.update(padded(text), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Null: encrypted with another key, or damaged. */
export function openEntries(sealed: string, key: SiteKey): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  const tagEnd = NONCE_BYTES + TAG_BYTES;
  if (bytes.length < tagEnd) return null;
  const decipher = createDecipheriv(CIPHER, derived(key), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function padded(text: string): string {
  return text.padEnd(Math.ceil(text.length / LENGTH_STEP) * LENGTH_STEP);
}

function derived(key: SiteKey): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key.reveal(), '', 'pharos target ledger', 32));
}
