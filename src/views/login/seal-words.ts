/** What a sealed page says before it is open, in the language of the page. It names nothing that is inside. */

import { catalogueTag, localeDirection, wordsOf } from '../words/index.ts';

export interface SealWords {
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  readonly title: string;
  readonly label: string;
  readonly submit: string;
  readonly working: string;
  readonly wrong: string;
  readonly noScript: string;
  readonly noCrypto: string;
}

export function sealWords(locale: string): SealWords {
  const words = wordsOf(locale);
  return {
    lang: catalogueTag(locale),
    dir: localeDirection(locale),
    title: words.loginTitle,
    label: words.loginPassword,
    submit: words.loginSubmit,
    working: words.sealWorking,
    wrong: words.loginWrong,
    noScript: words.sealNoScript,
    noCrypto: words.sealNoCrypto,
  };
}
