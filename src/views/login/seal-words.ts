/** What a sealed page says before it is open, in the language of the page. It names nothing that is inside. */

import type { SealWords } from '../../model/login.ts';
import { catalogueTag, findWords, localeDirection } from '../words/index.ts';

export function sealWords(locale: string): SealWords {
  const words = findWords(locale);
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
