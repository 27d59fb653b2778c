/** Timestamps as the server monitor writes them: records in its own clock without a zone, the status with its offset. */

import { type EpochMs, MINUTE_MS } from '../../../../model/time.ts';

/** `YYYY-MM-DDTHH:MM:SS` on a clock `offsetMinutes` east of UTC, without saying so. */
export function naiveTime(at: EpochMs, offsetMinutes: number): string {
  return new Date(at + offsetMinutes * MINUTE_MS).toISOString().slice(0, 19);
}

/** `YYYY-MM-DDTHH:MM:SS+02:00`. */
export function offsetTime(at: EpochMs, offsetMinutes: number): string {
  const size = Math.abs(offsetMinutes);
  const digits = (value: number): string => String(value).padStart(2, '0');
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
  return `${naiveTime(at, offsetMinutes)}${offset}`;
}
