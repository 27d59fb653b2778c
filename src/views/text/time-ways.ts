/**
 * The ways to write an instant, each of them also with the zone: `Format` in `format.ts` names them. Apart from lengths of time,
 * since two scripts of a page that share a module would have to load it.
 */

const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const inYear = { month: 'short', day: 'numeric', ...clock } as const;

export const TIME_WAYS: readonly Intl.DateTimeFormatOptions[] = [inYear, { year: 'numeric', ...inYear }, clock];
