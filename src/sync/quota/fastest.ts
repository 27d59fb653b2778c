/** Which schedule a quota allows, for those who choose one. Pure. */

import { DAY_MS, SECOND_MS } from '../../model/time.ts';
import type { Limits } from '../connector.ts';
import { detailAgeMaxMs, intervalMinMs } from './windows.ts';

/** Cron runs evenly only in steps that divide the minute or the hour, s. */
const EVEN_STEPS_S = [
  1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 300, 360, 600, 720, 900, 1_200, 1_800, 3_600,
];
/** Details of every monitor come round at least this often, or they count as not coming. */
const DETAIL_AGE_MS_MAX = DAY_MS;

/** What an upstream of this size is asked. */
export interface PassSize {
  readonly listCallsPerPass: number;
  readonly monitorsTotal: number;
}

interface Schedule {
  readonly intervalMs: number;
  /** Cron, five fields or six with seconds. */
  readonly cron: string;
}

/** Whether every pass has its lists, and details of all monitors come round. */
export function hasRoom(limits: Limits, { intervalMs, ...size }: PassSize & { readonly intervalMs: number }): boolean {
  if (intervalMs < intervalMinMs(limits, size.listCallsPerPass)) return false;
  const ageMs = detailAgeMaxMs(limits, { ...size, intervalMs });
  return ageMs === null || ageMs <= DETAIL_AGE_MS_MAX;
}

/** The fastest even schedule that also gets details and history; null: none of an hour or less does. */
export function fastestSchedule(limits: Limits, size: PassSize): Schedule | null {
  const step = EVEN_STEPS_S.find((seconds) => hasRoom(limits, { ...size, intervalMs: seconds * SECOND_MS }));
  return step === undefined ? null : { intervalMs: step * SECOND_MS, cron: cronOf(step) };
}

function cronOf(seconds: number): string {
  const every = (step: number): string => (step === 1 ? '*' : `*/${step}`);
  if (seconds === 3_600) return '0 * * * *';
  return seconds < 60 ? `${every(seconds)} * * * * *` : `${every(seconds / 60)} * * * *`;
}
