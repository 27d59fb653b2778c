/**
 * The clock of this process. Where a database server has a clock of its own, every node goes by that: between two looks
 * at it by the time that passed, so that a machine whose clock is wrong, or is set, changes nothing.
 */

import { type EpochMs, toEpochMs } from '../model/time.ts';
import type { Database } from '../store/database.ts';

let anchor: { readonly time: number; readonly at: number } | null = null;

export const now = (): EpochMs =>
  toEpochMs(anchor === null ? Date.now() : Math.round(anchor.time + performance.now() - anchor.at));

const LOOK_EVERY_MS = 10_000;
/** A look that took longer says too little. */
const LOOK_MS_MAX = 1_000;

/** Goes by the clock of a database from now on, as far as it can be reached. Gives what ends it. */
export async function followClock(database: Pick<Database, 'time'>): Promise<() => void> {
  const look = async (): Promise<void> => {
    const at = performance.now();
    const time = await database.time();
    const tookMs = performance.now() - at;
    if (tookMs <= LOOK_MS_MAX) anchor = { time: time + tookMs / 2, at: at + tookMs };
  };
  const tryLook = (): Promise<void> => look().catch(() => undefined);
  await tryLook();
  const timer = setInterval(() => void tryLook(), LOOK_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    anchor = null;
  };
}
