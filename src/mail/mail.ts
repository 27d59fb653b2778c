/** A mail, whatever it says, what sends one, and what it means if that fails. */

import { domainToASCII } from 'node:url';
import emailAddresses from 'email-addresses';
import { HOST_NAME } from '../model/scalars.ts';
import { shorten } from '../shorten.ts';

export interface Mail {
  /** One bare address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as HTML. */
  readonly html?: string;
  /** With angle brackets. Default: the mailer makes one. */
  readonly messageId?: string;
  /** Message-IDs of its thread, oldest first, with angle brackets. */
  readonly references?: readonly string[];
  /** More headers; values must be one line. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one mail. Rejects if the mail server didn't take it. */
export type SendMail = (mail: Mail) => Promise<void>;

const SUBJECT_MAX = 120;
/** Control characters, separators and invisible characters, except those that join letters, mark direction, or are part of a flag. */
const NOT_OF_A_LINE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c-\u200f\u{e0020}-\u{e007f}]]+/gv;

/** A title as one line without control characters, so that it cannot pretend to be another part of the mail. */
export function oneLine(text: string): string {
  return shorten(text.toWellFormed().replace(NOT_OF_A_LINE, ' ').trim(), SUBJECT_MAX);
}

/** SMTP commands whose response is about one recipient or message. */
const OF_MESSAGE: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA']);
/** The mail server is shutting down. */
const CLOSING = 421;

/**
 * Sends a mail, and says how that ended. A failure is about one message or recipient, or about the mail server. The reason
 * leaves out what the mail server said, because it often repeats the recipient.
 */
export async function handOver(send: SendMail, mail: Mail) {
  try {
    await send(mail);
    return { outcome: 'delivered' } as const;
  } catch (error) {
    return mailFailure(error);
  }
}

function mailFailure(error: unknown) {
  const { code, responseCode, command } = error as Readonly<Record<string, unknown>>;
  if (typeof responseCode !== 'number') {
    const fact = typeof code === 'string' ? ` (${code})` : '';
    return { outcome: 'unreachable', reason: `can’t reach the mail server${fact}; check access.smtp` } as const;
  }
  if (responseCode !== CLOSING && OF_MESSAGE.has(command)) {
    const reason = `the mail server answered ${responseCode} for this recipient`;
    if (responseCode >= 500) return { outcome: 'rejected', reason } as const;
    return { outcome: 'postponed', reason, afterMs: null } as const;
  }
  const remedy = command === 'MAIL FROM' ? 'check access.from' : 'check access.smtp';
  return { outcome: 'unreachable', reason: `the mail server answered ${responseCode}; ${remedy}` } as const;
}

/** The local part as typed, and the domain in punycode and lower case. */
export type EmailAddress = NonNullable<ReturnType<typeof parseEmailAddress>>;

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
export function parseEmailAddress(input: string) {
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
