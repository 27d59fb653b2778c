import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import type { Limits } from '../../../src/sync/connector.ts';
import {
  ARRIVAL_MS,
  backoffMs,
  lowPriorityWindows,
  quotaWindows,
  reserveRequest,
} from '../../../src/sync/pass/quota.ts';
import { createMemoryLedger } from '../../helpers/memory-ledger.ts';

const SCHEDULES = Math.round(3_000 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1));

/** One thing that happens in a schedule. */
interface Step {
  /** Time that passes before it, ms. */
  readonly gapMs: number;
  /** Requests that a process tries to send at once. */
  readonly burst: number;
  /** How long each takes to arrive there, as a share of the longest. */
  readonly latency: number;
  readonly isSpare: boolean;
  /** How far the clock of this machine is set back before it, ms. */
  readonly setBackMs: number;
  /** Whether a refused process sleeps as long as it is told, and tries again. */
  readonly isPatient: boolean;
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  gapMs: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * HOUR_MS }) },
  ),
  burst: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) }),
  latency: fc.double({ min: 0, max: 1, noNaN: true }),
  isSpare: fc.boolean(),
  setBackMs: fc.oneof(
    { weight: 30, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 10 * MINUTE_MS }) },
  ),
  isPatient: fc.boolean(),
});

const scheduleArbitrary = fc.record({
  limits: fc.record({ perMinute: fc.integer({ min: 1, max: 60 }), perHour: fc.integer({ min: 1, max: 200 }) }),
  steps: fc.array(stepArbitrary, { minLength: 5, maxLength: 40 }),
});

/** When the requests of a schedule arrive at the upstream, in real time. Processes remember nothing but the ledger. */
async function arrivalsOf(limits: Limits, steps: readonly Step[]): Promise<readonly number[]> {
  const ledger = createMemoryLedger();
  const lists = quotaWindows(limits);
  const details = [...lists, ...lowPriorityWindows(limits, { listCallsPerPass: 1, intervalMs: 10 * MINUTE_MS })];
  const arrivals: number[] = [];
  let realMs = Date.UTC(2026, 10, 21);
  let offsetMs = 0;
  for (const step of steps) {
    realMs += step.gapMs;
    offsetMs -= step.setBackMs;
    for (let index = 0; index < step.burst; index += 1) {
      const wall = (): EpochMs => toEpochMs(realMs + offsetMs);
      let reservation = await reserveRequest(ledger, step.isSpare ? details : lists, wall());
      if (!reservation.granted && step.isPatient) {
        realMs += reservation.notBefore - wall();
        reservation = await reserveRequest(ledger, step.isSpare ? details : lists, wall());
      }
      if (reservation.granted) arrivals.push(realMs + Math.floor(step.latency * (ARRIVAL_MS - 1)));
    }
  }
  return arrivals.toSorted((a, b) => a - b);
}

/** The most arrivals in any stretch of `lengthMs`, one end of it left out. */
function mostWithin(arrivals: readonly number[], lengthMs: number): number {
  let most = 0;
  let from = 0;
  for (const [index, at] of arrivals.entries()) {
    while (at - (arrivals[from] ?? 0) >= lengthMs) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

describe('the quota', () => {
  it(`is kept in every window as the upstream counts, over ${SCHEDULES} random schedules`, async () => {
    let used = 0;
    let filled = 0;
    await fc.assert(
      fc.asyncProperty(scheduleArbitrary, async ({ limits, steps }) => {
        const arrivals = await arrivalsOf(limits, steps);
        used += arrivals.length;
        const inMinute = mostWithin(arrivals, MINUTE_MS);
        const inHour = mostWithin(arrivals, HOUR_MS);
        if (inMinute === limits.perMinute || inHour === limits.perHour) filled += 1;
        expect(inMinute).toBeLessThanOrEqual(limits.perMinute);
        expect(inHour).toBeLessThanOrEqual(limits.perHour);
      }),
      { numRuns: SCHEDULES },
    );
    // The schedules press hard enough that the limits bind in many of them.
    expect(filled).toBeGreaterThan(SCHEDULES / 10);
    expect(used).toBeGreaterThan(SCHEDULES * 5);
  }, 120_000);

  it('is used to the full by requests that wait as long as they are told', async () => {
    const ledger = createMemoryLedger();
    const windows = quotaWindows({ perMinute: 60, perHour: 1_000 });
    let now = toEpochMs(0);
    let granted = 0;
    while (now < 10 * HOUR_MS) {
      const reservation = await reserveRequest(ledger, windows, now);
      if (reservation.granted) granted += 1;
      else now = reservation.notBefore;
    }
    expect(granted).toBeGreaterThan(10 * 1_000 * 0.995 - 1);
  });

  it('is free again an hour after the clock was set back by a day, not a day after', async () => {
    const ledger = createMemoryLedger();
    const windows = quotaWindows({ perMinute: 60, perHour: 2 });
    const before = toEpochMs(48 * HOUR_MS);
    for (const at of [before, before]) expect((await reserveRequest(ledger, windows, at)).granted).toBe(true);
    const now = toEpochMs(24 * HOUR_MS);
    expect(await reserveRequest(ledger, windows, now)).toEqual({
      granted: false,
      notBefore: now + HOUR_MS + ARRIVAL_MS,
    });
    expect((await reserveRequest(ledger, windows, toEpochMs(now + HOUR_MS + ARRIVAL_MS))).granted).toBe(true);
  });

  it('keeps its room for lists when details take all they may', async () => {
    const limits = { perMinute: 60, perHour: 1_000 };
    const demand = { listCallsPerPass: 4, intervalMs: MINUTE_MS };
    const lists = quotaWindows(limits);
    const details = [...lists, ...lowPriorityWindows(limits, demand)];
    const ledger = createMemoryLedger();
    for (let pass = 0; pass < 300; pass += 1) {
      for (let call = 0; call < demand.listCallsPerPass; call += 1) {
        const reservation = await reserveRequest(ledger, lists, toEpochMs(pass * MINUTE_MS));
        expect(reservation.granted).toBe(true);
      }
      let hasRoom = true;
      while (hasRoom) hasRoom = (await reserveRequest(ledger, details, toEpochMs(pass * MINUTE_MS))).granted;
    }
  });
});

describe('a wait that the upstream asked for', () => {
  const windows = quotaWindows({ perMinute: 60, perHour: 1_000 });

  it('holds every request until its end, and none after it', async () => {
    const ledger = createMemoryLedger();
    const holdUntil = toEpochMs(30 * SECOND_MS);
    await ledger.setControl({ ...(await ledger.control()), holdUntil });
    expect(await reserveRequest(ledger, windows, toEpochMs(0))).toEqual({ granted: false, notBefore: holdUntil });
    expect(await reserveRequest(ledger, windows, toEpochMs(holdUntil - 1))).toMatchObject({ granted: false });
    expect(await reserveRequest(ledger, windows, holdUntil)).toEqual({ granted: true });
  });

  it('begins anew when the clock was set back, and then ends', async () => {
    const ledger = createMemoryLedger();
    await ledger.setControl({ ...(await ledger.control()), holdUntil: toEpochMs(50 * HOUR_MS) });
    expect(await reserveRequest(ledger, windows, toEpochMs(0))).toEqual({ granted: false, notBefore: HOUR_MS });
    expect(await reserveRequest(ledger, windows, toEpochMs(HOUR_MS))).toEqual({ granted: true });
  });

  it('without a time doubles from one second, and no further than an hour', () => {
    expect([0, 1, 2, 3].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(backoffMs(1_000)).toBe(HOUR_MS);
  });
});
