/** The mail that lets somebody in: plain text, so that there is nothing to render and nothing to load. */

import type { MailFacts } from '../../model/login.ts';

/** Puts a mail into words of a language. */
export type WriteMail = (facts: MailFacts) => { readonly subject: string; readonly text: string };

/** A code as people read it aloud. */
export function spaced(code: string): string {
  return code.replace(/(\d{4})(?=\d)/g, '$1 ');
}
