/** The mail that lets somebody in, in the language of the page. Plain text: nothing to render, nothing to load. */

import type { MailFacts } from '../../model/login.ts';
import { fill, findWords } from '../words/index.ts';

export function loginMail({ locale, title, link, code, minutes }: MailFacts): {
  readonly subject: string;
  readonly text: string;
} {
  const words = findWords(locale);
  const paragraphs = [
    fill(words.mailAsked, { title }),
    `${words.mailLink}\n${link}`,
    fill(words.mailCode, { code }),
    fill(words.mailOnce, { minutes }),
  ];
  return { subject: fill(words.mailSubject, { title }), text: `${paragraphs.join('\n\n')}\n` };
}
