import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import { Secret } from '../../../src/schema/secret.ts';
import { bearerFrom, createOperatorGuard, isSame, tokenOperators } from '../../../src/server/operators/operator.ts';

const START = toEpochMs(1_000_000);
const WINDOW_MS = 15 * MINUTE_MS;
const secret = (text: string) => ({ reveal: () => text });
type Kind = Parameters<ReturnType<typeof createOperatorGuard>['judge']>[0];

function rig(token: string | null = 'the-token') {
  const configured = { tokens: [], roles: {}, ...(token === null ? {} : { token: new Secret(token) }) };
  const guard = createOperatorGuard(() => tokenOperators(configured));
  const check = (given: string, { address = '203.0.113.1', afterMs = 0, kind = 'operator' as Kind } = {}) =>
    guard.check(given, { address, now: toEpochMs(START + afterMs) }, kind).kind;
  const guess = (times: number, over: Parameters<typeof check>[1] = {}): string[] =>
    Array.from({ length: times }, (_, index) => check(`guess ${index}`, over));
  return { guard, check, guess };
}

describe('the operator guard', () => {
  it('takes the right token however often it comes, and counts it never', () => {
    const { check, guess } = rig();
    guess(9);
    for (let tries = 0; tries < 300; tries += 1) expect(check('the-token')).toBe('right');
    expect([check('guess'), check('guess')]).toEqual(['wrong', 'limited']);
  });

  it('compares ten of ten thousand guesses of one client, however its IPv6 address changes', () => {
    expect(
      rig()
        .guess(10_000)
        .filter((kind) => kind === 'wrong'),
    ).toHaveLength(10);
    const { check } = rig();
    const verdicts = Array.from({ length: 100 }, (_, index) => check('guess', { address: `2001:db8:1:2::${index}` }));
    expect(verdicts.filter((kind) => kind === 'wrong')).toHaveLength(10);
  });

  it('takes not even the right one from a client that guessed too often, until its time is over', () => {
    const { guard, check, guess } = rig();
    guess(5);
    guess(5, { afterMs: MINUTE_MS });
    const client = { address: '203.0.113.1', now: toEpochMs(START + 2 * MINUTE_MS) };
    expect(guard.check('the-token', client)).toEqual({ kind: 'limited', retryAfterMs: WINDOW_MS - 2 * MINUTE_MS });
    expect(check('the-token', { address: '203.0.113.2' })).toBe('right');
    expect(check('the-token', { afterMs: WINDOW_MS - 1 })).toBe('limited');
    expect(check('the-token', { afterMs: WINDOW_MS })).toBe('right');
    // Those of the first minute count no more, those of the second still do.
    expect(guess(6, { afterMs: WINDOW_MS })).toEqual([...Array.from({ length: 5 }, () => 'wrong'), 'limited']);
  });

  it('locks nobody out because of a clock that was put back', () => {
    const { check, guess } = rig();
    guess(10);
    expect(check('the-token', { afterMs: -MINUTE_MS })).toBe('right');
  });

  it('counts each kind of secret by itself', () => {
    const { guard, check, guess } = rig();
    for (const kind of ['API token', 'operator over API', 'intake', 'hook'] as const) guess(20, { kind });
    expect(check('the-token')).toBe('right');
    expect(check('the-token', { kind: 'operator over API' })).toBe('limited');
    const now = START;
    expect(guard.judge('intake', { address: '203.0.113.1', now }, () => true).kind).toBe('limited');
    expect(guard.judge('intake', { address: '203.0.113.9', now }, () => true)).toEqual({ kind: 'right' });
  });

  it('slows unknown clients down, and locks none of them out for longer than a minute', () => {
    const { check, guess } = rig();
    expect(guess(50, { address: '' }).every((kind) => kind === 'wrong')).toBe(true);
    expect(check('the-token', { address: '' })).toBe('right');
    expect(guess(100, { address: '' }).filter((kind) => kind === 'wrong')).toHaveLength(50);
    expect(check('the-token', { address: '' })).toBe('limited');
    expect(check('the-token')).toBe('right');
    expect(check('the-token', { address: '', afterMs: 60 * SECOND_MS })).toBe('right');
  });

  it('lets no unknown client lock out a token that is long enough', () => {
    const long = 'abcdefghijklmnopqrstuv';
    const { check, guess } = rig(long);
    guess(1_000, { address: '' });
    expect(check(long, { address: '' })).toBe('right');
    expect(check('guess', { address: '' })).toBe('limited');
    guess(10);
    expect(check(long)).toBe('limited');
  });

  it('takes nothing for right where no token is configured', () => {
    for (const given of ['', 'undefined', 'null']) expect(rig(null).check(given)).toBe('wrong');
    expect(isSame('', secret(''))).toBe(false);
  });

  it('reads a token from one well-formed header only', () => {
    expect(bearerFrom('Bearer abc')).toBe('abc');
    for (const header of [undefined, '', 'Basic abc', 'Bearer ', 'Bearer a b', 'Bearer a, Bearer b', 'abc'])
      expect(bearerFrom(header)).toBe('');
  });
});
