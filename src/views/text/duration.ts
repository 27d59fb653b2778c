/** How a length of time is told: by the server, and by the script of a page while it is read. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Rounded down to the unit that matters; what is below a second is a second, since nothing lasted no time. */
export function durationParts(ms: number): Partial<Record<Intl.DurationFormatUnit, number>> {
  if (ms < MINUTE_MS) return { seconds: Math.max(1, Math.floor(ms / SECOND_MS)) };
  if (ms < HOUR_MS) return { minutes: Math.floor(ms / MINUTE_MS) };
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  if (ms < DAY_MS) return { hours: Math.floor(ms / HOUR_MS), ...(minutes > 0 ? { minutes } : {}) };
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  return { days: Math.floor(ms / DAY_MS), ...(hours > 0 ? { hours } : {}) };
}
