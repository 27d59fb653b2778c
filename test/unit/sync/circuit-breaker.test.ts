import { describe, expect, it } from 'vitest';
import { type ErrorCode, StatusError } from '../../../src/errors.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import { CONTROL_AT_FIRST, type UpstreamControl } from '../../../src/store/upstream-control.ts';
import { afterFailure, afterSuccess, readCircuit } from '../../../src/sync/pass/pass.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 21));
const PRINT = 'options-1';
const fingerprint = () => PRINT;

function error(code: ErrorCode, status?: number): StatusError {
  return new StatusError({ code, message: 'm', context: status === undefined ? {} : { status } });
}

function fail(control: UpstreamControl, { failures = 3, now = NOW, random = 1 } = {}): UpstreamControl {
  return afterFailure(control, { error: error('UPSTREAM_UNREACHABLE'), failures, now, random, fingerprint });
}

describe('the circuit', () => {
  it('opens with the fifth failed request in a row', () => {
    const four = fail(fail(CONTROL_AT_FIRST, { failures: 2 }), { failures: 2 });
    expect(readCircuit(four, NOW, fingerprint)).toEqual({ kind: 'closed' });
    const five = fail(four, { failures: 1 });
    expect(readCircuit(five, NOW, fingerprint)).toEqual({ kind: 'open', why: 'failing', until: NOW + 30 * SECOND_MS });
  });

  it('lets one request through when it has been open long enough, and closes when that is answered', () => {
    const open = fail(CONTROL_AT_FIRST, { failures: 5 });
    const later = toEpochMs(NOW + 30 * SECOND_MS);
    expect(readCircuit(open, toEpochMs(later - 1), fingerprint).kind).toBe('open');
    expect(readCircuit(open, later, fingerprint)).toEqual({ kind: 'half-open' });
    expect(readCircuit(afterSuccess(open, 4), later, fingerprint)).toEqual({ kind: 'closed' });
  });

  it('opens for twice as long each time, up to five minutes, the second half of it by chance', () => {
    let control = CONTROL_AT_FIRST;
    const lengths: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      control = fail(control, { failures: 5 });
      lengths.push(((control.openUntil ?? 0) - NOW) / SECOND_MS);
    }
    expect(lengths).toEqual([30, 60, 120, 240, 300, 300]);
    expect(fail(CONTROL_AT_FIRST, { failures: 5, random: 0 }).openUntil).toBe(NOW + 15 * SECOND_MS);
  });

  it('an answer that we cannot read or that limits us is an answer: it closes the circuit', () => {
    const open = fail(CONTROL_AT_FIRST, { failures: 5 });
    for (const code of ['UPSTREAM_SHAPE', 'UPSTREAM_LIMITED'] as const) {
      const next = afterFailure(open, { error: error(code), failures: 0, now: NOW, random: 0, fingerprint });
      expect(readCircuit(next, NOW, fingerprint)).toEqual({ kind: 'closed' });
    }
  });

  it.each([401, 403])(
    'after %i one request in half a minute asks whether the key is taken, at once when the options change',
    (status) => {
      const failure = { error: error('UPSTREAM_REFUSED', status), failures: 0, now: NOW, random: 0, fingerprint };
      const refused = afterFailure(CONTROL_AT_FIRST, failure);
      expect(readCircuit(refused, NOW, fingerprint)).toEqual({
        kind: 'open',
        why: 'refused',
        until: NOW + 30 * SECOND_MS,
      });
      expect(readCircuit(refused, toEpochMs(NOW + 30 * SECOND_MS), fingerprint).kind).toBe('half-open');
      expect(readCircuit(refused, NOW, () => 'options-2').kind).toBe('closed');
      expect(readCircuit(afterSuccess(refused, 1), NOW, fingerprint).kind).toBe('closed');
    },
  );

  it.each([404, 405, 410])('after %i the next pass asks again: nobody counts that against a key', (status) => {
    const failure = { error: error('UPSTREAM_REFUSED', status), failures: 0, now: NOW, random: 0, fingerprint };
    expect(readCircuit(afterFailure(CONTROL_AT_FIRST, failure), NOW, fingerprint).kind).toBe('closed');
  });

  it('a wait that the upstream asked for outlives an answer', () => {
    const control = { ...CONTROL_AT_FIRST, holdUntil: toEpochMs(NOW + MINUTE_MS), limitedCount: 2 };
    expect(readCircuit(afterSuccess(control, 4), NOW, fingerprint)).toEqual({
      kind: 'open',
      why: 'waiting',
      until: NOW + MINUTE_MS,
    });
  });

  it('what a clock that ran ahead has set does not last for days', () => {
    const ahead = toEpochMs(NOW + 24 * HOUR_MS);
    const control = {
      ...CONTROL_AT_FIRST,
      holdUntil: ahead,
      openUntil: ahead,
      refusedUntil: ahead,
      refusedPrint: PRINT,
    };
    expect(readCircuit(control, NOW, fingerprint).kind).toBe('half-open');
  });
});
