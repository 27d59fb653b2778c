/** A mail, whatever it says, what sends one, and what it means if that fails. */

import { shorten } from '../shorten.ts';

export interface Mail {
  /** One bare address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as HTML; absent: there is nothing to render and nothing to load. */
  readonly html?: string;
  /** With its angle brackets; absent: the mailer makes one. */
  readonly messageId?: string;
  /** Of the thread that it belongs to, oldest first, with angle brackets. */
  readonly references?: readonly string[];
  /** Further headers; values of one line. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one mail; throws when it could not be handed over, and then it is tried again. */
export type SendMail = (mail: Mail) => Promise<void>;

const SUBJECT_MAX = 120;
/** Controls, separators, and invisible characters but those that join or direct letters, and tags of flags. */
const NOT_OF_A_LINE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c-\u200f\u{e0020}-\u{e007f}]]+/gv;

/** A title as one line without control characters, so that it cannot pretend to be another part of the mail. */
export function oneLine(text: string): string {
  return shorten(text.toWellFormed().replace(NOT_OF_A_LINE, ' ').trim(), SUBJECT_MAX);
}

/** Commands whose answer is about one recipient or one message. */
const OF_MESSAGE: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA']);
/** The server is closing down. */
const CLOSING = 421;

type MailFailure =
  | { readonly outcome: 'postponed'; readonly reason: string; readonly afterMs: null }
  | { readonly outcome: 'rejected'; readonly reason: string }
  | { readonly outcome: 'unreachable'; readonly reason: string };

/** What a failure to send a mail means: about this message or recipient, or about the mail server. The reason never has the words of the mail server, which like to repeat the recipient. */
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
