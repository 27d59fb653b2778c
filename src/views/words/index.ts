/** The words of a page in its language: a JSON file for each, in the order of the English one. `{name}` is filled in. */

import type { IncidentImpact, IncidentStatus, MaintenanceStatus, State } from '../../model/index.ts';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import it from './it.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import ko from './ko.json' with { type: 'json' };
import ptBr from './pt-br.json' with { type: 'json' };
import zhHans from './zh-hans.json' with { type: 'json' };

/**
 * A text for each plural category that its language has. `=1` is for exactly one, in languages that have no category for it but
 * say it another way, such as 每周 (every week) and not 每 1 周 (every 1 week).
 */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule | '=1', string>> & { other: string }>;

/** Every key of the English catalogue, as text or plural like there. */
export type Words = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural };

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

type PlainKey = { [Key in keyof Words]: Words[Key] extends string ? Key : never }[keyof Words];

/** The word for a state, and the sentence at the top of a page in it. */
const STATE_KEYS: Readonly<Record<State, readonly [word: PlainKey, sentence: PlainKey]>> = {
  operational: ['stateOperational', 'bannerOperational'],
  degraded: ['stateDegraded', 'bannerDegraded'],
  partial_outage: ['statePartialOutage', 'bannerPartialOutage'],
  major_outage: ['stateMajorOutage', 'bannerMajorOutage'],
  maintenance: ['stateMaintenance', 'bannerMaintenance'],
  paused: ['statePaused', 'bannerPaused'],
  unknown: ['stateUnknown', 'bannerUnknown'],
};

/** The sentences that list components in trouble, `{names}`, by their state; worst first. */
export const TROUBLE_KEYS = [
  ['major_outage', 'bannerDown'],
  ['partial_outage', 'bannerPartlyDown'],
  ['degraded', 'bannerSlow'],
  ['unknown', 'bannerNotHeard'],
  ['maintenance', 'bannerInMaintenance'],
] as const satisfies readonly (readonly [State, PlainKey])[];

const STATUS_KEYS: Readonly<Record<IncidentStatus | MaintenanceStatus, PlainKey>> = {
  investigating: 'statusInvestigating',
  identified: 'statusIdentified',
  monitoring: 'statusMonitoring',
  resolved: 'statusResolved',
  postmortem: 'statusPostmortem',
  scheduled: 'statusScheduled',
  in_progress: 'statusInProgress',
  verifying: 'statusVerifying',
  completed: 'statusCompleted',
};

const IMPACT_KEYS: Readonly<Record<IncidentImpact, PlainKey>> = {
  none: 'impactNone',
  minor: 'impactMinor',
  major: 'impactMajor',
  critical: 'impactCritical',
};

export function stateWord(state: State, words: Words): string {
  return words[STATE_KEYS[state][0]];
}

/** The sentence at the top of a page. */
export function bannerSentence(state: State, words: Words): string {
  return words[STATE_KEYS[state][1]];
}

/** The word for an incident's or a maintenance's status; an update without one, or with one we do not know, is an "Update". */
export function statusWord(status: string | null, words: Words): string {
  return status !== null && status in STATUS_KEYS
    ? words[STATUS_KEYS[status as keyof typeof STATUS_KEYS]]
    : words.statusUpdate;
}

export function impactWord(impact: IncidentImpact, words: Words): string {
  return words[IMPACT_KEYS[impact]];
}
