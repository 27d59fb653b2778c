/** Checks as the configuration makes them, and one try of them. */

import type { Try, TryDeps } from '../../src/checks/measure.ts';
import { tryCheck } from '../../src/checks/try.ts';
import { NO_PROXY } from '../../src/network/proxy.ts';
import { type Check, CheckSchema } from '../../src/sync/connectors/check.ts';

/** A check with the fields that a test is about. */
export function checkOf(fields: Readonly<Record<string, unknown>>): Check {
  return CheckSchema.parse({ type: 'http', name: 'Shop', periodicity: '30s', ...fields });
}

/** Tries it once, with time enough on a busy machine. */
export function tryFields(fields: Readonly<Record<string, unknown>>, deps: Partial<TryDeps> = {}): Promise<Try> {
  const { signal } = new AbortController();
  return tryCheck(checkOf({ timeout: 20_000, ...fields }), {
    resolver: [],
    ca: null,
    proxy: NO_PROXY,
    signal,
    ...deps,
  });
}

/** How a try ended, after 40 ms; null: well. */
export function tryOf(fault: string | null, fields: Partial<Try> = {}): Try {
  return { fault, hasAnswered: fault === null, phases: { total: 40 }, certificateEndsAt: null, ...fields };
}
