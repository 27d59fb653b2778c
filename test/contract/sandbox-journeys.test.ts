import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/model/time.ts';
import { type Asked, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { customerJourneysSandbox } from '../sandbox/kinds/customer-journeys.ts';

interface Journey {
  readonly id: number;
  readonly segment_id: number | null;
  readonly status: string;
}

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

function ask(query = '', options: { from?: TestSandbox; headers?: Record<string, string>; method?: string } = {}) {
  const { from = sandbox, headers = {}, method = 'GET' } = options;
  return from.ask(`/journeys/api/v1/customer360/journeys${query}`, {
    method,
    headers: { accept: 'application/json', authorization: `Bearer ${from.credentials.journeysToken}`, ...headers },
  });
}

function journeysOf({ json }: Asked): readonly Journey[] {
  return (json as { data: readonly Journey[] }).data;
}

describe('the listing of journeys', () => {
  it('answers nothing but data, each with the documented fields and its segment', async () => {
    const { status, json } = await ask();
    expect([status, Object.keys(json as object)]).toEqual([200, ['data']]);
    for (const journey of journeysOf(await ask())) {
      const { segment_id } = journey;
      expect(journey).toEqual({
        id: expect.any(Number),
        name: expect.any(String),
        description: expect.toSatisfy((value) => value === null || typeof value === 'string'),
        segment_id: expect.toSatisfy((value) => value === null || Number.isInteger(value)),
        status: expect.any(String),
        trigger_rules: expect.toSatisfy((value) => value === null || Array.isArray(value)),
        export_targets: expect.toSatisfy((value) => value === null || Array.isArray(value)),
        created_by: expect.toSatisfy((value) => value === null || Number.isInteger(value)),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        segment: segment_id === null ? null : expect.objectContaining({ id: segment_id }),
      });
    }
  });

  it('has active journeys and others', async () => {
    const words = new Set(
      [...journeysOf(await ask()), ...journeysOf(await ask('?page=2'))].map(({ status }) => status),
    );
    expect(words).toContain('active');
    expect(words.size).toBeGreaterThan(2);
  });

  it('pages without losing one, and is empty behind the end', async () => {
    const pages = await Promise.all([1, 2, 3].map(async (page) => journeysOf(await ask(`?page=${page}`))));
    expect(pages.map((page) => page.length)).toEqual([15, 8, 0]);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(23);
    expect(journeysOf(await ask('?page=x'))).toEqual(pages[0]);
  });

  it('may repeat its last page for ever instead', async () => {
    const endless = await startTestSandbox({
      kinds: [customerJourneysSandbox({ count: 7, pageSize: 5, pastEnd: 'repeat' })],
    });
    const pages = await Promise.all(
      [2, 3, 99].map(async (page) => journeysOf(await ask(`?page=${page}`, { from: endless }))),
    );
    await endless.stop();
    expect(pages[0]).toHaveLength(2);
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[2]).toEqual(pages[0]);
  });

  it('moves journeys to the top as they are updated', async () => {
    const before = journeysOf(await ask()).map(({ id }) => id);
    sandbox.pass(12 * HOUR_MS);
    expect(journeysOf(await ask()).map(({ id }) => id)).not.toEqual(before);
  });

  it('wants a token, GET, and a client that reads JSON', async () => {
    const answers = [
      await ask('', { headers: { authorization: '' } }),
      await ask('', { headers: { authorization: 'Bearer wrong' } }),
      await ask('', { method: 'POST' }),
      await ask('', { headers: { accept: 'text/html' } }),
      await ask('/1'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 405, 406, 404]);
  });
});
