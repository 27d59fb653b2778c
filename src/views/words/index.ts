/** The words of a page in its language. */

import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { ko } from './ko.ts';
import { ptBr } from './pt-br.ts';
import type { Plural, Words } from './types.ts';
import { zhHans } from './zh-hans.ts';

export type { Plural, Words } from './types.ts';

/** Every catalogue by its BCP 47 tag. */
export const CATALOGUES: Readonly<Record<string, Words>> = {
  ...{ en, de, fr, es, 'pt-BR': ptBr, ja, 'zh-Hans': zhHans, ar },
  ...{ ko, it },
};

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur', 'ps', 'sd', 'ug', 'yi', 'dv', 'ckb']);

/** The catalogue for a locale: of the same tag, else of the same language, else English. */
export function findWords(locale: string): Words {
  return CATALOGUES[catalogueTag(locale)] ?? en;
}

/** The tag of the catalogue that `findWords` takes, for `lang` attributes of our own words. */
export function catalogueTag(locale: string): string {
  if (CATALOGUES[locale] !== undefined) return locale;
  const language = locale.split('-')[0]?.toLowerCase() ?? 'en';
  return Object.keys(CATALOGUES).find((tag) => tag.split('-')[0] === language) ?? 'en';
}

/** Whether there is a catalogue of the language of `locale`. */
export function hasWords(locale: string): boolean {
  return catalogueTag(locale).split('-')[0] === locale.split('-')[0]?.toLowerCase();
}

/** The tag of a catalogue; null: there is none for exactly this one. */
export function knownTag(locale: string | null): string | null {
  return locale !== null && Object.hasOwn(CATALOGUES, locale) ? locale : null;
}

/** The direction that the words of `locale` are written in. */
export function localeDirection(locale: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(catalogueTag(locale).split('-')[0] ?? '') ? 'rtl' : 'ltr';
}

/** Puts values into `{name}`s. A name without a value stays as it is, which a test would see. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

const rules = new Map<string, Intl.PluralRules>();

/** The form of `plural` for `n`, with `{n}` filled in (as `shown`, when given). */
export function count(plural: Plural, n: number, locale: string, shown: string = String(n)): string {
  const rule = rules.getOrInsertComputed(locale, () => new Intl.PluralRules(locale));
  const exact = n === 1 ? plural['=1'] : undefined;
  return fill(exact ?? plural[rule.select(n)] ?? plural.other, { n: shown });
}
