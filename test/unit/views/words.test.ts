import { describe, expect, it } from 'vitest';
import { en } from '../../../src/views/words/en.ts';
import { CATALOGUES, catalogueTag, count, fill, findWords, localeDirection } from '../../../src/views/words/index.ts';

const KEYS = Object.keys(en) as (keyof typeof en)[];
const others = Object.entries(CATALOGUES).filter(([tag]) => tag !== 'en');

/** The `{names}` of a text, or of all its plural forms together; `{n}` may be left out where the form says the number. */
function namesIn(text: string | Readonly<Record<string, string>>): string[] {
  const names = [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return [...new Set(names.filter((name) => typeof text === 'string' || name !== 'n'))].sort();
}

describe('catalogues', () => {
  it('are there for English, German, French, Spanish, Brazilian Portuguese, Japanese, Simplified Chinese and Arabic', () => {
    expect(Object.keys(CATALOGUES)).toEqual(['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'zh-Hans', 'ar']);
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
  /** What a text of the language does not have. */
  const MISPRINTS: Readonly<Record<string, RegExp>> = {
    en: /["'«»]| %/,
    de: /["'«»”]|^[^„]*“| %/,
    fr: /["'“”]|[^\u202f][:;!?»]|«(?!\u202f)|[^\u00a0]%/,
    es: /["'“”]|^[^¿]*\?|^[^¡]*!| %/,
    'pt-BR': /["'«»]| %/,
    ja: EAST_ASIAN,
    'zh-Hans': EAST_ASIAN,
    ar: /["'“”,;?]| %/,
  };

  it.each(Object.entries(CATALOGUES))('is kept to in %s', (tag, words) => {
    const texts = KEYS.flatMap((key) => Object.values(typeof words[key] === 'string' ? [words[key]] : words[key]));
    expect(texts.filter((text) => MISPRINTS[tag]?.test(text) !== false)).toEqual([]);
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
