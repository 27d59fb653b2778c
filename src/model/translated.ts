/** Texts of people in several languages. */

/** A text by language tag, beside what it was written as. */
export type Translated = Readonly<Record<string, string>>;

/** What a page speaks: the part of its settings that texts depend on. */
interface Speaker {
  readonly locale: string;
  readonly languages?: { readonly all: readonly string[] };
}

/** A text as a page says it. */
export interface Said {
  readonly text: string;
  /** The language that it is in, where that is not the page's: nobody translated it. */
  readonly lang?: string | undefined;
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

/** A sentence in pieces: a name in it may be in another language. */
export type Pieces = readonly (string | Said)[];

/** A name as a piece of a sentence: a plain text where it is in the language of the page. */
export function toPiece({ name, lang }: { readonly name: string; readonly lang?: string | undefined }): string | Said {
  return lang === undefined ? name : { text: name, lang };
}

/** Puts pieces into the `{name}`s of a sentence. */
export function fillPieces<Piece>(
  sentence: string,
  values: Readonly<Record<string, readonly Piece[]>>,
): (string | Piece)[] {
  return sentence
    .split(/(\{\w+\})/)
    .flatMap((part, at): readonly (string | Piece)[] =>
      at % 2 === 0 ? (part === '' ? [] : [part]) : (values[part.slice(1, -1)] ?? [part]),
    );
}

/** The text of a sentence, and its pieces where one of them is in another language. */
export function joinPieces(pieces: Pieces): { readonly text: string; readonly pieces?: Pieces } {
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
  return pieces.some((piece) => typeof piece !== 'string') ? { text, pieces } : { text };
}

function primaryLanguage(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}
