/** Encrypts subscribers' addresses for the database, and hashes them to find them again. Without the key, neither can be read. */

import { createSeal, keyedDigest, type RandomBytes, type Revealing, type Seal } from '../access/digest.ts';
import { type PageKey, readPageKey } from '../model/slugs.ts';

export interface AddressSeal extends Seal {
  /** The same for one address on one page, in capitals or not. */
  readonly hash: (page: PageKey, address: string) => string;
}

export function createAddressSeal(key: Revealing, random: RandomBytes): AddressSeal {
  return {
    ...createSeal(key, 'addresses of subscribers', random),
    hash: (page, address) => keyedDigest(key, 'subscriber', readPageKey(page).slug, address.toLowerCase()),
  };
}
