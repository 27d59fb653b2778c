/** How addresses of people are kept: encrypted, found by a keyed hash, and worth nothing without the key. */

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { keyedDigest, type RandomBytes, type Revealing } from '../access/digest.ts';
import { type PageKey, readPageKey } from '../model/slugs.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface AddressSeal {
  /** AES-256-GCM, bound to `id`, so that a row cannot be given the address of another. */
  readonly seal: (address: string, id: string) => string;
  /** Null: it was sealed with another key, for another id, or damaged. */
  readonly open: (sealed: string, id: string) => string | null;
  /** The same for the same mailbox of a page, however it is spelled. */
  readonly hash: (page: PageKey, address: string) => string;
}

export function createAddressSeal(key: Revealing, random: RandomBytes): AddressSeal {
  const own = Buffer.from(hkdfSync('sha256', key.reveal(), '', 'addresses of subscribers', 32));
  return {
    seal: (address, id) => {
      const iv = random(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', own, iv).setAAD(Buffer.from(id));
      const body = Buffer.concat([cipher.update(address, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open: (sealed, id) => {
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
    hash: (page, address) => keyedDigest(key, 'subscriber', readPageKey(page).slug, address.toLowerCase()),
  };
}
