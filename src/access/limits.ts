/** How long things live and how often they may be tried. */

import { DAY_MS, MINUTE_MS, SECOND_MS } from '../model/time.ts';

/** Tries are counted over any stretch of this length. */
export const ATTEMPT_WINDOW_MS = 15 * MINUTE_MS;
/** A session ends after this however busy it is; `sessionHours` is how long it may idle. */
export const SESSION_MAX_MS = 7 * DAY_MS;
/** The idle limit is kept to this: a busy session is not written down with every request. */
export const SESSION_TOUCH_MS = MINUTE_MS;
/** ASVS 5.0, 6.5.5: a code sent out of band lives ten minutes at most. */
export const LINK_LIFE_MS = 10 * MINUTE_MS;
/** Eight digits, five tries. */
export const CODE_DIGITS = 8;
export const CODE_TRIES_MAX = 5;
export const MAILS_PER_ADDRESS_MAX = 3;
/** How often queued mails and expired rows are looked at. */
export const TEND_INTERVAL_MS = 5 * SECOND_MS;
/** Password checks under way at once: each takes a thread of the pool that also reads files. */
export const HASHES_AT_ONCE = 2;
/** More wait for their turn; beyond that the answer is "later". */
export const HASHES_WAITING_MAX = 64;

/** Networks whose passwords are compared one after the other, and how many wait for their turn in each: a large office. */
export const TURNS_MAX = 10_000;
export const TURNS_WAITING_MAX = 1_000;

/** What is counted; each kind has its own counters. */
export type AttemptKind = 'password' | 'mail' | 'code' | 'provider' | 'subscribe';

interface AttemptLimits {
  /** One client at one page. */
  readonly client: number;
  /** One client at all pages, whether they exist or not. */
  readonly clientEverywhere: number;
  /** Everybody at one page, tries after a client's first. */
  readonly repeats: number;
  /**
   * Everybody at one page, first tries. Apart, so that many clients that guess cannot keep out somebody who comes for
   * the first time. Clients that are unknown share as many tries of their own.
   */
  readonly firsts: number;
}

/** Successful tries are not counted. */
export const ATTEMPT_LIMITS: Readonly<Record<AttemptKind, AttemptLimits>> = {
  password: { client: 10, clientEverywhere: 50, repeats: 200, firsts: 1_500 },
  mail: { client: 10, clientEverywhere: 20, repeats: 100, firsts: 500 },
  code: { client: 10, clientEverywhere: 20, repeats: 100, firsts: 100 },
  provider: { client: 10, clientEverywhere: 50, repeats: 200, firsts: 1_500 },
  subscribe: { client: 10, clientEverywhere: 10, repeats: 200, firsts: 1_500 },
};
