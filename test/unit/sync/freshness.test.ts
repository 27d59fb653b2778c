import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import { lowPriorityPerPass, lowPriorityWindows, quotaWindows, reserveRequest } from '../../../src/sync/pass/quota.ts';
import { createMemoryLedger } from '../../helpers/memory-ledger.ts';

const LIMITS = { perMinute: 60, perHour: 1_000 };
const LIST_CALLS = 4;
const DEMAND = { listCallsPerPass: LIST_CALLS, intervalMs: MINUTE_MS };

/** Seeded, so that every run is the same. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Passes every minute, a little late by chance, each with its lists and then details stalest first, as far as quota and
 * share go. From the third round of all monitors on: how old details are, on average and at most.
 */
async function simulate(monitorsTotal: number): Promise<{ meanMs: number; mostMs: number; refusedLists: number }> {
  const ledger = createMemoryLedger();
  const random = createRandom(7);
  const lists = quotaWindows(LIMITS);
  const details = [...lists, ...lowPriorityWindows(LIMITS, DEMAND)];
  const share = lowPriorityPerPass(LIMITS, DEMAND) ?? Number.POSITIVE_INFINITY;
  const fetchedAt: number[] = [];
  const gaps: number[] = [];
  let refusedLists = 0;
  for (let pass = 0; fetchedAt.length < 4 * monitorsTotal; pass += 1) {
    let now = pass * MINUTE_MS + random() * 5 * SECOND_MS;
    for (let call = 0; call < LIST_CALLS; call += 1) {
      if (!(await reserveRequest(ledger, lists, toEpochMs(now))).granted) refusedLists += 1;
      now += 50;
    }
    for (let asked = 0; asked < (pass === 0 ? 1_000 : share); asked += 1) {
      if (!(await reserveRequest(ledger, details, toEpochMs(now))).granted) break;
      const before = fetchedAt.at(-monitorsTotal);
      if (fetchedAt.length >= 2 * monitorsTotal && before !== undefined) gaps.push(now - before);
      fetchedAt.push(now);
      now += 50;
    }
  }
  const total = gaps.reduce((sum, gap) => sum + gap, 0);
  // An age grows from nothing to the gap, so it is half of it on average over that time.
  const meanMs = gaps.reduce((sum, gap) => sum + (gap * gap) / 2, 0) / total;
  return { meanMs, mostMs: Math.max(...gaps), refusedLists };
}

describe('details under a quota of 60 a minute and 1,000 an hour', () => {
  for (const monitorsTotal of [1_000, 10_000]) {
    it(`of ${monitorsTotal} monitors are within 5 % of as fresh as they can be, and lists never wait`, async () => {
      // What lists leave of the hour, spent without a pause on one monitor after another.
      const bestMs = (monitorsTotal / (LIMITS.perHour - 60 * LIST_CALLS)) * HOUR_MS;
      const { meanMs, mostMs, refusedLists } = await simulate(monitorsTotal);
      expect(refusedLists).toBe(0);
      expect(meanMs).toBeGreaterThanOrEqual(bestMs / 2);
      expect(meanMs).toBeLessThanOrEqual((bestMs / 2) * 1.05);
      expect(mostMs).toBeLessThanOrEqual(bestMs * 1.05 + MINUTE_MS);
    });
  }
});
