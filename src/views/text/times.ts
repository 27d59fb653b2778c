/** How instants and lengths of time are written: by the server, and by the script of a page for whoever reads it. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const inYear = { month: 'short', day: 'numeric', ...clock } as const;

/** The ways to write an instant, each of them also with the zone: `Format` in `format.ts` names them. */
export const TIME_WAYS: readonly Intl.DateTimeFormatOptions[] = [inYear, { year: 'numeric', ...inYear }, clock];

/** Rounded down to the unit that matters; what is below a second is a second, since nothing lasted no time. */
function durationParts(ms: number): Partial<Record<Intl.DurationFormatUnit, number>> {
  if (ms < MINUTE_MS) return { seconds: Math.max(1, Math.floor(ms / SECOND_MS)) };
  if (ms < HOUR_MS) return { minutes: Math.floor(ms / MINUTE_MS) };
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  if (ms < DAY_MS) return { hours: Math.floor(ms / HOUR_MS), ...(minutes > 0 ? { minutes } : {}) };
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  return { days: Math.floor(ms / DAY_MS), ...(hours > 0 ? { hours } : {}) };
}

/** `1 h 30 min`: as the units are written beside figures, without the comma of a list. */
export function writeDuration(format: Intl.DurationFormat, ms: number): string {
  return format
    .format(durationParts(ms))
    .replace(/[,،] /, ' ')
    .replace(/\bhr\b/, 'h')
    .replace(/\bsec\b/, 's');
}
