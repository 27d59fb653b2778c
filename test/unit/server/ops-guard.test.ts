import { describe, expect, it } from 'vitest';
import type { Admission, Attempt } from '../../../src/access/attempts/attempts.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { bearerFrom, createOperatorGuard, isSame } from '../../../src/server/operators/ops-guard.ts';

const START = toEpochMs(1_000_000);
const secret = (text: string) => ({ reveal: () => text });

function rig(token: string | null = 'the-token') {
  const counted: Attempt[] = [];
  const forgiven: string[] = [];
  const guard = createOperatorGuard({
    token: () => (token === null ? null : secret(token)),
    attempts: {
      admit: async (attempt): Promise<Admission> => {
        const isAdmitted = counted.push(attempt) - forgiven.length <= 10 || attempt.now >= START + 60_000;
        return isAdmitted ? { isAdmitted, attempt: `try ${counted.length}` } : { isAdmitted, retryAfterMs: 60_000 };
      },
      forgive: async (attempt) => void forgiven.push(attempt),
    },
  });
  const check = (given: string, address = '203.0.113.1', now = START) => guard.check(given, { address, now });
  return { check, counted, forgiven };
}

describe('the operator guard', () => {
  it('counts every try, and takes back those that were right', async () => {
    const { check, counted, forgiven } = rig();
    for (let tries = 1; tries <= 20; tries += 1) expect(await check('the-token')).toEqual({ kind: 'right' });
    expect(forgiven).toHaveLength(20);
    expect(await check('wrong')).toEqual({ kind: 'wrong' });
    expect([counted.length, forgiven.length]).toEqual([21, 20]);
  });

  it('compares no more of a thousand guesses at the same time than one after the other', async () => {
    const { check } = rig();
    const verdicts = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => check(index === 999 ? 'the-token' : `guess ${index}`)),
    );
    expect(verdicts.filter(({ kind }) => kind === 'wrong')).toHaveLength(10);
    expect(verdicts.filter(({ kind }) => kind === 'right')).toHaveLength(0);
  });

  it('takes the right one however often it comes at the same time, beside a guess', async () => {
    const { check } = rig();
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, (_, index) => check(index % 100 === 50 ? 'guess' : 'the-token')),
    );
    expect(verdicts.filter(({ kind }) => kind === 'right')).toHaveLength(297);
    expect(verdicts.filter(({ kind }) => kind === 'limited')).toHaveLength(0);
  });

  it('takes not even the right one from a client that guessed too often, until its time is over', async () => {
    const { check } = rig();
    for (let tries = 0; tries < 11; tries += 1) await check(`guess ${tries}`);
    expect(await check('the-token')).toEqual({ kind: 'limited', retryAfterMs: 60_000 });
    expect(await check('the-token', '203.0.113.1', toEpochMs(START + 60_000))).toEqual({ kind: 'right' });
  });

  it('evaluates at most eleven of ten thousand guesses of one client', async () => {
    const { check, counted } = rig();
    for (let tries = 0; tries < 10_000; tries += 1) await check(`guess ${tries}`);
    expect(counted).toHaveLength(11);
  });

  it('takes nothing for right where no token is configured', async () => {
    for (const given of ['', 'undefined', 'null']) expect((await rig(null).check(given)).kind).toBe('wrong');
    expect(isSame('', secret(''))).toBe(false);
  });

  it('reads a token from one well-formed header only', () => {
    expect(bearerFrom('Bearer abc')).toBe('abc');
    for (const header of [undefined, '', 'Basic abc', 'Bearer ', 'Bearer a b', 'Bearer a, Bearer b', 'abc'])
      expect(bearerFrom(header)).toBe('');
  });
});
