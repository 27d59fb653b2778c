/**
 * What the fonts that come along can write: Latin, Greek, Cyrillic, Hebrew, Arabic, Thai, Devanagari, kana, the Chinese characters
 * of JIS X 0208 and GB 2312, and the syllables of KS X 1001. `test/unit/badges/faces.test.ts` holds it to the fonts. Other scripts
 * (Bengali, Georgian, Armenian …) are not among them.
 */
const LETTERS =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}\u05d0-\u05ea\u0620-\u06ff\u0900-\u097f\u0e01-\u0e3a\u0e3f-\u0e5b\u3041-\u3096\u30a1-\u30ff\u3131-\u3163]$/u;
/** Common to all scripts, but not in the fonts. */
const PICTURES =
  /\p{Extended_Pictographic}|\p{So}|\p{Co}|\p{Cf}|\p{Variation_Selector}|[\u3000\u3003-\u3007\u3012\u3013\u3016-\u303f\u3099-\u309c\u30a0\u30fe\u3100-\u33ff\uff00\uff5f-\uffef]/gu;
const HAN = /\p{Script=Han}/u;
const HANGUL = /[\uac00-\ud7a3]/u;

/** The characters of a standard. All are rows and cells of two bytes, which the platform decodes. */
function listCharacters(encoding: string, script: RegExp): string[] {
  const decoder = new TextDecoder(encoding);
  const pairs = Array.from({ length: 72 * 94 }, (_, index) => [0xb0 + Math.floor(index / 94), 0xa1 + (index % 94)]);
  return pairs
    .map((pair) => decoder.decode(new Uint8Array(pair)))
    .filter((text) => script.test(text) && [...text].length === 1);
}

/** Rare ones of GB 2312 that neither font has. */
const MISSING = new Set('劐阢坶塥蒈蓰猸弪艴骣桊轷戤赇牿犋毪胲脶膪憝铴镩稆瘭耠耢耥蟓筢蹯鲰齄');
let eastAsian: ReadonlySet<string> | null = null;

function isEastAsianDrawn(character: string): boolean {
  eastAsian ??= new Set(
    [...listCharacters('euc-jp', HAN), ...listCharacters('gbk', HAN), ...listCharacters('euc-kr', HANGUL)].filter(
      (one) => !MISSING.has(one),
    ),
  );
  return eastAsian.has(character);
}

/** Whether every character of a text can be written. */
export function isDrawable(text: string): boolean {
  return [...text].every((one) => LETTERS.test(one) || ((HAN.test(one) || HANGUL.test(one)) && isEastAsianDrawn(one)));
}

/** A text without what is no letter of any script: emoji, pictures, marks that are not seen. */
export function withoutPictures(text: string): string {
  return text.replace(PICTURES, '');
}
