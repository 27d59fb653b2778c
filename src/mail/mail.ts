/** A mail, whatever it says, and what hands one over. */

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
