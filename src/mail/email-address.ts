/** Parses one email address. Only the plain form is accepted, which every mail server reads in the same way. */

import { domainToASCII } from 'node:url';
import emailAddresses from 'email-addresses';
import { HOST_NAME } from '../model/scalars.ts';

export interface EmailAddress {
  /** The local part as typed, and the domain in punycode and lower case. */
  readonly address: string;
  readonly local: string;
  readonly domain: string;
}

/** RFC 5321, 4.5.3.1: a path has at most 256 octets with its angle brackets, a local part 64. */
const ADDRESS_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
/**
 * Letters, digits and a few signs. Left out is what some mail servers use for routing: `%` and `!` (Postfix reads them as other
 * domains by default), `=?` (an encoded word), quotes, pipes and slashes; and a leading dash, which programs take for an option.
 */
const PLAIN_LOCAL = /^[A-Za-z0-9_'+][A-Za-z0-9_'+-]*(?:\.[A-Za-z0-9_'+-]+)*$/;
/** Letters, marks and digits of any script; what IDNA makes of them is checked afterwards. */
const PLAIN_DOMAIN = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+$/u;
/** Ends with a top-level domain, which is never a number. */
const TOP_LEVEL = /\.[a-z][a-z0-9-]*$/;

/** Parses `input`, which may have spaces around it; null: it isn't exactly one plain address. */
export function parseEmailAddress(input: string): EmailAddress | null {
  if (input.length > 2 * ADDRESS_LENGTH_MAX) return null;
  const text = input.replace(/^ +| +$/g, '');
  const at = text.indexOf('@');
  const [local, typedDomain] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || local.length > LOCAL_LENGTH_MAX || !PLAIN_LOCAL.test(local) || !PLAIN_DOMAIN.test(typedDomain))
    return null;
  const domain = domainToASCII(typedDomain);
  const address = `${local}@${domain}`;
  if (!HOST_NAME.test(domain) || !TOP_LEVEL.test(domain) || address.length > ADDRESS_LENGTH_MAX) return null;
  const parsed = emailAddresses.parseOneAddress({ input: address, strict: true });
  if (parsed?.type !== 'mailbox' || parsed.name !== null || parsed.parts.comments.length > 0) return null;
  return parsed.address === address && parsed.local === local && parsed.domain === domain
    ? { address, local, domain }
    : null;
}

/** The same text for all spellings of one mailbox: lower case, without a tag after `+`. For counting, not for sending. */
export function canonicalMailbox({ local, domain }: EmailAddress): string {
  return `${local.toLowerCase().replace(/(?!^)\+.*$/, '')}@${domain}`;
}
