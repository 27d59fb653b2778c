/** A mail, whatever it says, what sends one, and what it means if that fails. */

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

type MailFailure =
  | { readonly outcome: 'postponed'; readonly reason: string; readonly afterMs: null }
  | { readonly outcome: 'rejected'; readonly reason: string }
  | { readonly outcome: 'unreachable'; readonly reason: string };

/**
 * Whether a failure is about one message or recipient, or about the mail server. The reason leaves out what the mail server said,
 * because it often repeats the recipient.
 */
export function mailFailure(error: unknown): MailFailure {
  const { code, responseCode, command } = error as Readonly<Record<string, unknown>>;
  if (typeof responseCode !== 'number') {
    const fact = typeof code === 'string' ? ` (${code})` : '';
    return { outcome: 'unreachable', reason: `can’t reach the mail server${fact}; check access.smtp` };
  }
  if (responseCode !== CLOSING && OF_MESSAGE.has(command)) {
    const reason = `the mail server answered ${responseCode} for this recipient`;
    return responseCode >= 500 ? { outcome: 'rejected', reason } : { outcome: 'postponed', reason, afterMs: null };
  }
  const remedy = command === 'MAIL FROM' ? 'check access.from' : 'check access.smtp';
  return { outcome: 'unreachable', reason: `the mail server answered ${responseCode}; ${remedy}` };
}
