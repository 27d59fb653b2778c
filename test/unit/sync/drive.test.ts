import { expect, it } from 'vitest';
import { z } from 'zod';
import { StatusError } from '../../../src/errors.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { type Answer, ask, attempt, type Pull, type Question } from '../../../src/sync/connector.ts';
import { drive } from '../../../src/sync/pass/runner.ts';

const question: Question<string> = {
  name: 'q',
  priority: 'list',
  method: 'GET',
  url: 'https://edge.test/',
  headers: {},
  schema: z.string(),
};
const ok = (payload: string): Answer<string> => ({ kind: 'ok', payload, status: 200, at: toEpochMs(0) });
const failure = new StatusError({ code: 'UPSTREAM_FAILED', message: 'm' });

it('answers go in one by one, and what the generator returns comes out', async () => {
  function* pull(): Pull<string> {
    const first = yield* ask(question);
    const [second, third] = yield* attempt([question, question]);
    return [first.payload, second?.kind, third?.kind].join();
  }
  const answers = [[ok('one')], [ok('two'), { kind: 'skipped' }]] as const;
  let asking = 0;
  expect(await drive(pull(), async () => answers[asking++] ?? [])).toBe('one,ok,skipped');
});

it('nothing is asked for an empty list', async () => {
  function* pull(): Pull<number> {
    return (yield* attempt([])).length;
  }
  const refuse = async (): Promise<never> => Promise.reject(new Error('asked'));
  expect(await drive(pull(), refuse)).toBe(0);
});

it('a failure that is not tolerated is thrown where it was asked, and may be caught there', async () => {
  function* pull(): Pull<string> {
    try {
      yield* ask(question);
      return 'answered';
    } catch (error) {
      return error === failure ? 'caught' : 'other';
    }
  }
  expect(await drive(pull(), async () => [{ kind: 'failed', error: failure }])).toBe('caught');
});

it('a needed question that the quota skips fails as limited', async () => {
  function* pull(): Pull<void> {
    yield* ask(question);
  }
  await expect(drive(pull(), async () => [{ kind: 'skipped' }])).rejects.toMatchObject({ code: 'UPSTREAM_LIMITED' });
});

it('a generator that never ends is ended', async () => {
  function* pull(): Pull<void> {
    for (;;) yield* ask(question);
  }
  await expect(drive(pull(), async () => [ok('more')])).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
});
