/** Texts of people in several languages. */

/** A text by language tag, beside what it was written as. */
export type Translated = Readonly<Record<string, string>>;

/** What a page speaks: the part of its settings that texts depend on. */
interface Speaker {
  readonly locale: string;
  readonly languages?: { readonly all: readonly string[] };
}

/** A text as a page says it. */
interface Said {
  readonly text: string;
  /** The language that it is in, where that is not the page's: nobody translated it. */
  readonly lang?: string;
}

/** A text in the language of a page, by its tag or by its language; else as it was written, in the default language. */
export function sayIn({ locale, languages }: Speaker, text: string, translated: Translated = {}): Said {
  const tag = Object.hasOwn(translated, locale)
    ? locale
    : Object.keys(translated).find((one) => primaryLanguage(one) === primaryLanguage(locale));
  const own = tag === undefined ? undefined : translated[tag];
  if (own !== undefined && own !== '') return { text: own };
  const [original = locale] = languages?.all ?? [];
  return original === locale || text === '' ? { text } : { text, lang: original };
}

function primaryLanguage(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}
