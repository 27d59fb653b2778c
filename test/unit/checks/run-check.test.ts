import { describe, expect, it } from 'vitest';
import type { Try } from '../../../src/checks/measure.ts';
import { resultOf, runCheck, slowMsOf } from '../../../src/checks/run-check.ts';
import type { CheckResult } from '../../../src/model/check-result.ts';
import { DAY_MS, type EpochMs, toEpochMs } from '../../../src/model/time.ts';
import { checkOf, tryOf } from '../../helpers/own-checks.ts';

const START = Date.UTC(2026, 10, 23, 9);

/** Runs a check whose tries end as listed, each after a second. */
async function run(
  tries: readonly Try[],
  fields: Readonly<Record<string, unknown>> = {},
  slowMs: number | null = null,
) {
  let time = START;
  const left = [...tries];
  const pauses: number[] = [];
  const verdict = await runCheck(checkOf({ url: 'https://shop.example', ...fields }), slowMs, {
    now: () => toEpochMs(time),
    sleep: async (ms) => {
      pauses.push(ms);
      time += ms;
    },
    tryOnce: async () => {
      time += 1_000;
      return left.shift() ?? tryOf('nothing is left');
    },
  });
  return { verdict, pauses, left: left.length, startedAfter: verdict.since - START };
}

const down = tryOf('the connection was refused');
const slow = tryOf(null, { phases: { total: 900 } });

describe('a run', () => {
  it('that succeeds is one try', async () => {
    const { verdict, left } = await run([tryOf(null), down]);
    expect([verdict.state, left]).toEqual(['operational', 1]);
  });

  it('that fails is tried again at once, spaced, as often as configured, and began with its first try', async () => {
    const { verdict, pauses, startedAfter } = await run([down, down, down, down]);
    expect(verdict).toMatchObject({ state: 'major_outage', fault: 'the connection was refused' });
    expect(pauses).toEqual([150, 300, 600]);
    expect(startedAfter).toBe(0);
    expect(
      (
        await run(
          Array.from({ length: 12 }, () => down),
          { retry: 10 },
        )
      ).left,
    ).toBe(1);
    expect((await run([down, tryOf(null)], { retry: 0 })).verdict.state).toBe('major_outage');
  });

  it('that succeeds again is no failure', async () => {
    expect((await run([down, down, down, tryOf(null)])).verdict).toMatchObject({ state: 'operational', fault: null });
  });

  it('is slow when it is so twice', async () => {
    expect((await run([slow, tryOf(null)], {}, 500)).verdict.state).toBe('operational');
    const { verdict, startedAfter } = await run([slow, slow], {}, 500);
    expect(verdict).toMatchObject({ state: 'degraded', fault: 'slower than 500 ms' });
    expect(startedAfter).toBe(0);
    expect((await run([slow], { retry: 0 }, 500)).verdict.state).toBe('degraded');
  });

  it('is degraded when its certificate ends soon', async () => {
    const ending = (days: number) => tryOf(null, { certificateEndsAt: toEpochMs(START + days * DAY_MS + 1_000) });
    expect((await run([ending(14)])).verdict.state).toBe('operational');
    expect((await run([ending(13)])).verdict).toMatchObject({
      state: 'degraded',
      fault: 'its certificate expires in 13 days',
    });
    expect((await run([ending(1)])).verdict.fault).toBe('its certificate expires in a day');
    expect((await run([ending(0.5)])).verdict.fault).toBe('its certificate expires in less than a day');
    expect((await run([ending(1)], { certificate_days: 0 })).verdict.state).toBe('operational');
  });
});

describe('what is slow', () => {
  const check = checkOf({ url: 'https://shop.example' });

  it('is as configured', () => {
    expect(slowMsOf(checkOf({ url: 'https://shop.example', degraded_at: 800 }), null)).toBe(800);
  });

  it('is computed from ten usual answers or more: three times the middle one, and half a second above it at least', () => {
    const usual = (...usualMs: number[]) => slowMsOf(check, { usualMs });
    expect(usual(...Array.from({ length: 9 }, () => 100))).toBeNull();
    expect(usual(...Array.from({ length: 10 }, () => 100))).toBe(600);
    expect(usual(...Array.from({ length: 10 }, () => 1_000))).toBe(3_000);
    // One that is far off changes nothing.
    expect(usual(...Array.from({ length: 19 }, () => 100), 60_000)).toBe(600);
  });
});

describe('a result', () => {
  const check = checkOf({ url: 'https://shop.example' });
  const at = (seconds: number): EpochMs => toEpochMs(START + seconds * 1_000);
  const verdictAt = (seconds: number, state: CheckResult['state'], since = seconds) => ({
    ...{ state, at: at(seconds), since: at(since), hasAnswered: true, certificateEndsAt: null as EpochMs | null },
    fault: state === 'operational' ? null : 'status 500',
    phases: { total: 40.4 },
  });
  const recorded = (before: CheckResult | null, verdict: ReturnType<typeof verdictAt>): CheckResult =>
    resultOf(check, verdict, { place: 'fra', before, now: toEpochMs(verdict.at + 500) });

  it('keeps when its state began, through runs without a gap', () => {
    const first = recorded(null, verdictAt(0, 'operational'));
    const second = recorded(first, verdictAt(30, 'operational'));
    expect([second.since, second.at, second.totalMs]).toEqual([at(0), at(30), 40]);
    const third = recorded(second, verdictAt(62, 'major_outage', 60));
    expect([third.since, third.foundAt, third.totalMs]).toEqual([at(60), at(62.5), null]);
    expect(recorded(third, verdictAt(90, 'major_outage')).foundAt).toBe(at(62.5));
    expect(recorded(third, verdictAt(90, 'major_outage')).since).toBe(at(60));
  });

  it('keeps when its certificate ends during an outage, and forgets it once the answer has none', () => {
    const endsAt = at(1e6);
    const first = recorded(null, { ...verdictAt(0, 'operational'), certificateEndsAt: endsAt });
    const second = recorded(first, verdictAt(30, 'major_outage'));
    expect(second.certificateEndsAt).toBe(endsAt);
    // Its address now begins with http:.
    expect(recorded(second, verdictAt(60, 'operational')).certificateEndsAt).toBeNull();
  });

  it('begins anew after a gap', () => {
    const first = recorded(null, verdictAt(0, 'operational'));
    expect(recorded(first, verdictAt(3_600, 'operational')).since).toBe(at(3_600));
  });

  it('learns what is usual from good answers only, and keeps the newest twenty', () => {
    let result: CheckResult | null = null;
    for (let run = 0; run < 30; run += 1)
      result = recorded(result, verdictAt(run * 30, run % 2 === 0 ? 'operational' : 'degraded'));
    expect(result?.usualMs).toHaveLength(15);
    expect(result?.recent).toHaveLength(20);
    expect(result?.recent.at(-1)?.at).toBe(at(29 * 30));
  });
});
