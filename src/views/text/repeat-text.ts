/** How a maintenance comes back, in words. */

import type { Recurrence } from '../../model/index.ts';
import { count, fill, findWords } from '../words/index.ts';

const EVERY = { day: 'everyDay', week: 'everyWeek', month: 'everyMonth', year: 'everyYear' } as const;

/** `Repeats: every 2 weeks on Sunday`. What a rule says beyond that, the next window shows. */
export function repeatText(recurrence: Recurrence, locale: string): string {
  const words = findWords(locale);
  return `${words.repeats}: ${ruleText(recurrence, locale)}`;
}

/** `every 2 weeks on Sunday` */
export function ruleText({ every, interval, weekdays }: Recurrence, locale: string): string {
  const words = findWords(locale);
  const often = count(words[EVERY[every]], interval, locale);
  if (weekdays.length === 0) return often;
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });
  // 5 January 1970 was a Monday.
  const names = weekdays.map((day) => weekday.format(Date.UTC(1970, 0, 4 + day)));
  return fill(words.everyOn, { every: often, days: new Intl.ListFormat(locale, { type: 'unit' }).format(names) });
}
