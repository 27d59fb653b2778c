/** Texts in several languages, written by people. */

/** Translations of a text by language tag, besides the original. */
export type Translated = Readonly<Record<string, string>>;

/** The languages of a page: the part of its settings that texts depend on. */
interface PageLanguages {
  readonly locale: string;
  readonly languages?: { readonly all: readonly string[] };
}

/** A text as shown on a page. */
export interface LocalText {
  readonly text: string;
  /** Its language, if it isn't translated into the page's. */
  readonly lang?: string | undefined;
}

/** A text in the language of a page, by tag or by language; otherwise the original, in the default language. */
export function textIn({ locale, languages }: PageLanguages, text: string, translated: Translated = {}): LocalText {
  const tag = Object.hasOwn(translated, locale)
    ? locale
    : Object.keys(translated).find((one) => primaryLanguage(one) === primaryLanguage(locale));
  const own = tag === undefined ? undefined : translated[tag];
  if (own !== undefined && own !== '') return { text: own };
  const [original = locale] = languages?.all ?? [];
  return original === locale || text === '' ? { text } : { text, lang: original };
}

/** A sentence in pieces, because names in it may be in another language. */
export type Pieces = readonly (string | LocalText)[];

/** A name as a piece of a sentence: plain text if it is in the language of the page. */
export function toPiece({ name, lang }: { readonly name: string; readonly lang?: string | undefined }) {
  return lang === undefined ? name : { text: name, lang };
}

/** Replaces each `{name}` in a sentence with pieces. */
export function fillPieces<Piece>(sentence: string, values: Readonly<Record<string, readonly Piece[]>>) {
  return sentence
    .split(/(\{\w+\})/)
    .flatMap((part, at): readonly (string | Piece)[] =>
      at % 2 === 0 ? (part === '' ? [] : [part]) : (values[part.slice(1, -1)] ?? [part]),
    );
}

/** The text of a sentence, and its pieces if one of them is in another language. */
export function joinPieces(pieces: Pieces): { readonly text: string; readonly pieces?: Pieces } {
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
  return pieces.some((piece) => typeof piece !== 'string') ? { text, pieces } : { text };
}

function primaryLanguage(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}
