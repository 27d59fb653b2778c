/**
 * The part of a target's ledger that tells of sealed pages: anybody may read the ledger there, and which private pages
 * exist is nobody's business. AES-256-GCM under a key derived from the site's.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface SiteKey {
  readonly reveal: () => string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function sealEntries(text: string, key: SiteKey): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, derived(key), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Null: it was sealed under another key, or is damaged. */
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

function derived(key: SiteKey): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key.reveal(), '', 'pharos target ledger', 32));
}
