/** The mail that lets somebody in: plain text, so that there is nothing to render and nothing to load. */

import type { MailFacts } from '../../model/login.ts';

export interface SignInMail {
  /** One bare address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Puts a mail into words of a language. */
export type WriteMail = (facts: MailFacts) => { readonly subject: string; readonly text: string };

/** Sends one mail; throws when it could not be handed over, and then it is tried again. */
export type SendMail = (mail: SignInMail) => Promise<void>;

/** A title as one line without control characters, so that it cannot pretend to be another part of the mail. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 120);
}

/** A code as people read it aloud. */
export function spaced(code: string): string {
  return code.replace(/(\d{4})(?=\d)/g, '$1 ');
}
