/**
 * Tokens in the links of emails. Each is derived from the subscription's id and the key, so none is stored, and the links of a
 * deleted subscription no longer work.
 */

import { timingSafeEqual } from 'node:crypto';
import { keyedDigest, type RandomBytes, type Revealing } from '../access/digest.ts';

/** `confirm`: in the first email. `manage`: in every other one, to change, pause or end the subscription. */
type LinkPurpose = 'confirm' | 'manage';

const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** 128 random bits. */
export function newSubscriberId(random: RandomBytes): string {
  return Buffer.from(random(16)).toString('base64url');
}

export function linkToken(key: Revealing, purpose: LinkPurpose, id: string): string {
  return `${id}.${linkMac(key, purpose, id)}`;
}

/** The id of the subscription that a token belongs to; null: the token is not valid. */
export function readLinkToken(key: Revealing, purpose: LinkPurpose, token: string): string | null {
  const [, id = '', mac = ''] = TOKEN.exec(token) ?? [];
  if (id === '') return null;
  return timingSafeEqual(Buffer.from(mac), Buffer.from(linkMac(key, purpose, id))) ? id : null;
}

function linkMac(key: Revealing, purpose: LinkPurpose, id: string): string {
  return keyedDigest(key, 'subscription link', purpose, id);
}
