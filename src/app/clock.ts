/**
 * The clock of this process. With a database server, it follows the clock of the server: it asks now and then, and adds the
 * time that passed in between. A wrong or changed clock of this machine therefore has no effect.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import type { Database } from '../store/database.ts';

let anchor: { readonly time: number; readonly at: number } | null = null;

export const now = (): EpochMs =>
  toEpochMs(anchor === null ? Date.now() : Math.round(anchor.time + performance.now() - anchor.at));

/** Waits, at most until the signal is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);

const LOOK_EVERY_MS = 10_000;
/** A slower answer is too inexact. */
const LOOK_MS_MAX = 1_000;

/** Follows the clock of a database from now on, whenever it can be reached. Returns a function that stops this. */
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
