import { describe, expect, it } from 'vitest';
import type { Day } from '../../../src/model/index.ts';
import { formatIn } from '../../../src/views/text/format.ts';
import en from '../../../src/views/words/en.json' with { type: 'json' };
import { CATALOGUES, catalogueTag, count, fill, findWords, localeDirection } from '../../../src/views/words/index.ts';

const KEYS = Object.keys(en) as (keyof typeof en)[];
const others = Object.entries(CATALOGUES).filter(([tag]) => tag !== 'en');

/** The `{names}` of a text, or of all its plural forms together; `{n}` may be left out where the form says the number. */
function namesIn(text: string | Readonly<Record<string, string>>): string[] {
  const names = [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return [...new Set(names.filter((name) => typeof text === 'string' || name !== 'n'))].sort();
}

describe('catalogues', () => {
  it('are there for ten languages', () => {
    expect(Object.keys(CATALOGUES)).toEqual(['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'zh-Hans', 'ar', 'ko', 'it']);
  });

  it.each(Object.entries(CATALOGUES))('%s has a text for every key of the English one, and no other', (_tag, words) => {
    expect(Object.keys(words).sort()).toEqual([...KEYS].sort());
    for (const key of KEYS) {
      const text = words[key];
      for (const form of typeof text === 'string' ? [text] : Object.values(text)) expect(form.trim(), key).not.toBe('');
    }
  });

  it.each(others)('%s fills in the same names as the English one', (_tag, words) => {
    for (const key of KEYS) expect(namesIn(words[key]), key).toEqual(namesIn(en[key]));
  });

  it.each(Object.entries(CATALOGUES))('%s says how much has to be observed for a figure of uptime', (_tag, words) => {
    expect(words.countedUptime).toMatch(/(?<!\d)1\s?%/);
    expect(words.countedUptime).toMatch(/30\s?%/);
  });

  it.each(Object.entries(CATALOGUES))('%s has every plural form that its language uses', (tag, words) => {
    const used = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    for (const key of KEYS) {
      const text = words[key];
      if (typeof text === 'string') continue;
      const forms = Object.keys(text).filter((form) => form !== '=1');
      expect(forms.sort(), key).toEqual([...used].sort());
    }
  });

  it.each(others)('%s is translated: hardly a text is the English one', (_tag, words) => {
    const same = KEYS.filter((key) => JSON.stringify(words[key]) === JSON.stringify(en[key]));
    expect(same.length, same.join()).toBeLessThan(18);
  });
});

describe('the punctuation of a language', () => {
  const EAST_ASIAN =
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}}] ?[,.:;?!()]|[,.:;?!()] ?[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}{]/u;
  /**
   * What a text of the language does not have, by what is written about it:
   *
   * - en: The Chicago Manual of Style, 6.115 (curly quotation marks) and 9.18 (no space before %)
   * - de: Duden, „Anführungszeichen“ („…“); per cent after DIN 5008 has a space, which CLDR sets where there is a number
   * - fr: Imprimerie nationale, Lexique des règles typographiques: narrow no-break spaces before ; : ! ? and inside « »
   * - es: RAE, Ortografía de la lengua española (2010): ¿ ¡ at the beginning, « » before “ ”
   * - pt-BR: Manual de Redação da Presidência da República: curly quotation marks, no space before %
   * - ja: JIS X 4051 and W3C, Requirements for Japanese Text Layout: full-width punctuation, no spaces beside it
   * - zh-Hans: GB/T 15834-2011: full-width punctuation
   * - ar: Unicode, chapter 9.2: ، ؛ ؟ in place of , ; ?, and « » of CLDR's delimiters
   * - ko: Hangul orthography, appendix on punctuation (2015): Western . , ? ! :, and ‘ ’ “ ”
   * - it: Accademia della Crusca on punctuation: no space before : ; ! ?, apostrophe ’ without a space, « »
   */
  const MISPRINTS: Readonly<Record<string, RegExp>> = {
    en: /["'«»]| %/,
    de: /["'«»”]|^[^„]*“| %/,
    fr: /["'“”]|[^\u202f][:;!?»]|«(?!\u202f)|[^\u00a0]%/,
    es: /["'“”]|^[^¿]*\?|^[^¡]*!| %/,
    'pt-BR': /["'«»]| %/,
    ja: EAST_ASIAN,
    'zh-Hans': EAST_ASIAN,
    ar: /["'“”,;?]| %/,
    ko: /["'«»]|[。，：；？！、（）]| [.,:;?!]| %|[})](?:은|는|이|가|을|를|과|와|로|으로)(?![가-힣])/,
    it: /["'“”]| [:;!?]|’ | %/,
  };

  it.each(Object.entries(CATALOGUES))('is kept to in %s', (tag, words) => {
    const texts = KEYS.flatMap((key) => Object.values(typeof words[key] === 'string' ? [words[key]] : words[key]));
    expect(texts.filter((text) => MISPRINTS[tag]?.test(text) !== false)).toEqual([]);
  });
});

describe('figures and days, by CLDR through Intl alone', () => {
  const zone = 'Europe/Berlin';
  const written = (locale: string) => {
    const { number, percent, day, list, duration } = formatIn(locale, zone);
    return [number(12_345.6), percent(0.9987, 2), day('2026-11-21' as Day), list(['A', 'B', 'C']), duration(5_400_000)];
  };

  /** Digits of Arabic are those of the region: CLDR has Arabic-Indic ones for Egypt and Saudi Arabia, Western ones for Morocco. */
  it('are written as the readers of each language and region expect', () => {
    expect(written('de')).toEqual(['12.345,6', '99,87\u00a0%', '21. Nov. 2026', 'A, B und C', '1 Std. 30 Min.']);
    expect(written('fr').slice(0, 2)).toEqual(['12\u202f345,6', '99,87\u00a0%']);
    expect(written('ja').slice(1)).toEqual(['99.87%', '2026年11月21日', 'A、B、C', '1 時間 30 分']);
    expect(written('ko').slice(1)).toEqual(['99.87%', '2026년 11월 21일', 'A, B 및 C', '1시간 30분']);
    expect(written('it').slice(1, 4)).toEqual(['99,87%', '21 nov 2026', 'A, B e C']);
    expect(written('ar-SA')[0]).toBe('١٢٬٣٤٥٫٦');
    expect(written('ar-EG')[0]).toBe('١٢٬٣٤٥٫٦');
    expect(written('ar-MA')[0]).toBe('12.345,6');
  });
});

describe('choosing a catalogue', () => {
  it('takes the tag, else the language, else English', () => {
    expect(findWords('pt-BR')).toBe(CATALOGUES['pt-BR']);
    expect(findWords('de-AT')).toBe(CATALOGUES['de']);
    expect(findWords('zh-CN')).toBe(CATALOGUES['zh-Hans']);
    expect(findWords('tlh')).toBe(CATALOGUES['en']);
    expect(catalogueTag('fr-CA')).toBe('fr');
  });

  it('writes Arabic from right to left and the rest from left to right', () => {
    expect(Object.keys(CATALOGUES).filter((tag) => localeDirection(tag) === 'rtl')).toEqual(['ar']);
  });
});

describe('filling in', () => {
  it('puts values into names, once, and leaves unknown names to be seen', () => {
    expect(fill('{a} and {b}', { a: '{b}', b: 2 })).toBe('{b} and 2');
    expect(fill('{a}', {})).toBe('{a}');
    expect(fill('{constructor}', {})).toBe('{constructor}');
  });

  it('counts by the rules of the language', () => {
    const forms = { one: 'one', two: 'two', few: 'few {n}', many: 'many', other: 'other {n}' };
    expect([1, 2, 3, 11, 100].map((n) => count(forms, n, 'ar'))).toEqual(['one', 'two', 'few 3', 'many', 'other 100']);
    expect(count({ other: '{n}' }, 7, 'ja')).toBe('7');
    expect([1, 2, 11].map((n) => count({ '=1': 'each', other: '{n}' }, n, 'ja'))).toEqual(['each', '2', '11']);
  });
});
