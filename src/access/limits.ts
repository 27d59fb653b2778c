/** Lifetimes and attempt limits. */

import { DAY_MS, MINUTE_MS, SECOND_MS } from '../model/time.ts';

/** Attempts are counted over a sliding window of this length. */
export const ATTEMPT_WINDOW_MS = 15 * MINUTE_MS;
/** A session ends after this time even if it is in use; `sessionHours` limits how long it may be idle. */
export const SESSION_MAX_MS = 7 * DAY_MS;
/** Precision of the idle limit, so that a busy session is not written with every request. */
export const SESSION_TOUCH_MS = MINUTE_MS;
/** ASVS 5.0, 6.5.5: an out-of-band code is valid for at most ten minutes. */
export const LINK_LIFE_MS = 10 * MINUTE_MS;
/** Eight digits, five attempts. */
export const CODE_DIGITS = 8;
export const CODE_TRIES_MAX = 5;
export const MAILS_PER_ADDRESS_MAX = 3;
/** How often queued mails and expired rows are checked. */
export const TEND_INTERVAL_MS = 5 * SECOND_MS;
/** Simultaneous password checks: each occupies a thread of the pool that also reads files. */
export const HASHES_AT_ONCE = 2;
/** Password checks that may wait; beyond that the answer is "try again later". */
export const HASHES_WAITING_MAX = 64;

/** Networks with waiting password checks, and checks that may wait per network: a large office. */
export const TURNS_MAX = 10_000;
export const TURNS_WAITING_MAX = 1_000;

/**
 * Limits by kind of attempt; each kind has its own counters. Successful attempts are not counted.
 *
 * `client`: one client on one page. `clientEverywhere`: one client on all pages, existing or not. `repeats`: everybody on
 * one page, not counting each client's first attempt. `firsts`: first attempts of all clients on one page; counted
 * separately, so that many guessing clients cannot lock out a newcomer. All unknown clients together have the same
 * limit.
 */
export const ATTEMPT_LIMITS = {
  password: { client: 10, clientEverywhere: 50, repeats: 200, firsts: 1_500 },
  mail: { client: 10, clientEverywhere: 20, repeats: 100, firsts: 500 },
  code: { client: 10, clientEverywhere: 20, repeats: 100, firsts: 100 },
  provider: { client: 10, clientEverywhere: 50, repeats: 200, firsts: 1_500 },
  subscribe: { client: 10, clientEverywhere: 10, repeats: 200, firsts: 1_500 },
} as const;
