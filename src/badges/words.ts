/** What badges say unless an operator chose other words: the catalogue of their language. */

import { LRUCache } from 'lru-cache';
import { STATES, type State } from '../model/state.ts';
import type { EpochMs } from '../model/time.ts';
import { catalogueTag, count, fill, findWords, type Plural, stateWord, type Words } from '../views/words/index.ts';
import type { BadgeOptions } from './options.ts';

/** What a badge is written in. */
export type BadgeLanguage = ReturnType<typeof findLanguage>;

const known = new Map<string, BadgeLanguage>();

/** The language of a badge with these options. */
export function badgeLanguage({ words: own, locale = 'en' }: BadgeOptions): BadgeLanguage {
  const tag = catalogueTag(locale);
  const language = known.getOrInsertComputed(tag, findLanguage);
  if (own === undefined) return language;
  const { open, days, ...plain } = own;
  const changed = Object.entries({
    ...plain,
    open: open === undefined ? undefined : { other: open },
    days: days === undefined ? undefined : { other: days },
  }).filter(([, word]) => word !== undefined);
  return { ...language, words: { ...language.words, ...Object.fromEntries(changed) } };
}

/** `tag`: of the catalogue, and of the plural forms in it. `words`: of one badge; an operator's own are put above them. */
function findLanguage(tag: string) {
  const catalogue = findWords(tag);
  // English ones are in small letters, as they stand behind a label.
  const wordFor = (state: State) =>
    tag === 'en' ? stateWord(state, catalogue).toLowerCase() : stateWord(state, catalogue);
  const words = {
    ...(Object.fromEntries(STATES.map((state) => [state, wordFor(state)])) as Record<State, string>),
    stale: catalogue.badgeStale,
    open: catalogue.badgeOpen,
    noneOpen: catalogue.badgeNoneOpen,
    ongoing: catalogue.badgeOngoing,
    noneRecorded: catalogue.badgeNoneRecorded,
    days: catalogue.badgeDays,
    oneDay: count(catalogue.badgeDays, 1, tag),
    nonePlanned: catalogue.badgeNonePlanned,
    inProgress: catalogue.badgeInProgress,
  };
  return { tag, catalogue, words };
}

/** The form for `n`, its digits as `locale` writes them. */
export function counted(forms: Plural, n: number, { tag, locale }: { tag: string; locale: string }): string {
  return count(forms, n, tag, formatCount(n, locale));
}

/** Milliseconds below ten seconds, then seconds with one digit; rounded up, so that nothing looks faster than it is. */
export function durationText(ms: number, { catalogue, locale }: { catalogue: Words; locale: string }): string {
  return ms < 10_000
    ? fill(catalogue.milliseconds, { n: formatCount(Math.ceil(ms), locale) })
    : fill(catalogue.badgeSeconds, { n: formatTenths(Math.ceil(ms / 100) / 10, locale) });
}

// Numbers and dates as badges write them. Formatters are kept: building one takes a thousand times as long as using it.

/** Enough for every locale and zone of a site; asked for by visitors too, so bounded. */
const FORMATS_MAX = 64;

const counts = new LRUCache<string, Intl.NumberFormat>({
  max: FORMATS_MAX,
  memoMethod: (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }),
});
const tenths = new LRUCache<string, Intl.NumberFormat>({
  max: FORMATS_MAX,
  memoMethod: (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
});
const instants = new LRUCache<string, Intl.DateTimeFormat, { readonly locale: string; readonly timezone: string }>({
  max: FORMATS_MAX,
  memoMethod: (_key, _before, { context: { locale, timezone } }) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: timezone,
      timeZoneName: 'short',
    }),
});

/** A whole number with the grouping of the locale. */
export function formatCount(count: number, locale: string): string {
  return counts.memo(locale).format(count);
}

/** With at most one digit behind the point. */
function formatTenths(value: number, locale: string): string {
  return tenths.memo(locale).format(value);
}

/** Day, month, time and zone, such as `24 Nov, 22:00 UTC`. */
export function formatInstant(at: EpochMs, zone: { readonly locale: string; readonly timezone: string }): string {
  return instants.memo(`${zone.locale} ${zone.timezone}`, { context: zone }).format(at);
}
