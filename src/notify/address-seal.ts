/** Encrypts subscribers' addresses for the database, and hashes them to find them again. Without the key, neither can be read. */

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { keyedDigest, type RandomBytes, type Revealing } from '../access/digest.ts';
import { type PageKey, readPageKey } from '../model/slugs.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface AddressSeal {
  /** AES-256-GCM, bound to `id`, so that the address of one row can't be copied to another. */
  readonly seal: (address: string, id: string) => string;
  /** Null: it was encrypted with another key, for another id, or is damaged. */
  readonly open: (sealed: string, id: string) => string | null;
  /** The same for one address on one page, in capitals or not. */
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
