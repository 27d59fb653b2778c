/**
 * The secrets in links of mails. Each follows from the id of a subscription and the key, so nothing that opens a link is
 * stored, and the links of a subscription that is gone open nothing.
 */

import { timingSafeEqual } from 'node:crypto';
import { keyedDigest, type RandomBytes, type Revealing } from '../access/digest.ts';

/** `confirm`: the first mail. `manage`: every other, to choose, pause and leave. */
type LinkPurpose = 'confirm' | 'manage';

const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Of a subscription: 128 bits. */
export function newSubscriberId(random: RandomBytes): string {
  return Buffer.from(random(16)).toString('base64url');
}

export function linkToken(key: Revealing, purpose: LinkPurpose, id: string): string {
  return `${id}.${linkMac(key, purpose, id)}`;
}

/** The id of the subscription that a token is of; null: it is none of ours. */
export function subscriberOf(key: Revealing, purpose: LinkPurpose, token: string): string | null {
  const [, id = '', mac = ''] = TOKEN.exec(token) ?? [];
  if (id === '') return null;
  return timingSafeEqual(Buffer.from(mac), Buffer.from(linkMac(key, purpose, id))) ? id : null;
}

function linkMac(key: Revealing, purpose: LinkPurpose, id: string): string {
  return keyedDigest(key, 'subscription link', purpose, id);
}
