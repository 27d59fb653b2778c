/** The mail that lets somebody in, in the language of the page. Plain text: nothing to render, nothing to load. */

import { fill, wordsOf } from '../words/index.ts';

export interface LoginMailInit {
  readonly locale: string;
  /** One line. */
  readonly title: string;
  readonly link: string;
  readonly code: string;
  readonly minutes: number;
}

export function loginMail({ locale, title, link, code, minutes }: LoginMailInit): {
  readonly subject: string;
  readonly text: string;
} {
  const words = wordsOf(locale);
  const paragraphs = [
    fill(words.mailAsked, { title }),
    `${words.mailLink}\n${link}`,
    fill(words.mailCode, { code }),
    fill(words.mailOnce, { minutes }),
  ];
  return { subject: fill(words.mailSubject, { title }), text: `${paragraphs.join('\n\n')}\n` };
}
